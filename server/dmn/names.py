"""Names that FEEL cannot recognize as plain words, such as names with spaces: `first name`, `a-b` (DMN 1.5 §10.3.1.4)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from server.dmn.errors import DmnModelError, Problem, ProblemKind

MAX_NAMES: Final = 2_000
"""Such names that an expression may see."""

_PLAIN_WORD = re.compile(r"[^\W\d]\w*")
_NONE: Final[frozenset[str]] = frozenset()
_FIRST_WORD = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class Names:
    """The names in scope at one place; `words` are the names with the first word of each."""

    words: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Iterable[str]) -> "Names":
        """Tell the special ones from plain words; too many of them raise `DmnModelError`."""
        return cls(_bounded({name: _first_word(name) for name in names if name and not _is_plain(name)}))

    def and_also(self, names: Iterable[str]) -> "Names":
        more = Names.of(names).words
        return self if more.keys() <= self.words.keys() else Names(_bounded(self.words | more))

    def within(self, text: str) -> frozenset[str]:
        """Those that may stand in a text: few, so that equal texts are compiled once."""
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
