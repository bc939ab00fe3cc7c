"""Commands from one partition to another that nobody takes.

The outbox keeps no times. A partition takes what one source sent in its order, so that it is enough to look at the first
of each source twice.
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
    """The first commands for partitions that have an owner, as of so long ago."""
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
