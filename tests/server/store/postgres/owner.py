"""An owner in a process of its own: commits one process instance after the other until its lease is lost."""

import asyncio
import sys

from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import LeaseLost
from server.store.postgres.leases import Leases
from tests.server.store.postgres.ledgers import PARTITION, batch_of, ledger_of

LEASE_SECONDS = 1.0


async def main(dsn: str) -> None:
    async with open_pool(dsn, 1) as pool:
        database = PooledDatabase(pool)
        lease = await Leases(database).take(PARTITION, "owner", address="", seconds=LEASE_SECONDS)
        assert lease is not None
        async with ledger_of(dsn, lease, database) as ledger:
            key = lease.last_key
            try:
                while True:
                    key += 1
                    await ledger.commit(batch_of(key))
            except LeaseLost:
                print(key - 1)  # noqa: T201  # the last one that counted


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
