import asyncio
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import asyncpg
import pytest
from typer.testing import CliRunner

from server.cli.admin.dsn import with_database
from server.cli.app import app
from tests.durable import migrated_database
from tests.postgres import superuser
from tests.server.cli.conftest import Ended
from tests.server.store.postgres.deployment import furnish

WIDE = {"COLUMNS": "200"}


@dataclass(frozen=True)
class Operator:
    """Calls `gnomon admin` for one deployment."""

    environment: Mapping[str, str]

    def __call__(self, *arguments: str, **environment: str) -> Ended:
        """`environment` goes before the deployment's."""
        settings = {**WIDE, **self.environment, **environment}
        ended = CliRunner().invoke(app, ["admin", *arguments], env=settings, catch_exceptions=False)
        return Ended(ended.exit_code, ended.stdout, ended.stderr)

    @property
    def dsn(self) -> str:
        return self.environment["GNOMON_DATABASE__DSN"]


def operator_of(dsn: str) -> Operator:
    return Operator({"GNOMON_DATABASE__DSN": dsn})


async def execute(dsn: str, text: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(text)
    finally:
        await connection.close()


async def value(dsn: str, text: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(text)
    finally:
        await connection.close()


@contextmanager
def own_database(server: str, template: str) -> Iterator[str]:
    """The DSN of a copy, which is gone again when the block ends."""
    name = f"copy_{uuid.uuid4().hex}"
    asyncio.run(execute(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"))
    try:
        yield with_database(server, name)
    finally:
        asyncio.run(execute(superuser(server), f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture(scope="session")
def furnished(postgres_dsn: str) -> str:
    """The name of a database that partitions have filled, for copies of it."""
    name = f"furnished_{os.getpid()}"

    async def fill() -> None:
        await furnish(await migrated_database(postgres_dsn, name))

    asyncio.run(fill())
    return name


@pytest.fixture
def empty(postgres_dsn: str) -> Iterator[Operator]:
    """Of an empty database."""
    with own_database(postgres_dsn, "template0") as dsn:
        yield operator_of(dsn)


@pytest.fixture
def operator(postgres_dsn: str, furnished: str) -> Iterator[Operator]:
    """Of a deployment with two partitions, two tenants and a past, of which no node runs."""
    with own_database(postgres_dsn, furnished) as dsn:
        yield operator_of(dsn)
