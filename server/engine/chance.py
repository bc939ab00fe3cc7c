"""Chance that is none: bits that follow from what they are drawn for, so that the engine stays a function.

Never the same for two seeds, and no secret: who knows keys and times can tell them.
"""

from hashlib import shake_128

_BITS_OF_BYTE = 8


def bits(count: int, *seed: object) -> int:
    """This many random bits, the same for the same texts."""
    length = -(-count // _BITS_OF_BYTE)
    digest = shake_128("\0".join(map(str, seed)).encode()).digest(length)
    return int.from_bytes(digest) >> (length * _BITS_OF_BYTE - count)
