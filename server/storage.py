"""The tables of a deployment: made and brought up to date before anything serves."""

import os
from importlib.resources import files

from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.postgres.leases import Leases

MIGRATIONS = files("server.store.postgres") / "migrations"


async def prepare(dsn: str, partitions: int) -> int:
    """Apply what is missing and make partitions 1 to so many; several processes may do so at once.

    0 stands for as many as there are, and for one a core where there are none. How many there are now. Raises
    MigrationError, Unavailable.
    """
    await migrate(dsn, MIGRATIONS)
    async with open_pool(dsn, 1) as pool:
        leases = Leases(PooledDatabase(pool))
        count = partitions or len(await leases.holdings()) or os.cpu_count() or 1
        await leases.create_partitions(count)
        return len(await leases.holdings())
