"""Maintenance loops of a process in the durable modes, beside its partitions."""

import asyncio
import logging
from datetime import timedelta

from server.partition.audit_trail import WaitingEntries
from server.partition.router import Router
from server.platform.back_off import BackOff, Pauses
from server.platform.clock import Clock
from server.platform.errors import ServiceError
from server.platform.postgres.database import Database
from server.store.postgres.decided import forget_batch_operations, forget_decision_instances
from server.store.postgres.history import History
from server.store.postgres.retention import RetentionConfig, keep
from server.store.stored_documents import DocumentStore

logger = logging.getLogger(__name__)

MOST_ENTRIES = 1_000
_BACK_OFF = BackOff(1.0, 30.0)
RETENTION_SECONDS = 3600.0
# Expired documents count towards their tenant's limit until they are deleted.
EXPIRY_SECONDS = 60.0


async def note_refusals(waiting: WaitingEntries, router: Router) -> None:
    """Write buffered audit entries to the audit log, until cancelled."""
    pauses = Pauses(_BACK_OFF)
    while True:
        entries = await waiting.first(MOST_ENTRIES)
        try:
            await router.note(entries)
        except ServiceError as refusal:
            logger.warning(
                "writing audit entries failed; retrying",
                extra={"entries": len(entries), "reason": refusal.detail},
            )
            await pauses.after_failure()
            continue
        pauses.succeeded()
        waiting.remove(len(entries))


async def keep_history(history: History, config: RetentionConfig, clock: Clock) -> None:
    """Create the tables of the coming weeks and drop those past the retention, every hour."""
    pauses = Pauses(_BACK_OFF)
    while True:
        try:
            dropped = await keep(history, config, clock.now())
        except ServiceError as refusal:
            logger.warning(
                "applying the retention of history failed; retrying", extra={"reason": refusal.detail}
            )
            await pauses.after_failure()
            continue
        pauses.succeeded()
        if dropped.buckets or dropped.answers:
            logger.info("history dropped", extra={"buckets": dropped.buckets, "answers": dropped.answers})
        await asyncio.sleep(RETENTION_SECONDS)


async def keep_decisions(database: Database, config: RetentionConfig, clock: Clock) -> None:
    """Delete decision evaluations past the retention, every hour."""
    pauses = Pauses(_BACK_OFF)
    while config.retention_days:
        before = clock.now() - timedelta(days=config.retention_days)
        try:
            forgotten = await forget_decision_instances(database, before)
        except ServiceError as refusal:
            logger.warning(
                "deleting old decision instances failed; retrying", extra={"reason": refusal.detail}
            )
            await pauses.after_failure()
            continue
        pauses.succeeded()
        if forgotten:
            logger.info("decision instances dropped", extra={"decision_instances": forgotten})
        await asyncio.sleep(RETENTION_SECONDS)


async def keep_batch_operations(database: Database, config: RetentionConfig, clock: Clock) -> None:
    """Delete batch operations that ended before the retention period, every hour."""
    pauses = Pauses(_BACK_OFF)
    while config.retention_days:
        before = clock.now() - timedelta(days=config.retention_days)
        try:
            forgotten = await forget_batch_operations(database, before)
        except ServiceError as refusal:
            logger.warning("deleting old batch operations failed; retrying", extra={"reason": refusal.detail})
            await pauses.after_failure()
            continue
        pauses.succeeded()
        if forgotten:
            logger.info("batch operations dropped", extra={"rows": forgotten})
        await asyncio.sleep(RETENTION_SECONDS)


async def keep_documents(documents: DocumentStore, clock: Clock) -> None:
    """Delete expired documents, every minute."""
    pauses = Pauses(_BACK_OFF)
    while True:
        try:
            forgotten = await documents.forget_expired(clock.now())
        except ServiceError as refusal:
            logger.warning("deleting expired documents failed; retrying", extra={"reason": refusal.detail})
            await pauses.after_failure()
            continue
        pauses.succeeded()
        if forgotten:
            logger.info("documents dropped", extra={"documents": forgotten})
        await asyncio.sleep(EXPIRY_SECONDS)
