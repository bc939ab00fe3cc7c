"""Names that are not plain words: `first name`, `a-b`. The longest matching name is read (DMN 1.5 §10.3.1.2)."""

from collections.abc import Iterable
from functools import lru_cache

from server.feel.cursor import Cursor
from server.feel.lexer import TokenKind, tokenize

_CACHED_VOCABULARIES = 256
_MAX_WORDS = 64


class _Place:
    """A node of the trie of words: the name that ends here, and the possible next words."""

    __slots__ = ("following", "name")

    def __init__(self) -> None:
        self.name: str | None = None
        self.following: dict[str, _Place] = {}


class Vocabulary:
    """A trie of names by word, so that a lookup depends only on the name's own words."""

    def __init__(self, names: Iterable[str] = (), beside: "Vocabulary | None" = None) -> None:
        self._root = _Place()
        self._beside = beside
        for name in names:
            self.declare(name)

    def declare(self, name: str) -> None:
        """Add a name; plain words and names of very many words are ignored."""
        words = [token.text for token in tokenize(name)[:-1]]
        if not 1 < len(words) <= _MAX_WORDS:
            return
        place = self._root
        for word in words:
            place = place.following.setdefault(word, _Place())
        place.name = place.name or name

    def find(self, cursor: Cursor) -> tuple[int, str]:
        """Return the number of words of the name that begins here, and the name; 0 words if there is none."""
        if not self._root.following and self._beside is None:
            return 0, ""
        length, name = self._beside.find(cursor) if self._beside else (0, "")
        place, distance = self._root, 0
        while (token := cursor.ahead(distance)).kind not in _NO_WORDS:
            following = place.following.get(token.text)
            if following is None:
                break
            place, distance = following, distance + 1
            if place.name is not None and distance > length:
                length, name = distance, place.name
        return length, name


_NO_WORDS = frozenset({TokenKind.STRING, TokenKind.QUOTED_NAME, TokenKind.END})


@lru_cache(_CACHED_VOCABULARIES)
def vocabulary_of(names: frozenset[str]) -> Vocabulary:
    """Return a vocabulary; it is shared, so nothing may be declared in it."""
    return Vocabulary(names)
