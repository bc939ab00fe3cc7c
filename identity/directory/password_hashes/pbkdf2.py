"""PBKDF2: RFC 8018 §5.2."""

import hashlib
import hmac
from dataclasses import dataclass, field, replace
from typing import Self

from identity.directory.password_hashes.parts import encoded, expect_sizes, number, octets, refused

_MOST_ITERATIONS = {"sha1": 1_500_000, "sha256": 1_500_000, "sha512": 1_000_000}
_MILLISECONDS_PER_ITERATION = {"sha1": 0.00023, "sha256": 0.00024, "sha512": 0.00055}

# Names in texts of other systems. For SHA-1, passlib and Keycloak use no suffix.
_DIGESTS = {
    "pbkdf2": "sha1",
    "pbkdf2-sha1": "sha1",
    "pbkdf2-sha256": "sha256",
    "pbkdf2-sha512": "sha512",
    "pbkdf2_sha1": "sha1",
    "pbkdf2_sha256": "sha256",
    "pbkdf2_sha512": "sha512",
}
NAMES = frozenset(_DIGESTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pbkdf2:
    """The checksum is only the first block: further blocks cost as much again and prove nothing more."""

    digest: str
    iterations: int
    salt: bytes = field(repr=False)
    checksum: bytes = field(repr=False)

    @classmethod
    def of(cls, name: str, *, iterations: int, salt: bytes, checksum: bytes) -> Self:
        """Raises InvalidArgument."""
        digest = _DIGESTS[name]
        expect_sizes(salt, checksum)
        most = _MOST_ITERATIONS[digest]
        if not 1 <= iterations <= most:
            raise refused(f"expected 1 to {most} iterations of {digest}, found {iterations}")
        block = checksum[: hashlib.new(digest).digest_size]
        return cls(digest=digest, iterations=iterations, salt=salt, checksum=block)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `$name$i=iterations$salt$checksum`, or passlib's form of it; raises InvalidArgument."""
        name, iterations, salt, checksum = _four(text[1:])
        return cls.of(
            name,
            iterations=number(iterations.removeprefix("i=")),
            salt=octets(salt),
            checksum=octets(checksum),
        )

    @classmethod
    def read_django(cls, text: str) -> Self:
        """Read `name$iterations$salt$checksum`, where the salt is a text; raises InvalidArgument."""
        name, iterations, salt, checksum = _four(text)
        return cls.of(name, iterations=number(iterations), salt=salt.encode(), checksum=octets(checksum))

    @property
    def text(self) -> str:
        return f"$pbkdf2-{self.digest}$i={self.iterations}${encoded(self.salt)}${encoded(self.checksum)}"

    @property
    def cost(self) -> float:
        return self.iterations * _MILLISECONDS_PER_ITERATION[self.digest]

    @property
    def decoy(self) -> str:
        return replace(self, salt=bytes(len(self.salt)), checksum=bytes(len(self.checksum))).text

    def matches(self, password: str) -> bool:
        found = hashlib.pbkdf2_hmac(
            self.digest, password.encode(), self.salt, self.iterations, len(self.checksum)
        )
        return hmac.compare_digest(found, self.checksum)


def work(milliseconds: float) -> None:
    """Compute for about this time, on the machine of the costs."""
    iterations = int(milliseconds / _MILLISECONDS_PER_ITERATION["sha256"])
    if iterations > 0:
        hashlib.pbkdf2_hmac("sha256", b"", b"", iterations)


def _four(text: str) -> tuple[str, str, str, str]:
    match text.split("$"):
        case [name, iterations, salt, checksum]:
            return name, iterations, salt, checksum
        case _:
            raise refused("expected name, iterations, salt and checksum")
