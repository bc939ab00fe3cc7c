"""Retention of history, and the maintenance that every deployment needs.

The maintenance may run in any process, at any time, and in several processes at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Protocol

from server.platform.postgres.database import Database
from server.store.postgres.buckets import WEEK
from server.store.postgres.history import History


class RetentionConfig(Protocol):
    """The number of days for which ended rows and stored answers are kept; 0 keeps them forever."""

    @property
    def retention_days(self) -> int: ...

    @property
    def answer_days(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Week:
    """The buckets of one week, from Monday; `rows` and `process_instances` are estimates, `size` is in bytes."""

    begin: date
    process_instances: int
    rows: int
    size: int

    @property
    def last(self) -> date:
        """The Sunday of the week."""
        return self.begin + WEEK - timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Dropped:
    """The buckets that were dropped, and the number of answers that were deleted."""

    buckets: tuple[str, ...]
    answers: int


async def keep(history: History, config: RetentionConfig, now: datetime) -> Dropped:
    """Create the buckets of the next weeks, and drop history and answers past the retention. Raises Unavailable.

    A bucket that is being read stays until the next call.
    """
    await history.ensure_buckets(now)
    first = first_day(config, now)
    buckets = await history.drop_before(first) if first else ()
    oldest = oldest_answer(config, now)
    return Dropped(buckets, await history.forget_answers(oldest) if oldest else 0)


def first_day(config: RetentionConfig, now: datetime) -> date | None:
    """A day in the first week that is kept; None when all weeks are kept."""
    return now.date() - timedelta(days=config.retention_days) if config.retention_days else None


def oldest_answer(config: RetentionConfig, now: datetime) -> datetime | None:
    """Answers from this time on are kept; None when all are kept."""
    return now - timedelta(days=config.answer_days) if config.answer_days else None


async def weeks(database: Database) -> Sequence[Week]:
    """The weeks with history buckets, in order."""
    text = """
        SELECT to_date(right(child.relname, 8), 'YYYYMMDD') AS begin,
            sum(greatest(child.reltuples, pg_stat_get_live_tuples(child.oid), 0))
                FILTER (WHERE parent.relname = 'process_instance')::bigint AS process_instances,
            sum(greatest(child.reltuples, pg_stat_get_live_tuples(child.oid), 0))::bigint AS rows,
            sum(pg_total_relation_size(child.oid))::bigint AS size
        FROM pg_inherits
        JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
        WHERE parent.relnamespace = 'history'::regnamespace AND parent.relkind = 'p'
        GROUP BY 1 ORDER BY 1
    """
    return [Week(**row) for row in await database.fetch(text)]


async def answers(database: Database, before: datetime | None) -> tuple[int, int]:
    """The number of stored answers, and how many of them are older than `before`."""
    text = "SELECT count(*), count(*) FILTER (WHERE created_at < $1::timestamptz) FROM gnomon.idempotency"
    (found,) = await database.fetch(text, before)
    return found[0], found[1]
