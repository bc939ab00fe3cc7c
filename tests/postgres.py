"""A real PostgreSQL of one's own, durable as in production unless a test has it otherwise."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from server.platform.postgres.bundled import bundled_postgres
from server.platform.postgres.config import DatabaseConfig

# Names the directory below which databases of tests are made; without it they are where temporary files are.
DIRECTORY = "GNOMON_TEST_DATA"
_MEMORY = Path("/dev/shm")  # noqa: S108  # only the parent of directories with names of their own
_ROOM = 6 << 30


@contextmanager
def postgres_server() -> Iterator[str]:
    """The DSN of a server that is gone, with its data, when the block ends."""
    with open_directory() as directory, bundled_postgres(DatabaseConfig(data_directory=directory)) as dsn:
        yield dsn


async def turn_fsync_off(dsn: str) -> None:
    """Have the server wait for no disk: what it holds outlives the death of any process, but not of the machine."""
    connection = await asyncpg.connect(superuser(dsn))
    await connection.execute("ALTER SYSTEM SET fsync = off")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()


def server_process(directory: Path) -> int:
    """The id of the first process of the server whose data is in this directory; the others end when it is gone."""
    (pid_file,) = directory.glob("postgres/data-*/postmaster.pid")
    return int(pid_file.read_text().split()[0])


def superuser(dsn: str) -> str:
    """The same server as the role that may end the server's own workers, which a forced drop has to."""
    parts = urlsplit(dsn)
    return parts._replace(netloc=parts.netloc.replace("gnomon:", "postgres:", 1), path="/postgres").geturl()


@contextmanager
def open_directory() -> Iterator[Path]:
    """Temporary; an account that a server of root becomes may pass through it."""
    with tempfile.TemporaryDirectory(prefix="gnomon-test-", dir=os.environ.get(DIRECTORY)) as name:
        directory = Path(name)
        directory.chmod(0o711)
        yield directory


def keep_in_memory() -> None:
    """Have databases that begin from here on in memory, if there is room: disks take long to forget their files."""
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ROOM:
        os.environ.setdefault(DIRECTORY, str(_MEMORY))
