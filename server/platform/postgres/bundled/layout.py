"""The layout of the files below `<data directory>/postgres`.

The directory belongs to the owner, and only the server's own files belong to its account. An owner that is
root therefore never writes where the account could have placed a link.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from server.platform.postgres.bundled.account import ROOT, Account, name_of
from server.platform.postgres.bundled.errors import PostgresError

# The shortest limit of the supported systems: 104 bytes with the terminating zero.
LONGEST_SOCKET_PATH = 103
LONGEST_SOCKET_NAME = ".s.PGSQL.50432"


@dataclass(frozen=True, slots=True)
class Layout:
    root: Path

    @property
    def owner_lock(self) -> Path:
        return self.root / "owner.lock"

    @property
    def server_lock(self) -> Path:
        return self.root / "server.lock"

    @property
    def password(self) -> Path:
        return self.root / "password"

    @property
    def start_log(self) -> Path:
        """The server's output before it writes to its logs."""
        return self.root / "start.log"

    @property
    def logs(self) -> Path:
        return self.root / "log"

    def data(self, major: int) -> Path:
        return self.root / f"data-{major}"

    def majors(self) -> list[int]:
        """Return the major versions with data."""
        found = (path.parent.name.removeprefix("data-") for path in self.root.glob("data-*/PG_VERSION"))
        return sorted(int(major) for major in found if major.isdigit())


def laid_out(data_directory: Path, account: Account) -> Layout:
    """Create missing directories, and leave existing ones unchanged."""
    layout = Layout(data_directory.resolve() / "postgres")
    _make(layout.root)
    _check_owner(layout.root, os.geteuid())
    for major in layout.majors():
        _check_owner(layout.data(major), account.uid)
    layout.logs.mkdir(mode=0o700, exist_ok=True)
    account.own(layout.logs)
    return layout


@contextmanager
def socket_directory(layout: Layout, account: Account) -> Iterator[Path]:
    """Create an empty directory for the socket, in the system's temporary directory if the path would be too long."""
    directory = layout.root / "socket"
    shutil.rmtree(directory, ignore_errors=True)
    if _fits(directory):
        directory.mkdir(mode=0o700)
    else:
        directory = Path(tempfile.mkdtemp(prefix="gnomon-"))
    try:
        if not _fits(directory):
            raise PostgresError(
                f"expected a path of at most {LONGEST_SOCKET_PATH} bytes for a socket in {directory}"
            )
        account.own(directory)
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _make(directory: Path) -> None:
    """Create a directory. If the process is root, others may traverse it but not list it.

    The server's account needs that to reach its own files.
    """
    mode = 0o711 if os.geteuid() == ROOT else 0o700
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(mode)


def _check_owner(path: Path, uid: int) -> None:
    found = path.stat().st_uid
    if found != uid:
        raise PostgresError(
            f"expected {path} to belong to the account {name_of(uid)}, found {name_of(found)}: "
            "run Gnomon and its database.account as they were when the directory was made, or give them another one"
        )


def _fits(directory: Path) -> bool:
    return len(os.fsencode(directory / LONGEST_SOCKET_NAME)) <= LONGEST_SOCKET_PATH
