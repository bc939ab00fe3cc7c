"""The operating system account that the server runs as, because PostgreSQL refuses root."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from server.platform.postgres.bundled.errors import PostgresError

ROOT = 0


@dataclass(frozen=True, slots=True)
class Account:
    name: str
    uid: int
    gid: int

    def own(self, path: Path) -> None:
        """Make the account the owner of a file or an empty directory."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)


def server_account(name: str) -> Account:
    """Return the named account if the process is root, else the process's own account."""
    if os.geteuid() != ROOT:
        return Account(name_of(os.geteuid()), os.geteuid(), os.getegid())
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise PostgresError(
            f"expected database.account to be an account of this machine, found {name!r}"
        ) from None
    if found.pw_uid == ROOT:
        raise PostgresError(f"expected database.account to be an unprivileged account, found {name!r}")
    return Account(name, found.pw_uid, found.pw_gid)


def name_of(uid: int) -> str:
    """Return the account's name, or its number if the machine has no name for it, as in containers."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
