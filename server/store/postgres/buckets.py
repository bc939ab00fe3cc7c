"""The buckets of history: a table for each entity and week, created in advance and dropped as a whole.

A week with a bucket of process instances has buckets of all entities that belong to them, because searches
join the two.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import asyncpg

from server.platform.errors import Unavailable
from server.platform.postgres.database import Database
from server.store.entities import AuditEntry, ProcessInstance
from server.store.postgres.columns import BUCKETED, TABLES

WEEK = timedelta(days=7)
_INSTANCE = TABLES[ProcessInstance].name
# In the order of creation, process instances last.
_ENTITIES = sorted((TABLES[entity].name for entity in BUCKETED), key=lambda name: name == _INSTANCE)
_ALONE = TABLES[AuditEntry].name
_LOCK_MILLISECONDS = 200
_LOCK_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Bucket:
    """The table of one entity for the week that begins on this Monday."""

    entity: str
    begin: date

    @property
    def name(self) -> str:
        return f"{self.entity}_{self.begin:%Y%m%d}"

    @property
    def creation(self) -> str:
        """SQL that creates and attaches the table, which does not block readers and writers as `PARTITION OF` would."""
        return f"""
            CREATE TABLE history.{self.name} (LIKE history.{self.entity} INCLUDING ALL);
            ALTER TABLE history.{self.entity} ATTACH PARTITION history.{self.name}
            FOR VALUES FROM ('{self.begin}') TO ('{self.begin + WEEK}')
        """

    @property
    def end(self) -> str:
        """SQL that drops the table; for process instances, all that arrived then count as dropped.

        Once the table is dropped, no process instance can be moved to it any more.
        """
        drop = f"DROP TABLE IF EXISTS history.{self.name}"
        if self.entity != _INSTANCE:
            return drop
        return f"{drop}; UPDATE history.arrivals SET dropped = arrived WHERE week = '{self.begin}'"  # noqa: S608  # our own


async def create_buckets(database: Database, days: Iterable[date]) -> None:
    """Create the missing buckets for these days; other processes may do the same at the same time."""
    begins = sorted({day - timedelta(days=day.weekday()) for day in days})
    wanted = [Bucket(entity, begin) for begin in begins for entity in _ENTITIES]
    text = """
        SELECT relname::text FROM pg_class
        WHERE relnamespace = 'history'::regnamespace AND relname = ANY($1::text[])
    """
    present = {row[0] for row in await database.fetch(text, [bucket.name for bucket in wanted])}
    for bucket in wanted:
        if bucket.name not in present:
            await _create(database, bucket)


async def _create(database: Database, bucket: Bucket) -> None:
    try:
        await database.execute(bucket.creation)
    except (asyncpg.DuplicateTableError, asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
        return  # another process was faster


async def drop_buckets(database: Database, before: date) -> tuple[str, ...]:
    """Drop the buckets whose days are all before this one, and return their names; a week is dropped at once.

    While a table of a week is being read, the whole week stays.
    """
    text = """
        SELECT parent.relname::text, child.relname::text FROM pg_inherits
        JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
        WHERE parent.relnamespace = 'history'::regnamespace AND parent.relkind = 'p' ORDER BY 2
    """
    found = [_bucket(entity, name) for entity, name in await database.fetch(text)]
    old = [bucket for bucket in found if bucket.begin + WEEK <= before]
    weeks: dict[tuple[date, bool], list[Bucket]] = {}
    for bucket in old:
        weeks.setdefault((bucket.begin, bucket.entity == _ALONE), []).append(bucket)
    return tuple([bucket.name for week in weeks.values() if await _drop(database, week) for bucket in week])


def _bucket(entity: str, name: str) -> Bucket:
    return Bucket(entity, date.fromisoformat(name.removeprefix(f"{entity}_")))


async def _drop(database: Database, buckets: Sequence[Bucket]) -> bool:
    # A drop that waits for a lock blocks later readers and writers of the entity.
    ends = "; ".join(bucket.end for bucket in buckets)
    text = f"SET LOCAL lock_timeout = {_LOCK_MILLISECONDS}; {ends}"
    for _ in range(_LOCK_ATTEMPTS):
        try:
            await database.execute(text)
        except Unavailable as refusal:
            if not isinstance(refusal.__cause__, asyncpg.LockNotAvailableError):
                raise
            continue
        return True
    return False
