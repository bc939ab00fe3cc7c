"""Names that FEEL does not recognize as plain words, such as `first name` and `a-b` (DMN 1.5 §10.3.1.4)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from server.dmn.errors import DmnModelError, Problem, ProblemKind

MAX_NAMES: Final = 2_000
"""Most special names that an expression may see."""

_PLAIN_WORD = re.compile(r"[^\W\d]\w*")
_NONE: Final[frozenset[str]] = frozenset()
_FIRST_WORD = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class Names:
    """The special names in scope at a place; `words` maps each to its first word."""

    words: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Iterable[str]) -> "Names":
        """Collect the names that are not plain words; raises `DmnModelError` for too many."""
        return cls(_bounded({name: _first_word(name) for name in names if name and not _is_plain(name)}))

    def and_also(self, names: Iterable[str]) -> "Names":
        more = Names.of(names).words
        return self if more.keys() <= self.words.keys() else Names(_bounded(self.words | more))

    def within(self, text: str) -> frozenset[str]:
        """Return the names that can occur in a text; the set is small, so equal texts are compiled only once."""
        return frozenset([name for name, word in self.words.items() if word in text]) if self.words else _NONE


def _bounded(words: dict[str, str]) -> dict[str, str]:
    if len(words) > MAX_NAMES:
        message = f"expected at most {MAX_NAMES} names that are no plain words, found {len(words)}"
        raise DmnModelError(Problem(ProblemKind.TOO_LARGE, "", 0, message))
    return words


def _is_plain(name: str) -> bool:
    return _PLAIN_WORD.fullmatch(name) is not None


def _first_word(name: str) -> str:
    match = _FIRST_WORD.match(name)
    return match[0] if match else ""
