"""Databases of a test's own on a server that others use too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from urllib.parse import urlsplit

import asyncpg

from tests.postgres import superuser

_numbers = count(1)


@asynccontextmanager
async def new_database(server: str, *, template: str = "template1") -> AsyncIterator[str]:
    """The DSN of a copy of the template, which is gone when the block ends."""
    name = f"test_{next(_numbers)}"
    connection = await asyncpg.connect(server)
    try:
        # Copying files is faster than copying pages through the log where no disk is waited for.
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            await _drop(server, name)
    finally:
        await connection.close()


async def _drop(server: str, name: str) -> None:
    connection = await asyncpg.connect(superuser(server))
    try:
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()


def name_of(dsn: str) -> str:
    return urlsplit(dsn).path.removeprefix("/")
