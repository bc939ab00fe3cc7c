"""One owner per data directory, and no server that an earlier one has left.

The owner lock is this process's. The server lock is inherited by every process of the server and so held until the
last has ended, whatever became of the owner. Neither needs process ids, which are used again.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.platform.postgres.bundled.errors import PostgresError

POLL_SECONDS = 0.05


@contextmanager
def owner_lock(file: Path) -> Iterator[None]:
    with opened(file) as descriptor:
        if not is_taken(descriptor):
            raise PostgresError(
                f"{file.parent} is in use by another Gnomon, process {file.read_text()}: "
                "end it, or give this one a database.data_directory of its own"
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield


@contextmanager
def opened(file: Path) -> Iterator[int]:
    """The descriptor of a lock that nobody has taken yet."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_taken(descriptor: int) -> bool:
    """Take the lock, unless somebody else holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def take(descriptor: int, *, seconds: float) -> None:
    """Wait for it; TimeoutError when it is not free in time."""
    deadline = time.monotonic() + seconds
    while not is_taken(descriptor):
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(POLL_SECONDS)
