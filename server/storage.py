"""The tables of a deployment, created and migrated before anything is served."""

from importlib.resources import files

from server.engine.formats import LATEST
from server.platform.postgres.migrations import MigrationError, migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres.leases import Leases

MIGRATIONS = files("server.store.postgres") / "migrations"


class NoDatabase(RuntimeError):
    """No PostgreSQL answers at the configured address."""


async def prepare(dsn: str, partitions: int, *, at_first: int = 1) -> int:
    """Apply missing migrations and create partitions 1 to `partitions`; several processes may do so concurrently.

    With 0, a new database gets `at_first` partitions, and an existing one keeps its number. Returns the
    number of partitions. Raises MigrationError, NoDatabase or Unavailable.
    """
    try:
        await migrate(dsn, MIGRATIONS)
    except OSError as error:
        raise NoDatabase(f"no PostgreSQL answers at database.dsn: {error}") from error
    async with open_pool(dsn, 1) as pool:
        leases = Leases(PooledDatabase(pool))
        _expect_readable((await leases.formats()).cluster)
        count = partitions or len(await leases.holdings()) or at_first
        await leases.create_partitions(count)
        return len(await leases.holdings())


def _expect_readable(cluster_format: int) -> None:
    """Raise MigrationError if the deployment writes a newer format than this program reads."""
    if cluster_format > LATEST:
        raise MigrationError(
            f"the deployment writes format {cluster_format}, this program reads formats up to {LATEST}:"
            " start a later version of it"
        )
