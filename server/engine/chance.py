"""Deterministic pseudo-random bits, derived from a seed, so that the engine stays a pure function.

Different seeds give different bits. The bits are no secret: the keys and times that seed them are known to
others.
"""

from hashlib import shake_128

_BITS_OF_BYTE = 8


def bits(count: int, *seed: object) -> int:
    """`count` pseudo-random bits, the same for the same seed."""
    length = -(-count // _BITS_OF_BYTE)
    digest = shake_128("\0".join(map(str, seed)).encode()).digest(length)
    return int.from_bytes(digest) >> (length * _BITS_OF_BYTE - count)
