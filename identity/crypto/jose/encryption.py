"""Encryption to other parties: JWE in compact serialization, RFC 7516 §7.1, with the algorithms of RFC 7518 and RFC 8037.

The provider only encrypts. It decrypts nothing, so it has no encryption keys of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from joserfc import jwe
from joserfc.jwk import Key


class KeyManagement(StrEnum):
    """RFC 7518 §4.1: key encryption and key agreement with a public key, without RSA1_5 and RSA-OAEP with SHA-1."""

    RSA_OAEP_256 = "RSA-OAEP-256"
    ECDH_ES = "ECDH-ES"
    ECDH_ES_A128KW = "ECDH-ES+A128KW"
    ECDH_ES_A256KW = "ECDH-ES+A256KW"

    @property
    def key_types(self) -> frozenset[str]:
        return frozenset({"RSA"}) if self is KeyManagement.RSA_OAEP_256 else frozenset({"EC", "OKP"})


class ContentEncryption(StrEnum):
    """RFC 7518 §5.1."""

    A128CBC_HS256 = "A128CBC-HS256"
    A256CBC_HS512 = "A256CBC-HS512"
    A128GCM = "A128GCM"
    A256GCM = "A256GCM"


_REGISTRY = jwe.JWERegistry(algorithms=[*KeyManagement, *ContentEncryption])


@dataclass(frozen=True, slots=True, kw_only=True)
class Encryption:
    """Encrypts documents with one public key."""

    alg: KeyManagement
    enc: ContentEncryption
    key: Key = field(repr=False)

    def of_jwt(self, token: str) -> str:
        """Return a nested JWT: RFC 7519 §5.2."""
        return self._encrypted(token.encode(), cty="JWT")

    def of_claims(self, claims: bytes) -> str:
        """Return claims that are encrypted and not signed."""
        return self._encrypted(claims)

    def _encrypted(self, plaintext: bytes, **more: str) -> str:
        kid = {"kid": self.key.kid} if self.key.kid else {}
        header = {"alg": self.alg.value, "enc": self.enc.value, "typ": "JWT", **kid, **more}
        return jwe.encrypt_compact(header, plaintext, self.key, registry=_REGISTRY)


def keys_for(keys: Sequence[Key], alg: KeyManagement) -> Sequence[Key]:
    """Return the fitting keys; keys for encryption come before keys without a stated purpose."""
    fitting = (key for key in keys if key.key_type in alg.key_types and _is_for(key, alg))
    return sorted(fitting, key=lambda key: key.get("use") is None)


def _is_for(key: Key, alg: KeyManagement) -> bool:
    # RFC 7517 §4.2, §4.4. A curve for signatures cannot agree on a key.
    return key.get("use") in {None, "enc"} and key.get("alg") in {None, alg} and key.get("crv") != "Ed25519"
