"""Text format of challenges and solutions: version 1 of the format of spow 0.6 clients.

`1:<difficulty>:<expiry>:<salt>:<signature>:` is a challenge. A solution appends a decimal counter, so that the SHA-256
of the whole text begins with as many zero bits as the difficulty.
"""

import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass

SALT_LENGTH = 12

_VERSION = "1"
_SOLUTION = re.compile(
    r"(1:(?P<difficulty>[1-9][0-9]):(?P<expiry>[0-9]{10}):(?P<salt>[A-Za-z0-9+/]{16}):(?P<signature>[A-Za-z0-9+/]{43}):)"
    r"[0-9]{1,20}"
)
_HASH_BITS = 256


@dataclass(frozen=True, slots=True)
class Challenge:
    """`expiry` is in Unix seconds; `signature` is a MAC of all other fields under the provider's secret."""

    difficulty: int
    expiry: int
    salt: str
    signature: str

    def __str__(self) -> str:
        return f"{_VERSION}:{self.difficulty}:{self.expiry:010}:{self.salt}:{self.signature}:"


@dataclass(frozen=True, slots=True)
class Solution:
    challenge: Challenge
    text: str

    @property
    def leading_zero_bits(self) -> int:
        digest = hashlib.sha256(self.text.encode()).digest()
        return _HASH_BITS - int.from_bytes(digest).bit_length()


def signature_of(difficulty: int, expiry: int, salt: str, *, secret: str) -> str:
    digest = hashlib.sha256(f"{_VERSION}{difficulty}{expiry:010}{salt}{secret}".encode()).digest()
    return unpadded(digest)


def unpadded(octets: bytes) -> str:
    return b64encode(octets).decode().rstrip("=")


def parse(text: str) -> Solution | None:
    """Parse a solution, which is not verified yet; None when it is malformed."""
    match = _SOLUTION.fullmatch(text)
    if match is None:
        return None
    challenge = Challenge(int(match["difficulty"]), int(match["expiry"]), match["salt"], match["signature"])
    return Solution(challenge, text)
