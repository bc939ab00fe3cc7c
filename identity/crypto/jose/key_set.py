"""The keys of one provider."""

from collections.abc import Collection
from dataclasses import dataclass

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.jose.signing_key import SigningKey
from identity.crypto.jose.verification_key import VerificationKey
from server.platform.errors import Unavailable


@dataclass(frozen=True, slots=True)
class KeySet:
    """Keys in the order of publication; the first one of an algorithm with a private half signs."""

    keys: tuple[VerificationKey, ...]

    def find(self, kid: str) -> VerificationKey | None:
        return next((key for key in self.keys if key.kid == kid), None)

    def lacks(self, algorithms: Collection[str] = ()) -> bool:
        """Whether a supported one of the algorithms has no key; without names, whether any supported one lacks it."""
        there = {key.algorithm for key in self.keys}
        return any(known not in there for known in SigningAlgorithm if not algorithms or known in algorithms)

    def signing_key(self, algorithm: SigningAlgorithm) -> SigningKey:
        """Raises Unavailable in the first seconds of a new provider, while that key is being made."""
        for key in self.keys:
            if key.algorithm is algorithm and isinstance(key, SigningKey):
                return key
        raise Unavailable.untouched("the signing key is being made")
