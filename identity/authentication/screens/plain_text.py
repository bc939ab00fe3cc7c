"""Validation of displayed text, which must not reorder or hide text beside it."""

import unicodedata

_SPACES = frozenset("\t\n\r")

# Unicode Standard Annex #9 §2: embeddings, overrides and isolates. Marks are harmless and allowed.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def is_plain(text: str) -> bool:
    """Whether the text contains neither control characters nor characters that change the direction of text."""
    return all(
        character in _SPACES or (unicodedata.category(character) != "Cc" and character not in _TURNING)
        for character in text
    )
