"""What a process of the durable modes does beside its partitions."""

import asyncio
import logging
from datetime import timedelta

from server.partition.audit_trail import WaitingEntries
from server.partition.router import Router
from server.platform.clock import Clock
from server.platform.errors import ServiceError
from server.platform.postgres.database import Database
from server.store.postgres.decided import forget_decision_instances
from server.store.postgres.history import History
from server.store.postgres.retention import RetentionConfig, keep

logger = logging.getLogger(__name__)

MOST_ENTRIES = 1_000
RETRY_SECONDS = 1.0
RETENTION_SECONDS = 3600.0


async def note_refusals(waiting: WaitingEntries, router: Router) -> None:
    """Bring entries that came without a command to the audit log, for ever."""
    while True:
        entries = await waiting.first(MOST_ENTRIES)
        try:
            await router.note(entries)
        except ServiceError as refusal:
            logger.warning("audit entries wait", extra={"entries": len(entries), "reason": refusal.detail})
            await asyncio.sleep(RETRY_SECONDS)
            continue
        waiting.remove(len(entries))


async def keep_history(history: History, config: RetentionConfig, clock: Clock) -> None:
    """Make room for what comes, and drop what nobody is to read any longer, every hour."""
    while True:
        try:
            dropped = await keep(history, config, clock.now())
        except ServiceError as refusal:
            logger.warning("retention waits", extra={"reason": refusal.detail})
            await asyncio.sleep(RETRY_SECONDS)
            continue
        if dropped.buckets or dropped.answers:
            logger.info("history dropped", extra={"buckets": dropped.buckets, "answers": dropped.answers})
        await asyncio.sleep(RETENTION_SECONDS)


async def keep_decisions(database: Database, config: RetentionConfig, clock: Clock) -> None:
    """Drop evaluations of decisions that nobody is to read any longer, every hour."""
    while config.retention_days:
        before = clock.now() - timedelta(days=config.retention_days)
        try:
            forgotten = await forget_decision_instances(database, before)
        except ServiceError as refusal:
            logger.warning("retention waits", extra={"reason": refusal.detail})
            await asyncio.sleep(RETRY_SECONDS)
            continue
        if forgotten:
            logger.info("decision instances dropped", extra={"decision_instances": forgotten})
        await asyncio.sleep(RETENTION_SECONDS)
