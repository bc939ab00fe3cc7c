"""Finds commands between partitions that are not taken from the outbox.

The outbox has no timestamps. A partition takes the commands of one source in order, so comparing the first
command of each source twice is sufficient.
"""

import asyncio
from datetime import timedelta

import asyncpg

from server.store.postgres.verify.findings import Findings
from server.store.postgres.verify.snapshot import Snapshot, Waiting

_FIRST = """
    SELECT target, source, min(number) FROM gnomon.outbox
    JOIN gnomon.partition ON partition_id = target
    WHERE owner IS NOT NULL AND expires_at >= clock_timestamp()
    GROUP BY target, source
"""


async def waiting(connection: asyncpg.Connection, patience: timedelta) -> Waiting:
    """The first commands for partitions with an owner, read before waiting for `patience`."""
    first = frozenset(tuple(row) for row in await connection.fetch(_FIRST))
    if first:
        await asyncio.sleep(patience.total_seconds())
    return first


async def not_taken(snapshot: Snapshot) -> Findings:
    findings = snapshot.findings()
    for target, source, number in sorted(
        snapshot.waiting & {tuple(row) for row in await snapshot.fetch(_FIRST)}
    ):
        findings.add(f"command {number} from {source} to {target}")
    return findings
