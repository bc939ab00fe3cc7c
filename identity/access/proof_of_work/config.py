"""The section of the configuration file about proof of work."""

from dataclasses import dataclass
from datetime import timedelta

_DIFFICULTY = range(10, 99)
_LIFETIME_SECS = range(5, 301)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOfWorkConfig:
    """[pow]: leading zero bits of a solution's hash, and the lifetime of a challenge."""

    difficulty: int = 19
    lifetime_secs: int = 30

    def __post_init__(self) -> None:
        if self.difficulty not in _DIFFICULTY:
            raise ValueError(f"pow.difficulty: expected 10 to 98, found {self.difficulty}")
        if self.lifetime_secs not in _LIFETIME_SECS:
            raise ValueError(f"pow.lifetime_secs: expected 5 to 300, found {self.lifetime_secs}")

    @property
    def lifetime(self) -> timedelta:
        return timedelta(seconds=self.lifetime_secs)
