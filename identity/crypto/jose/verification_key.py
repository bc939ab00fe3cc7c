"""The public half of a signing key, as published."""

from dataclasses import dataclass, field

import msgspec
from joserfc import jws
from joserfc.jwk import Key

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.jose.signatures import SignatureRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicJwk:
    """RFC 7517 §4; the class has public members only, so a private one cannot leak."""

    kty: str
    kid: str
    use: str
    alg: str
    n: str | None = None
    e: str | None = None
    crv: str | None = None
    x: str | None = None
    y: str | None = None


@dataclass(frozen=True, slots=True)
class VerificationKey:
    kid: str
    algorithm: SigningAlgorithm
    public_key: Key = field(repr=False)

    @property
    def public_jwk(self) -> PublicJwk:
        members = self.public_key.as_dict(private=False, kid=self.kid, use="sig", alg=self.algorithm.value)
        return msgspec.convert(members, PublicJwk)

    def payload(self, token: str) -> bytes:
        """Return the payload of a compact serialization signed by this key; raises joserfc's JoseError."""
        registry = SignatureRegistry((self.algorithm,))
        return jws.deserialize_compact(token, self.public_key, registry=registry).payload
