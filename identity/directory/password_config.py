"""Cost of password hashes."""

from dataclasses import dataclass

# RFC 9106 §3.1.
_KIB_PER_LANE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordConfig:
    """[passwords]: cost of argon2id, and the number of hashes computed at a time."""

    memory_kib: int = 65_536
    iterations: int = 3
    lanes: int = 4
    workers: int = 2

    def __post_init__(self) -> None:
        if min(self.iterations, self.lanes, self.workers) < 1:
            raise ValueError("passwords: expected iterations, lanes and workers to be at least 1")
        if self.memory_kib < _KIB_PER_LANE * self.lanes:
            raise ValueError(f"passwords.memory_kib: expected 8 for each of {self.lanes} lanes at least")
