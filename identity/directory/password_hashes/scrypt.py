"""scrypt: RFC 7914."""

import hashlib
import hmac
import re
from dataclasses import dataclass, field, replace
from typing import Self

from identity.directory.password_hashes.parts import encoded, expect_sizes, number, octets, refused

_PHC = re.compile(r"\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,4}),p=([0-9]{1,4})\$([^$]+)\$([^$]+)")
_DJANGO = re.compile(r"scrypt\$([0-9]{1,10})\$([^$]+)\$([0-9]{1,4})\$([0-9]{1,4})\$([^$]+)")

# 128 octets of memory for each: 64 MiB.
_MOST_BLOCKS = 1 << 19
_MOST_WORK = 1 << 20
_OCTETS_PER_BLOCK = 128
_MILLISECONDS_PER_BLOCK = 0.00031
_MEMORY = 2 * _OCTETS_PER_BLOCK * _MOST_BLOCKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrypt:
    log_n: int
    r: int
    p: int
    salt: bytes = field(repr=False)
    checksum: bytes = field(repr=False)

    def __post_init__(self) -> None:
        expect_sizes(self.salt, self.checksum)
        blocks = (1 << self.log_n) * self.r
        if not (
            self.log_n and self.r and self.p and blocks <= _MOST_BLOCKS and blocks * self.p <= _MOST_WORK
        ):
            raise refused("expected scrypt with at most 64 MiB, and N·r·p of at most 1048576")

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `$scrypt$ln=,r=,p=$salt$checksum`; raises InvalidArgument."""
        found = _PHC.fullmatch(text)
        if found is None:
            raise refused("expected $scrypt$ln=,r=,p=$salt$checksum")
        log_n, r, p = map(number, found.groups()[:3])
        return cls(log_n=log_n, r=r, p=p, salt=octets(found[4]), checksum=octets(found[5]))

    @classmethod
    def read_django(cls, text: str) -> Self:
        """Read `scrypt$N$salt$r$p$checksum`, whose salt is a text; raises InvalidArgument."""
        found = _DJANGO.fullmatch(text)
        if found is None:
            raise refused("expected scrypt$N$salt$r$p$checksum")
        n, r, p = number(found[1]), number(found[3]), number(found[4])
        log_n = n.bit_length() - 1
        if n != 1 << max(log_n, 0):
            raise refused("expected a power of two as N of scrypt")
        return cls(log_n=log_n, r=r, p=p, salt=found[2].encode(), checksum=octets(found[5]))

    @property
    def text(self) -> str:
        return f"$scrypt$ln={self.log_n},r={self.r},p={self.p}${encoded(self.salt)}${encoded(self.checksum)}"

    @property
    def cost(self) -> float:
        return (1 << self.log_n) * self.r * self.p * _MILLISECONDS_PER_BLOCK

    @property
    def decoy(self) -> str:
        return replace(self, salt=bytes(len(self.salt)), checksum=bytes(len(self.checksum))).text

    def matches(self, password: str) -> bool:
        found = hashlib.scrypt(
            password.encode(),
            salt=self.salt,
            n=1 << self.log_n,
            r=self.r,
            p=self.p,
            maxmem=_MEMORY,
            dklen=len(self.checksum),
        )
        return hmac.compare_digest(found, self.checksum)
