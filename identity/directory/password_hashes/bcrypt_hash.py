"""bcrypt, as OpenBSD and PHP write it."""

import re
from dataclasses import dataclass, field
from typing import Self

import bcrypt

from identity.directory.password_hashes.parts import refused

# `2x` marks hashes of a program with a bug; such a hash also matches other passwords.
_TEXT = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_LEAST_COST, _MOST_COST = 4, 13
_MILLISECONDS_PER_ROUND = 0.058
_PARAMETERS = len("$2b$10$")
_OTHERS = 53

# bcrypt reads only this many octets of a password. The library refuses longer ones, other programs truncate them.
_MOST_OCTETS = 72


@dataclass(frozen=True, slots=True)
class Bcrypt:
    text: str = field(repr=False)

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises InvalidArgument."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise refused("expected bcrypt of the version 2a, 2b or 2y")
        if not _LEAST_COST <= int(found[1]) <= _MOST_COST:
            raise refused(f"expected bcrypt of a cost from {_LEAST_COST} to {_MOST_COST}")
        return cls(text)

    @property
    def cost(self) -> float:
        return (1 << int(self.text[4:6])) * _MILLISECONDS_PER_ROUND

    @property
    def decoy(self) -> str:
        return f"{self.text[:_PARAMETERS]}{'.' * _OTHERS}"

    def matches(self, password: str) -> bool:
        return bcrypt.checkpw(password.encode()[:_MOST_OCTETS], self.text.encode())
