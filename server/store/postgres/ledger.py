"""Commits of a partition to PostgreSQL: one statement per batch, in the epoch of its lease or not at all.

The statement compares and sets the partition's epoch and position, and writes nothing when they differ from
what the owner expects. A batch can therefore be sent again whenever its outcome is unknown, and a former
owner changes nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Collection, Mapping, Sequence
from datetime import UTC
from itertools import count
from types import TracebackType
from typing import Self, TypeVar

import asyncpg

from server.engine.documents import Pages
from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind, StoredPage
from server.platform.back_off import BackOff
from server.platform.errors import Unavailable
from server.platform.postgres.database import Database
from server.platform.postgres.outage import FAULTS, is_outage
from server.store.entities import AuditEntry
from server.store.ports import Batch, IncomingCommand, LeaseLost, PartitionId, Reservation, StoredAnswer
from server.store.postgres.buckets import create_buckets
from server.store.postgres.columns import TABLES
from server.store.postgres.leases import Lease
from server.store.postgres.link import Link
from server.store.postgres.literals import storable
from server.store.postgres.reservations import Reservations
from server.store.postgres.statement import MOST_STATEMENTS, Prepared, Statements

T = TypeVar("T")

logger = logging.getLogger(__name__)

# Plan once, independent of table statistics at that time: rows by index, joined by hash.
_SETTINGS = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_nestloop": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
_BACK_OFF = BackOff(0.01, 1.0)


class PostgresLedger:
    """The commits of one lease, one at a time; reads use the given database."""

    def __init__(self, dsn: str, lease: Lease, *, database: Database, statement_seconds: float) -> None:
        self._partition_id = lease.partition_id
        self._epoch = lease.epoch
        self._position = lease.position
        self._database = database
        self._reservations = Reservations(database, lease.partition_id, lease.epoch)
        self._statements = Statements(lease.partition_id, lease.epoch)
        self._is_settled = True
        self._is_away = False
        self._link = Link(
            dsn,
            statement_seconds=statement_seconds,
            settings={**_SETTINGS, "application_name": f"gnomon partition {lease.partition_id}"},
            plans=MOST_STATEMENTS,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._link.close()

    async def commit(self, batch: Batch) -> None:
        """Return when the batch is durable, however long the database is unreachable; raises LeaseLost.

        Raises ValueError for a change that fits no table and for a row that exists already. After a cancelled
        commit the lease counts as lost, because the position of the partition is unknown.
        """
        if not self._is_settled:
            raise LeaseLost(f"partition {self._partition_id} has a commit of which the outcome is not known")
        prepared = self._statements.of(batch, self._position)
        self._is_settled = False
        try:
            await self._settle(prepared, batch)
        except (ValueError, asyncpg.PostgresError):
            self._is_settled = True
            raise
        self._position = prepared.position
        self._is_settled = True

    async def _settle(self, prepared: Prepared, batch: Batch) -> None:
        is_open = False
        for failures in count(1):
            is_sent = await self._tried(self._send(prepared, batch))
            if is_sent:
                return
            is_open = is_open or is_sent is None
            place = await self._tried(self._place())
            if place is not None and self._is_committed(place, prepared, is_open=is_open):
                return
            await asyncio.sleep(_BACK_OFF.seconds(failures))

    async def _tried(self, attempt: Awaitable[T]) -> T | None:
        """The result, or None when the database was unreachable."""
        try:
            result = await attempt
        except (Unavailable, *FAULTS) as error:
            if not isinstance(error, Unavailable) and not is_outage(error):
                raise
            self._report_away(error)
            return None
        self._report_back()
        return result

    async def _send(self, prepared: Prepared, batch: Batch) -> bool:
        """Send the batch; returns whether it is committed, because the partition was at the expected position."""
        try:
            return bool(await self._link.fetch(prepared.text, *prepared.arguments))
        except asyncpg.UniqueViolationError as error:
            raise ValueError(f"a row of the batch is there already, by {error.constraint_name}") from error
        except asyncpg.CheckViolationError as error:
            if error.table_name != TABLES[AuditEntry].name:
                raise
            days = {entry.timestamp.astimezone(UTC).date() for entry in batch.audit}
            await create_buckets(self._database, days)
            return bool(await self._link.fetch(prepared.text, *prepared.arguments))

    async def _place(self) -> tuple[int, int]:
        """The epoch and position of the partition."""
        # A write, which a standby must have before it is answered: a leader that crashed may return with
        # commits that no standby has, and a read would report them as durable.
        text = """
            UPDATE gnomon.partition SET position = position WHERE partition_id = $1 RETURNING epoch, position
        """
        found = await self._link.fetch(text, self._partition_id)
        return (found[0]["epoch"], found[0]["position"]) if found else (0, 0)

    def _is_committed(self, place: tuple[int, int], prepared: Prepared, *, is_open: bool) -> bool:
        """Whether an attempt with an unknown outcome was committed; raises LeaseLost when there was another owner."""
        if is_open and place == (self._epoch, prepared.position):
            return True
        if place != (self._epoch, self._position):
            raise LeaseLost(
                f"partition {self._partition_id}: expected epoch {self._epoch} and position {self._position},"
                f" found {place[0]} and {place[1]}"
            )
        return False

    def _report_away(self, error: Exception) -> None:
        if not self._is_away:
            facts = {"partition_id": self._partition_id, "error": type(error).__name__}
            logger.warning("the database is unreachable; the commit waits", extra=facts)
        self._is_away = True

    def _report_back(self) -> None:
        if self._is_away:
            logger.info("the database is reachable again", extra={"partition_id": self._partition_id})
        self._is_away = False

    async def documents(self, ids: Collection[DocumentId]) -> Mapping[DocumentId, Pages]:
        text = """
            SELECT kind, key, page, format, content
            FROM unnest($2::smallint[], $3::bigint[]) AS asked (kind, key)
            JOIN gnomon.stored_page USING (kind, key) WHERE partition_id = $1
        """
        kinds, keys = [kind for kind, _ in ids], [key for _, key in ids]
        found: dict[DocumentId, dict[int, StoredPage]] = {}
        for kind, key, number, *page in await self._database.fetch(text, self._partition_id, kinds, keys):
            found.setdefault(DocumentId(Kind(kind), Key(key)), {})[number] = StoredPage(*page)
        return found

    async def answers(self, keys: Collection[tuple[str, str]]) -> Sequence[StoredAnswer]:
        text = """
            SELECT tenant_id, idempotency_key, request_hash, answer, created_at
            FROM unnest($1::text[], $2::text[]) AS asked (tenant_id, idempotency_key)
            JOIN gnomon.idempotency USING (tenant_id, idempotency_key)
        """
        tenants = [storable(tenant_id) for tenant_id, _ in keys]
        found = await self._database.fetch(text, tenants, [storable(key) for _, key in keys])
        return [StoredAnswer(**row) for row in found]

    async def incoming(self, after: Mapping[PartitionId, int], most: int) -> Sequence[IncomingCommand]:
        text = """
            SELECT source, number, command, format FROM gnomon.outbox
            LEFT JOIN unnest($2::smallint[], $3::bigint[]) AS seen (source, last) USING (source)
            WHERE target = $1 AND number > coalesce(seen.last, 0)
            ORDER BY source, number LIMIT $4
        """
        found = await self._database.fetch(text, self._partition_id, list(after), list(after.values()), most)
        return [IncomingCommand(**row) for row in found]

    async def reserve(self, wanted: Mapping[str, int], most: int) -> Reservation:
        return await self._reservations.reserve(wanted, most)
