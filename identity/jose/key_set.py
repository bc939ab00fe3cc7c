"""The keys of one provider."""

from collections.abc import Collection
from dataclasses import dataclass

from identity.jose.algorithms import SigningAlgorithm
from identity.jose.signing_key import SigningKey
from identity.jose.verification_key import VerificationKey
from server.platform.errors import Unavailable


@dataclass(frozen=True, slots=True)
class KeySet:
    """In the order of publication; of several keys of an algorithm the first one that can signs."""

    keys: tuple[VerificationKey, ...]

    def find(self, kid: str) -> VerificationKey | None:
        return next((key for key in self.keys if key.kid == kid), None)

    def lacks(self, algorithms: Collection[str] = ()) -> bool:
        """Whether one of ours among the algorithms has no key; without a name, whether any of ours has none."""
        there = {key.algorithm for key in self.keys}
        return any(known not in there for known in SigningAlgorithm if not algorithms or known in algorithms)

    def signing_key(self, algorithm: SigningAlgorithm) -> SigningKey:
        """Raises Unavailable in the first seconds of a provider's life, while that key is being made."""
        for key in self.keys:
            if key.algorithm is algorithm and isinstance(key, SigningKey):
                return key
        raise Unavailable.untouched("the signing key is being made")
