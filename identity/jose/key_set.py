"""The keys of one provider."""

from collections.abc import Callable
from dataclasses import dataclass

from identity.jose.algorithms import KEY_KINDS, SigningAlgorithm
from identity.jose.signing_key import SigningKey


@dataclass(frozen=True, slots=True)
class KeySet:
    """In the order of publication; of several keys of an algorithm the first one signs."""

    keys: tuple[SigningKey, ...]

    def find(self, kid: str) -> SigningKey | None:
        return next((key for key in self.keys if key.kid == kid), None)

    def signing_key(self, algorithm: SigningAlgorithm) -> SigningKey:
        return next(filter(lambda key: key.algorithm is algorithm, self.keys))


def generate_key_set(new_kid: Callable[[], str]) -> KeySet:
    """One key per algorithm; blocks as long as that takes."""
    return KeySet(tuple(SigningKey(new_kid(), kind.algorithm, kind.generate()) for kind in KEY_KINDS))
