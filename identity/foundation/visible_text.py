"""Short texts of clients that pages show to users."""

import unicodedata

# General categories of invisible characters, and bidirectional classes that change the order of text.
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def is_visible(text: str) -> bool:
    """Whether all characters are visible, and none of them changes the order of the others."""
    kinds = ((unicodedata.category(letter), unicodedata.bidirectional(letter)) for letter in text)
    return not any(category in _UNSEEN or direction in _TURNING for category, direction in kinds)
