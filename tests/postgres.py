"""A real PostgreSQL of one's own, which outlives the death of any process; only a crash of the machine would lose data."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from server.platform.postgres.bundled import bundled_postgres
from server.platform.postgres.config import DatabaseConfig


@contextmanager
def postgres_server() -> Iterator[str]:
    """The DSN of a server that is gone, with its data, when the block ends."""
    with open_directory() as directory, bundled_postgres(DatabaseConfig(data_directory=directory)) as dsn:
        asyncio.run(_without_fsync(dsn))
        yield dsn


async def _without_fsync(dsn: str) -> None:
    """Tests create and drop thousands of databases, and each would wait for the disk."""
    connection = await asyncpg.connect(superuser(dsn))
    await connection.execute("ALTER SYSTEM SET fsync = off")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()


def superuser(dsn: str) -> str:
    """The same server as the role that may end the server's own workers, which a forced drop has to."""
    parts = urlsplit(dsn)
    return parts._replace(netloc=parts.netloc.replace("gnomon:", "postgres:", 1), path="/postgres").geturl()


@contextmanager
def open_directory() -> Iterator[Path]:
    """Temporary; an account that a server of root becomes may pass through it."""
    with tempfile.TemporaryDirectory(prefix="gnomon-test-") as name:
        directory = Path(name)
        directory.chmod(0o711)
        yield directory
