"""Commits of a partition to PostgreSQL: one statement per batch, in the epoch of its lease or not at all.

The statement compares and sets the partition's epoch and position, and writes nothing when they differ from
what the owner expects. A batch can therefore be sent again whenever its outcome is unknown, and a former
owner changes nothing. It is sent again after an outage only: a statement that the database gives up because
it takes too long is refused, once the position shows that it is not committed.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC
from enum import Enum, StrEnum, auto
from itertools import count
from types import TracebackType
from typing import NoReturn, Self, TypeVar

import asyncpg

from server.engine.documents import Pages
from server.engine.keys import Key
from server.engine.octets import octets_of
from server.engine.pages import DocumentId, Kind, StoredPage
from server.platform.back_off import BackOff
from server.platform.errors import Unavailable
from server.platform.postgres.database import Database
from server.platform.postgres.outage import FAULTS, is_outage, is_too_large
from server.store.entities import AuditEntry
from server.store.ports import (
    Batch,
    BatchRefused,
    IncomingCommand,
    LeaseLost,
    PartitionId,
    Reservation,
    StoredAnswer,
)
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
# The server gives a statement up before the client does.
_GRACE = 1.5
# A statement that waits this part of its time for a lock was kept waiting, and is not too large.
_LOCK_SHARE = 0.8
# The number of times that a statement stays without an answer while the database answers others.
_MOST_SILENCES = 2


# The size of commands that are read at once; the last of them may exceed it.
MOST_INCOMING_OCTETS = 8 * 1024 * 1024


class FailedCommit(StrEnum):
    """An attempt that failed: OUTAGE is repeated, TOO_LARGE is not."""

    OUTAGE = "outage"
    TOO_LARGE = "too_large"


class _Attempt(Enum):
    """How an attempt of a commit ended; after SILENT and UNKNOWN, it may be committed.

    UNSENT: the partition was at another position. SILENT: no answer in time.
    """

    COMMITTED = auto()
    UNSENT = auto()
    UNKNOWN = auto()
    SILENT = auto()
    TOO_LARGE = auto()


def _unreported(_: FailedCommit) -> None:
    """Report nothing."""


class PostgresLedger:
    """The commits of one lease, one at a time; reads use the given database.

    `failed` is called for each attempt of a commit that failed. Each commit prolongs the lease to
    `lease_seconds` from its start.
    """

    def __init__(
        self,
        dsn: str,
        lease: Lease,
        *,
        database: Database,
        statement_seconds: float,
        lease_seconds: float = 0.0,
        failed: Callable[[FailedCommit], None] = _unreported,
    ) -> None:
        self._statement_seconds = statement_seconds
        self._failed = failed
        self._partition_id = lease.partition_id
        self._epoch = lease.epoch
        self._position = lease.position
        self._database = database
        self._reservations = Reservations(database, lease.partition_id, lease.epoch)
        self._statements = Statements(lease.partition_id, lease.epoch, lease_seconds=lease_seconds)
        self._is_settled = True
        self._is_away = False
        self._link = Link(
            dsn,
            statement_seconds=statement_seconds,
            settings={
                **_SETTINGS,
                "application_name": f"gnomon partition {lease.partition_id}",
                "lock_timeout": str(int(statement_seconds * _LOCK_SHARE * 1000)),
            },
            plans=MOST_STATEMENTS,
            grace=_GRACE,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._link.close()

    async def commit(self, batch: Batch) -> None:
        """Return when the batch is durable, however long the database is unreachable; raises LeaseLost.

        Raises BatchRefused when the statement took too long or needed too much, ValueError for a change that
        fits no table and for a row that exists already. After a cancelled commit the lease counts as lost,
        because the position of the partition is unknown.
        """
        if not self._is_settled:
            raise LeaseLost(f"partition {self._partition_id} has a commit of which the outcome is not known")
        prepared = self._statements.of(batch, self._position)
        self._is_settled = False
        try:
            await self._settle(prepared, batch)
        except (ValueError, asyncpg.PostgresError, BatchRefused):
            self._is_settled = True
            raise
        self._position = prepared.position
        self._is_settled = True

    async def _settle(self, prepared: Prepared, batch: Batch) -> None:
        seen = Counter[_Attempt]()
        for failures in count(1):
            if not seen[_Attempt.TOO_LARGE]:
                seen[await self._attempt(prepared, batch)] += 1
            if seen[_Attempt.COMMITTED]:
                return
            place = await self._tried(self._place())
            is_open = bool(seen[_Attempt.UNKNOWN] or seen[_Attempt.SILENT])
            if place is None:
                seen[_Attempt.UNKNOWN] += seen.pop(_Attempt.SILENT, 0)
            elif self._is_committed(place, prepared, is_open=is_open):
                return
            elif seen[_Attempt.TOO_LARGE] or seen[_Attempt.SILENT] >= _MOST_SILENCES:
                self._refuse(prepared)
            await asyncio.sleep(_BACK_OFF.seconds(failures))

    async def _attempt(self, prepared: Prepared, batch: Batch) -> _Attempt:
        try:
            is_sent = await self._send(prepared, batch)
        except (Unavailable, *FAULTS) as error:
            if is_too_large(error):
                facts = {"partition_id": self._partition_id, "error": str(error)}
                logger.warning("the database gave up the statement of a commit", extra=facts)
                return _Attempt.TOO_LARGE
            self._expect_outage(error)
            return _Attempt.SILENT if isinstance(error, TimeoutError) else _Attempt.UNKNOWN
        self._report_back()
        return _Attempt.COMMITTED if is_sent else _Attempt.UNSENT

    def _refuse(self, prepared: Prepared) -> NoReturn:
        self._failed(FailedCommit.TOO_LARGE)
        facts = {
            "partition_id": self._partition_id,
            "octets": octets_of(prepared.arguments),
            "statement_seconds": self._statement_seconds,
        }
        logger.error("a commit is too large for the database and is not repeated", extra=facts)
        raise BatchRefused(f"the database gave up the commit after {self._statement_seconds:g} s")

    async def _tried(self, attempt: Awaitable[T]) -> T | None:
        """The result, or None when the database was unreachable."""
        try:
            result = await attempt
        except (Unavailable, *FAULTS) as error:
            self._expect_outage(error)
            return None
        self._report_back()
        return result

    def _expect_outage(self, error: Exception) -> None:
        """Raises the error unless the database was unreachable."""
        if not isinstance(error, Unavailable) and not is_outage(error):
            raise error
        self._failed(FailedCommit.OUTAGE)
        self._report_away(error)

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
        # The size of a stored command is known without reading it.
        text = """
            SELECT source, number, command, format FROM (
                SELECT source, number, command, format,
                    sum(octet_length(command)) OVER (ORDER BY source, number) - octet_length(command) AS before
                FROM (
                    SELECT source, number, command, format FROM gnomon.outbox
                    LEFT JOIN unnest($2::smallint[], $3::bigint[]) AS seen (source, last) USING (source)
                    WHERE target = $1 AND number > coalesce(seen.last, 0)
                    ORDER BY source, number LIMIT $4
                ) AS first
            ) AS sized WHERE before < $5 ORDER BY source, number
        """
        arguments = (self._partition_id, list(after), list(after.values()), most, MOST_INCOMING_OCTETS)
        found = await self._database.fetch(text, *arguments)
        return [IncomingCommand(**row) for row in found]

    async def reserve(self, wanted: Mapping[str, int], most: int) -> Reservation:
        return await self._reservations.reserve(wanted, most)
