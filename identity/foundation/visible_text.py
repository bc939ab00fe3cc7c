"""Texts that pages show to users, of clients and of administrators."""

import unicodedata

# General categories of characters without a meaning for readers, and of further invisible ones.
_CONTROL = frozenset({"Cc", "Co", "Cs", "Cn"})
_UNSEEN = _CONTROL | {"Cf", "Zl", "Zp"}
# Bidirectional classes that change the order of text; isolates do so inside their paragraph only.
_EMBEDDING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF"})
_TURNING = _EMBEDDING | {"LRI", "RLI", "FSI", "PDI"}
_LAYOUT = frozenset("\n\t")


def is_visible(text: str) -> bool:
    """Whether all characters of a short text are visible, and none of them changes the order of the others."""
    return not any(_has(letter, _UNSEEN, _TURNING) for letter in text)


def is_readable(text: str) -> bool:
    """Whether a long text has no control characters but line feeds and tabs; writing systems need some invisible ones."""
    return not any(_has(letter, _CONTROL, _EMBEDDING) for letter in text if letter not in _LAYOUT)


def _has(letter: str, categories: frozenset[str], directions: frozenset[str]) -> bool:
    return unicodedata.category(letter) in categories or unicodedata.bidirectional(letter) in directions
