"""Solves challenges of `POST /pow` by trying numbers."""

import hashlib
from itertools import count


def solved(challenge: str) -> str:
    """The challenge followed by the first number that gives its hash as many zero bits as it asks for."""
    bits = int(challenge.split(":")[1])
    for number in count():
        solution = f"{challenge}{number}"
        digest = hashlib.sha256(solution.encode()).digest()
        if int.from_bytes(digest) >> (256 - bits) == 0:
            return solution
    raise AssertionError("numbers do not end")
