"""Rows of processes that name an erased person, in memory."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter

from server.engine.keys import Key
from server.platform.call import USER
from server.store.entities import AuditEntry, BatchOperation, UserTask
from server.store.memory import MemoryStore
from server.store.ports import Batch, Update
from server.store.pseudonyms import ENTRIES, SLICE, ErasedPerson, NamingTask, RewrittenEntries


class MemoryPseudonyms:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def tasks(self, person: ErasedPerson, *, after: Key) -> Sequence[NamingTask]:
        rows = self._store.rows(UserTask, person.tenant_id)
        first = bisect_right(rows, after, key=attrgetter("user_task_key"))
        named = (_naming(person, row) for row in rows[first:] if row.completion_date is None)
        return list(islice((task for task in named if task is not None), SLICE))

    async def rewrite_tasks(self, person: ErasedPerson) -> int:
        ended = (row for row in self._store.rows(UserTask, person.tenant_id) if row.completion_date)
        named = ((row, task) for row in ended if (task := _naming(person, row)) is not None)
        changes = [
            Update(UserTask, row.user_task_key, dict(_without_person(person, row, task)))
            for row, task in islice(named, SLICE)
        ]
        await self._store.commit(Batch([*changes]))
        return len(changes)

    async def has_unfinished_batch_operation(self, person: ErasedPerson) -> bool:
        rows = self._store.rows(BatchOperation, person.tenant_id)
        return any(row.end_date is None and row.actor_id in person.names for row in rows)

    async def rewrite_batch_operations(self, person: ErasedPerson) -> int:
        rows = [row for row in self._store.rows(BatchOperation, person.tenant_id) if row.end_date]
        changes = [
            Update(BatchOperation, row.batch_operation_key, {"actor_id": person.pseudonym})
            for row in islice((row for row in rows if row.actor_id in person.names), SLICE)
        ]
        await self._store.commit(Batch([*changes]))
        return len(changes)

    async def rewrite_entries(self, person: ErasedPerson, position: str) -> RewrittenEntries:
        rows = self._store.rows(AuditEntry, person.tenant_id)
        first = bisect_right(rows, int(position or "0"), key=attrgetter("audit_entry_key"))
        seen = rows[first : first + ENTRIES]
        changes = [
            Update(AuditEntry, row.audit_entry_key, values)
            for row in seen
            if (values := _changed_values(person, row))
        ]
        await self._store.commit(Batch([*changes]))
        is_last = len(seen) < ENTRIES
        return RewrittenEntries(len(changes), None if is_last else str(seen[-1].audit_entry_key))


def _naming(person: ErasedPerson, row: UserTask) -> NamingTask | None:
    return person.naming_task(row.user_task_key, row.assignee, row.candidate_users)


def _without_person(person: ErasedPerson, row: UserTask, task: NamingTask) -> Iterator[tuple[str, object]]:
    if task.is_assigned:
        yield "assignee", person.pseudonym
    if task.candidate_users:
        yield "candidate_users", tuple(person.replaced(row.candidate_users))


def _changed_values(person: ErasedPerson, row: AuditEntry) -> Mapping[str, object]:
    entity_id, related_id, detail = row.entity_id, row.related_entity_id, row.detail
    if row.entity_type == USER and entity_id in person.names:
        entity_id = person.pseudonym
    if row.related_entity_type == USER and related_id in person.names:
        related_id = person.pseudonym
    if detail is not None:
        detail = re.sub(person.pattern, person.pseudonym, detail)
    values = {
        "actor_id": _actor(person, row.actor_id),
        "entity_id": entity_id,
        "related_entity_id": related_id,
        "detail": detail,
    }
    return {name: value for name, value in values.items() if value != getattr(row, name)}


def _actor(person: ErasedPerson, actor_id: str) -> str:
    """Return the actor with the pseudonym, also of what a support person did."""
    if actor_id in person.names:
        return person.pseudonym
    acting, apart, subject = actor_id.partition(" as ")
    parts = [person.pseudonym if each == person.names[0] else each for each in (acting, subject)]
    return apart.join(parts) if apart else actor_id
