"""A password hash of another system: read, bounded in its cost, and verified.

The cost is checked when a hash is imported, because sign-ins of all tenants share a few threads.
"""

from typing import Protocol

from identity.directory.password_hashes.argon2_hash import Argon2
from identity.directory.password_hashes.bcrypt_hash import Bcrypt
from identity.directory.password_hashes.parts import refused
from identity.directory.password_hashes.pbkdf2 import NAMES, Pbkdf2
from identity.directory.password_hashes.scrypt import Scrypt
from server.platform.errors import InvalidArgument

# Longer than any of the accepted ones.
_MOST_CHARACTERS = 1024


class ForeignHash(Protocol):
    """`text` is its stored form, which `read` accepts.

    `cost` is about the duration of a verification in milliseconds, on one machine. `decoy` is a stored form with the
    same parameters, of no password.
    """

    @property
    def text(self) -> str: ...

    @property
    def cost(self) -> float: ...

    @property
    def decoy(self) -> str: ...

    def matches(self, password: str) -> bool:
        """Whether the hash is of this password; slow."""
        ...


def read(text: str) -> ForeignHash:
    """Read a hash in PHC form, in modular crypt form or in that of Django; raises InvalidArgument."""
    if len(text) > _MOST_CHARACTERS:
        raise refused(f"expected at most {_MOST_CHARACTERS} characters")
    # Django's names of hashes that have the form of other programs.
    for name in ("bcrypt$$", "argon2$argon2"):
        if text.startswith(name):
            text = text[text.index("$") :].replace("$$", "$", 1)
    name = text.removeprefix("$").partition("$")[0]
    is_django = not text.startswith("$")
    match name:
        case "2a" | "2b" | "2y" if not is_django:
            return Bcrypt.read(text)
        case "argon2i" | "argon2id" if not is_django:
            return Argon2.read(text)
        case "scrypt":
            return Scrypt.read_django(text) if is_django else Scrypt.read(text)
        case _ if name in NAMES:
            return Pbkdf2.read_django(text) if is_django else Pbkdf2.read(text)
        case _:
            raise refused(
                "expected bcrypt, argon2i, argon2id, scrypt or PBKDF2 with SHA-1, SHA-256 or SHA-512"
            )


def cost_of(text: str) -> float:
    """Return the cost of a stored hash; 0 without one, and for one of ours that costs more than imports may."""
    try:
        return read(text).cost if text else 0
    except InvalidArgument:
        return 0


def decoy_of(text: str) -> str:
    """Raises InvalidArgument."""
    return read(text).decoy


OWN = "$argon2id$"
"""Prefix of every hash of ours."""
