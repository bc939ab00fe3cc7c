"""Text that people read, which must not turn around or hide what stands beside it."""

import unicodedata

_SPACES = frozenset("\t\n\r")

# Unicode Standard Annex #9 §2: embeddings, overrides and isolates; marks, which stand for themselves, are no danger.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def is_plain(text: str) -> bool:
    """Whether it holds neither control characters nor what turns the direction of text around."""
    return all(
        character in _SPACES or (unicodedata.category(character) != "Cc" and character not in _TURNING)
        for character in text
    )
