"""Checks the invariants between the tables of the database; each check is a row of one table.

All checks read one snapshot, taken while the deployment runs. They change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from server.store.postgres.verify import outbox
from server.store.postgres.verify.checks import CHECKS, Check
from server.store.postgres.verify.findings import Findings
from server.store.postgres.verify.snapshot import Formats, Snapshot

__all__ = ["CHECKS", "Check", "Findings", "Formats", "Verdict", "verify"]

PATIENCE = timedelta(seconds=5)
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings of a check; none if its invariant holds."""

    check: Check
    findings: Findings


async def verify(
    connection: asyncpg.Connection,
    formats: Formats,
    *,
    checks: Sequence[Check] = CHECKS,
    patience: timedelta = PATIENCE,
    examples: int = EXAMPLES,
) -> Sequence[Verdict]:
    """The verdicts of these checks, in order.

    A command for a partition with an owner may stay in the outbox for `patience`; the check waits for nothing
    else.
    """
    waiting = await outbox.waiting(connection, patience)
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        snapshot = Snapshot(connection, formats, waiting=waiting, examples=examples)
        return [Verdict(check, await check.search(snapshot)) for check in checks]
