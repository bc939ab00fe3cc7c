"""The database of a deployment: given by its DSN, run by a server, or stopped in the data directory."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from server.cli.admin.failures import CannotBegin
from server.platform.postgres.bundled import bundled_postgres
from server.platform.postgres.bundled.neighbour import has_data, running_dsn
from server.platform.postgres.migrations import MigrationError, pending
from server.platform.postgres.outage import FAULTS
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.sections import Config
from server.storage import MIGRATIONS


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment with the DSN of its database; the DSN contains the password."""

    config: Config
    dsn: str = field(repr=False)


@contextmanager
def existing(config: Config) -> Iterator[Deployment]:
    """Provide the existing deployment. Raises CannotBegin or PostgresError."""
    if not config.database.dsn and not has_data(config.database):
        raise CannotBegin(
            f"expected database.dsn, or the data of a deployment in {config.database.data_directory}, found neither"
        )
    with existing_or_new(config) as deployment:
        yield deployment


@contextmanager
def existing_or_new(config: Config) -> Iterator[Deployment]:
    """Provide the deployment, with an empty database if there is none. Raises PostgresError."""
    dsn = config.database.dsn or running_dsn(config.database)
    if dsn:
        yield Deployment(config, dsn)
        return
    with bundled_postgres(config.database) as dsn:
        yield Deployment(config, dsn)


@contextmanager
def reaching() -> Iterator[None]:
    """Raise CannotBegin for errors of the database connection."""
    try:
        yield
    except FAULTS as error:
        raise CannotBegin(f"cannot reach the database: {error or type(error).__name__}") from error
    except ValueError as error:
        # The message may contain a part of the password.
        raise CannotBegin("cannot reach the database: the DSN is invalid") from error


async def expect_answer(dsn: str) -> None:
    """Raise CannotBegin if the database cannot be reached."""
    with reaching():
        async with open_pool(dsn, 1):
            pass


@asynccontextmanager
async def tables(deployment: Deployment) -> AsyncIterator[PooledDatabase]:
    """Provide the database, migrated to this release. Raises CannotBegin for another schema or none."""
    async with AsyncExitStack() as stack:
        with reaching():
            await _expect_migrated(deployment.dsn)
            pool = await stack.enter_async_context(open_pool(deployment.dsn, 1))
        yield PooledDatabase(pool)


async def _expect_migrated(dsn: str) -> None:
    try:
        lacking = await pending(dsn, MIGRATIONS)
    except MigrationError as error:
        raise CannotBegin(error) from error
    if lacking:
        numbers = ", ".join(map(str, lacking))
        raise CannotBegin(
            f"the database lacks migrations {numbers}: apply them with `gnomon admin migrations --apply`"
        )
