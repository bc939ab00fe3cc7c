"""argon2i and argon2id with the parameters of another system: RFC 9106."""

import re
from dataclasses import dataclass, field
from typing import Self

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import VerifyMismatchError

from identity.directory.password_hashes.parts import encoded, expect_sizes, number, octets, refused

_TEXT = re.compile(
    r"\$argon2(i|id)\$v=(16|19)\$m=([1-9][0-9]{0,9}),t=([1-9][0-9]{0,9}),p=([1-9][0-9]{0,9})\$([^$]+)\$([^$]+)"
)
_MOST_MEMORY_KIB = 131_072
_MOST_WORK_KIB = 393_216
_MOST_LANES = 16
# RFC 9106 §3.1.
_KIB_PER_LANE = 8
_LEAST_SALT = 8
_MILLISECONDS_PER_KIB = 0.00085
_CHECKSUM = 32


@dataclass(frozen=True, slots=True)
class Argon2:
    text: str = field(repr=False)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `$argon2id$v=,m=,t=,p=$salt$checksum`; raises InvalidArgument."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise refused("expected $argon2id$v=19$m=,t=,p=$salt$checksum, or argon2i or the version 16")
        memory, iterations, lanes = map(number, found.groups()[2:5])
        salt, checksum = octets(found[6]), octets(found[7])
        expect_sizes(salt, checksum)
        is_bounded = (
            lanes <= _MOST_LANES
            and _KIB_PER_LANE * lanes <= memory <= _MOST_MEMORY_KIB
            and iterations * memory <= _MOST_WORK_KIB
            and len(salt) >= _LEAST_SALT
        )
        if not is_bounded:
            raise refused(
                f"expected argon2 with at most {_MOST_MEMORY_KIB} KiB, {_MOST_WORK_KIB} KiB in all iterations and"
                f" {_MOST_LANES} lanes, and a salt of 8 octets at least"
            )
        place = f"$argon2{found[1]}$v={found[2]}$m={memory},t={iterations},p={lanes}"
        return cls(f"{place}${encoded(salt)}${encoded(checksum)}")

    @property
    def cost(self) -> float:
        parameters = extract_parameters(self.text)
        return parameters.memory_cost * parameters.time_cost * _MILLISECONDS_PER_KIB

    @property
    def decoy(self) -> str:
        place, _, _ = self.text.rsplit("$", 2)
        return f"{place}${encoded(bytes(_LEAST_SALT))}${encoded(bytes(_CHECKSUM))}"

    def matches(self, password: str) -> bool:
        try:
            return PasswordHasher().verify(self.text, password)
        except VerifyMismatchError:
            return False
