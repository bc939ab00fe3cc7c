"""A private key that signs tokens, and the public half that the world sees."""

from dataclasses import dataclass, field

import msgspec
from joserfc import jws
from joserfc.jwk import Key

from identity.jose.algorithms import SigningAlgorithm


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicJwk:
    """RFC 7517 §4; only public members exist here, so no private one can slip out."""

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
class SigningKey:
    kid: str
    algorithm: SigningAlgorithm
    private_key: Key = field(repr=False)

    @property
    def public_jwk(self) -> PublicJwk:
        members = self.private_key.as_dict(private=False, kid=self.kid, use="sig", alg=self.algorithm.value)
        return msgspec.convert(members, PublicJwk)

    def sign(self, payload: bytes, *, typ: str = "JWT") -> str:
        """Sign in compact serialization: RFC 7515 §7.1."""
        header = {"alg": self.algorithm.value, "kid": self.kid, "typ": typ}
        return jws.serialize_compact(header, payload, self.private_key, algorithms=[self.algorithm.value])
