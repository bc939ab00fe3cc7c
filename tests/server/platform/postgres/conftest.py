import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import asyncpg
import pytest

from server.platform.postgres.bundled import bundled_postgres
from server.platform.postgres.bundled.account import server_account
from server.platform.postgres.config import DatabaseConfig
from tests.postgres import open_directory
from tests.server.platform.postgres import owner
from tests.server_process import killed_at_the_end

ROOT = Path(__file__).resolve().parents[4]
# A first start on a machine that does other things too.
START_SECONDS = 60
END_SECONDS = 10
ACCOUNT = server_account("nobody")

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")


def served(directory: Path, installation: Path | None = None) -> AbstractContextManager[str]:
    return bundled_postgres(DatabaseConfig(data_directory=directory, installation=installation))


def with_data(directory: Path, *, major: int = 18) -> Path:
    """As if there had been a first start."""
    data = directory / "postgres" / f"data-{major}"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text(f"{major}\n")
    (directory / "postgres" / "password").write_text("secret")
    ACCOUNT.own(data)
    return data


@contextmanager
def owner_process(directory: Path, *before: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that runs a server there; `before` are words that its command begins with."""
    process = subprocess.Popen(
        [*before, sys.executable, owner.__file__, directory],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with killed_at_the_end(process):
        yield process


async def query(dsn: str, *statements: str) -> object:
    """The value that the last of them gives."""
    connection = await asyncpg.connect(dsn)
    try:
        for statement in statements[:-1]:
            await connection.execute(statement)
        return await connection.fetchval(statements[-1])
    finally:
        await connection.close()


@pytest.fixture(scope="session")
def directory() -> Iterator[Path]:
    """A data directory with data in it, for one test after another."""
    with open_directory() as made:
        with served(made):
            pass
        yield made


@pytest.fixture
def dsn(directory: Path) -> Iterator[str]:
    with served(directory) as found:
        yield found


@pytest.fixture
def empty_directory() -> Iterator[Path]:
    with open_directory() as made:
        yield made
