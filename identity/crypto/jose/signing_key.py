"""A private key that signs tokens."""

from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

import msgspec
from joserfc.jwk import Key

from identity.crypto.jose.algorithms import KIND_OF, PrivateKey, SigningAlgorithm
from identity.crypto.jose.signatures import SIGNATURES
from identity.crypto.jose.verification_key import PublicJwk, VerificationKey

__all__ = ["PublicJwk", "SigningKey"]

_MOST_HEADERS = 1024


@dataclass(frozen=True, slots=True)
class SigningKey(VerificationKey):
    private_key: Key = field(repr=False)

    @classmethod
    def of(cls, kid: str, algorithm: SigningAlgorithm, private_key: PrivateKey) -> Self:
        jwk, public_key = KIND_OF[algorithm].jwk, private_key.public_key()
        return cls(kid, algorithm, jwk(public_key, public_key), jwk(private_key, private_key))  # type: ignore[arg-type]  # an algorithm's kind has its type

    def sign(self, payload: bytes, *, typ: str = "JWT") -> str:
        """Sign in compact serialization: RFC 7515 §7.1."""
        signed = b"%b.%b" % (_header(self.algorithm, self.kid, typ), _encoded(payload))
        signature = SIGNATURES.get_alg(self.algorithm.value).sign(signed, self.private_key)
        return (b"%b.%b" % (signed, _encoded(signature))).decode("ascii")


@lru_cache(maxsize=_MOST_HEADERS)
def _header(algorithm: SigningAlgorithm, kid: str, typ: str) -> bytes:
    return _encoded(msgspec.json.encode({"alg": algorithm.value, "kid": kid, "typ": typ}))


def _encoded(octets: bytes) -> bytes:
    """Encode in base64url without padding: RFC 7515 §2."""
    return urlsafe_b64encode(octets).rstrip(b"=")
