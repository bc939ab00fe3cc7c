"""A private key that signs tokens."""

from dataclasses import dataclass, field
from typing import Self

from joserfc import jws
from joserfc.jwk import Key

from identity.crypto.jose.algorithms import KIND_OF, PrivateKey, SigningAlgorithm
from identity.crypto.jose.signatures import SIGNATURES
from identity.crypto.jose.verification_key import PublicJwk, VerificationKey

__all__ = ["PublicJwk", "SigningKey"]


@dataclass(frozen=True, slots=True)
class SigningKey(VerificationKey):
    private_key: Key = field(repr=False)

    @classmethod
    def of(cls, kid: str, algorithm: SigningAlgorithm, private_key: PrivateKey) -> Self:
        jwk, public_key = KIND_OF[algorithm].jwk, private_key.public_key()
        return cls(kid, algorithm, jwk(public_key, public_key), jwk(private_key, private_key))  # type: ignore[arg-type]  # an algorithm's kind has its type

    def sign(self, payload: bytes, *, typ: str = "JWT") -> str:
        """Sign in compact serialization: RFC 7515 §7.1."""
        header = {"alg": self.algorithm.value, "kid": self.kid, "typ": typ}
        return jws.serialize_compact(header, payload, self.private_key, registry=SIGNATURES)
