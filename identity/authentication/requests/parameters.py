"""Parameters of a request to the authorization endpoint: RFC 6749 §3.1.

A parameter without a value counts as absent. Only `resource` (RFC 8707 §2) may be repeated.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_REPEATABLE = frozenset({"resource"})


@dataclass(frozen=True, slots=True)
class Parameters:
    """`pushed_id` is the id of the pushed request that has them, empty for parameters from elsewhere."""

    pairs: tuple[tuple[str, str], ...]
    pushed_id: str = ""

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> "Parameters":
        return cls(tuple((name, value) for name, value in pairs if value))

    @property
    def are_malformed(self) -> bool:
        """Whether a parameter is repeated that may not be, or holds characters that cannot be stored."""
        counts = Counter(name for name, _ in self.pairs)
        is_ambiguous = any(count > 1 and name not in _REPEATABLE for name, count in counts.items())
        return is_ambiguous or any("\0" in value for _, value in self.pairs)

    def one(self, name: str) -> str:
        """Return the value, empty when the parameter is absent or repeated."""
        values = self.all(name)
        return values[0] if len(values) == 1 else ""

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(value for other, value in self.pairs if other == name)

    def with_one(self, name: str, value: str) -> "Parameters":
        return Parameters((*((other, kept) for other, kept in self.pairs if other != name), (name, value)))
