"""Rows of processes that name an erased person, in PostgreSQL.

Partitions write rows of history and of the audit log once, so these statements may run in any process at any time.
"""

from collections.abc import Sequence

from server.engine.keys import Key
from server.platform.postgres.database import Database
from server.store.pseudonyms import ENTRIES, SLICE, ErasedPerson, NamingTask, RewrittenEntries

_NAMED = "(assignee = ANY($2::text[]) OR candidate_users && $2::text[])"
_CANDIDATES = """
    ARRAY(
        SELECT CASE WHEN each = ANY($2::text[]) THEN $3 ELSE each END
        FROM unnest(t.candidate_users) WITH ORDINALITY AS candidate (each, place) ORDER BY place
    )
"""


class PostgresPseudonyms:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def tasks(self, person: ErasedPerson, *, after: Key) -> Sequence[NamingTask]:
        rows = await self._database.fetch(
            f"""
            SELECT user_task_key, assignee, candidate_users FROM runtime.user_task
            WHERE tenant_id = $1 AND {_NAMED} AND user_task_key > $3
            ORDER BY user_task_key LIMIT {SLICE}
            """,  # noqa: S608  # texts of our own
            person.tenant_id,
            list(person.names),
            after,
        )
        named = (
            person.naming_task(Key(row["user_task_key"]), row["assignee"], row["candidate_users"])
            for row in rows
        )
        return [task for task in named if task is not None]

    async def rewrite_tasks(self, person: ErasedPerson) -> int:
        return await self._count(
            f"""
            WITH chosen AS MATERIALIZED (
                SELECT bucket, partition_id, user_task_key FROM history.user_task
                WHERE tenant_id = $1 AND {_NAMED} LIMIT {SLICE}
            ), changed AS (
                UPDATE history.user_task AS t SET
                    assignee = CASE WHEN t.assignee = ANY($2::text[]) THEN $3 ELSE t.assignee END,
                    candidate_users = {_CANDIDATES}
                FROM chosen WHERE t.bucket = chosen.bucket AND t.partition_id = chosen.partition_id
                    AND t.user_task_key = chosen.user_task_key
                RETURNING 1
            )
            SELECT count(*) FROM changed
            """,  # noqa: S608  # texts of our own
            person,
        )

    async def has_unfinished_batch_operation(self, person: ErasedPerson) -> bool:
        found = await self._database.fetch(
            """
            SELECT FROM runtime.batch_operation
            WHERE tenant_id = $1 AND actor_id = ANY($2::text[]) AND end_date IS NULL LIMIT 1
            """,
            person.tenant_id,
            list(person.names),
        )
        return bool(found)

    async def rewrite_batch_operations(self, person: ErasedPerson) -> int:
        return await self._count(
            f"""
            WITH chosen AS MATERIALIZED (
                SELECT partition_id, batch_operation_key FROM runtime.batch_operation
                WHERE tenant_id = $1 AND actor_id = ANY($2::text[]) AND end_date IS NOT NULL LIMIT {SLICE}
            ), changed AS (
                UPDATE runtime.batch_operation AS t SET actor_id = $3
                FROM chosen WHERE t.partition_id = chosen.partition_id
                    AND t.batch_operation_key = chosen.batch_operation_key
                RETURNING 1
            )
            SELECT count(*) FROM changed
            """,  # noqa: S608  # texts of our own
            person,
        )

    async def rewrite_entries(self, person: ErasedPerson, position: str) -> RewrittenEntries:
        partition_id, _, key = position.partition("/")
        user_id = person.names[0]
        (row,) = await self._database.fetch(
            f"""
            WITH seen AS MATERIALIZED (
                SELECT bucket, partition_id, audit_entry_key FROM history.audit_entry
                WHERE (partition_id, audit_entry_key) > ($4::smallint, $5::bigint)
                ORDER BY partition_id, audit_entry_key LIMIT {ENTRIES}
            ), changed AS (
                UPDATE history.audit_entry AS t SET
                    actor_id = CASE
                        WHEN t.actor_id = ANY($2::text[]) THEN $3
                        WHEN starts_with(t.actor_id, $6 || ' as ') THEN $3 || substr(t.actor_id, length($6) + 1)
                        WHEN right(t.actor_id, length($6) + 4) = ' as ' || $6
                            THEN left(t.actor_id, -length($6)) || $3
                        ELSE t.actor_id END,
                    entity_id = CASE WHEN t.entity_type = 'USER' AND t.entity_id = ANY($2::text[])
                        THEN $3 ELSE t.entity_id END,
                    related_entity_id = CASE
                        WHEN t.related_entity_type = 'USER' AND t.related_entity_id = ANY($2::text[])
                        THEN $3 ELSE t.related_entity_id END,
                    detail = regexp_replace(t.detail, $7, $3, 'g')
                FROM seen
                WHERE t.bucket = seen.bucket AND t.partition_id = seen.partition_id
                    AND t.audit_entry_key = seen.audit_entry_key AND t.tenant_id = $1
                    AND (
                        t.actor_id = ANY($2::text[]) OR starts_with(t.actor_id, $6 || ' as ')
                        OR right(t.actor_id, length($6) + 4) = ' as ' || $6
                        OR t.entity_type = 'USER' AND t.entity_id = ANY($2::text[])
                        OR t.related_entity_type = 'USER' AND t.related_entity_id = ANY($2::text[])
                        OR t.detail ~ $7
                    )
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM changed) AS changed, (SELECT count(*) FROM seen) AS seen,
                last.partition_id, last.audit_entry_key
            FROM (SELECT 1) AS one LEFT JOIN (
                SELECT partition_id, audit_entry_key FROM seen
                ORDER BY partition_id DESC, audit_entry_key DESC LIMIT 1
            ) AS last ON true
            """,  # noqa: S608  # texts of our own
            person.tenant_id,
            list(person.names),
            person.pseudonym,
            int(partition_id or "-1"),
            int(key or "0"),
            user_id,
            person.pattern,
        )
        is_last = row["seen"] < ENTRIES
        return RewrittenEntries(
            row["changed"], None if is_last else f"{row['partition_id']}/{row['audit_entry_key']}"
        )

    async def _count(self, statement: str, person: ErasedPerson) -> int:
        (row,) = await self._database.fetch(statement, person.tenant_id, list(person.names), person.pseudonym)
        count: int = row["count"]
        return count
