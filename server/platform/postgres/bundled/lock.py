"""Locks that ensure one owner per data directory and no server of an earlier owner.

The owner lock belongs to this process. Every process of the server inherits the server lock, which is
therefore held until the last of them ends, even if the owner crashed. Process ids would not do, because
systems reuse them.
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
    """Open a lock file, without taking the lock."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_taken(descriptor: int) -> bool:
    """Try to take the lock; return False if another process holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def take(descriptor: int, *, seconds: float) -> None:
    """Wait for the lock; raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not is_taken(descriptor):
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(POLL_SECONDS)
