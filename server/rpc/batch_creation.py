"""Creates and starts batch operations for the process instances or decision instances that match a query."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeAlias

import msgspec

from server.engine import answers
from server.engine.batch_commands import (
    AddBatchItems,
    CancelBatchOperation,
    CreateBatchOperation,
    StartBatchOperation,
)
from server.engine.batch_operations import BatchAction, BatchItem, BatchOperationType
from server.engine.handlers.batch_operation import PAGE_ITEMS
from server.engine.keys import Key
from server.partition.origin import Origin
from server.partition.router import Router
from server.platform.errors import InvalidArgument, ServiceError
from server.platform.query import Condition, Operator, Page, Query, SortKey, Window, equals
from server.platform.query.model import position_reader
from server.store.entities import DecisionInstance, Incident, IncidentState, ProcessInstance
from server.store.ports import Store
from server.store.searchables import DECISION_INSTANCES, INCIDENTS

MOST_PROCESS_INSTANCES: Final = 100_000
"""Most process instances, or decision instances, in one batch operation."""

Considered: TypeAlias = ProcessInstance | DecisionInstance


class BatchCreation:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

    async def begin(self, action: BatchAction, query: Query, origin: Origin) -> Key:
        """Create a batch operation with items for all matches of the query, and start it.

        The query must be one for decision instances if the action deletes these, otherwise one for process
        instances. Raises InvalidArgument for too many matches. Items are searched before and between the
        commands that add them. A caller that repeats the request with its idempotency key continues where the
        first call was interrupted.
        """
        entity = _considered(action)
        pages = self._pages(entity, query, origin.tenant_id)
        first = await anext(pages)
        _expect_bounded(first.total, entity)
        answer = await self._router.submit(CreateBatchOperation(origin.tenant_id, action), origin)
        assert isinstance(answer, answers.BatchOperationCreated)  # noqa: S101  # what the handler answers
        following = msgspec.structs.replace(origin, idempotency=None)
        try:
            await self._add(first, action, answer.key, following)
            async for page in pages:
                await self._add(page, action, answer.key, following)
        except ServiceError:
            with suppress(ServiceError):
                await self._router.submit(CancelBatchOperation(origin.tenant_id, answer.key), following)
            raise
        await self._router.submit(StartBatchOperation(origin.tenant_id, answer.key), following)
        return answer.key

    async def expect_bounded(self, query: Query, tenant_id: str) -> None:
        """Raises InvalidArgument when the query has too many matches."""
        query = replace(query, window=Window(limit=1))
        page = await self._store.search(ProcessInstance, query, tenant_id=tenant_id)
        _expect_bounded(page.total, ProcessInstance)

    async def _pages(
        self, entity: type[Considered], query: Query, tenant_id: str
    ) -> AsyncIterator[Page[Considered]]:
        """Pages of matches in key order; at least one, which may be empty."""
        place_of = position_reader(query.sort)
        query = replace(query, window=Window(limit=PAGE_ITEMS))
        for _ in range(0, MOST_PROCESS_INSTANCES, PAGE_ITEMS):
            page = await self._store.search(entity, query, tenant_id=tenant_id)
            after = place_of(page.items[-1]) if len(page.items) == PAGE_ITEMS else None
            yield page
            if after is None:
                return
            query = replace(query, window=Window(limit=PAGE_ITEMS, after=after))

    async def _add(self, page: Page[Considered], action: BatchAction, key: Key, origin: Origin) -> None:
        """Add the items for these rows: process instances, their incidents, or decision evaluations."""
        if action.type is BatchOperationType.DELETE_DECISION_INSTANCE:
            found = (row.decision_evaluation_key for row in page.items if isinstance(row, DecisionInstance))
            await self._bring(await self._evaluations(found, origin.tenant_id), key, origin)
            return
        instances = (row for row in page.items if isinstance(row, ProcessInstance))
        roots = {row.process_instance_key: row.root_process_instance_key for row in instances}
        if action.type is not BatchOperationType.RESOLVE_INCIDENT:
            items = tuple(BatchItem(each, each, root) for each, root in roots.items())
            await self._bring(items, key, origin)
            return
        async for rows in self._incidents(tuple(roots), origin.tenant_id):
            items = tuple(
                BatchItem(row.incident_key, row.process_instance_key, roots[row.process_instance_key])
                for row in rows
            )
            await self._bring(items, key, origin)

    async def _bring(self, items: tuple[BatchItem, ...], key: Key, origin: Origin) -> None:
        if items:
            await self._router.submit(AddBatchItems(origin.tenant_id, key, items), origin)

    async def _evaluations(self, found: Iterable[Key], tenant_id: str) -> tuple[BatchItem, ...]:
        """Items of these evaluations, each with the last place of its stored decisions."""
        keys = tuple(dict.fromkeys(found))
        if not keys:
            return ()
        of_them = Condition(DECISION_INSTANCES.fields["decision_evaluation_key"], Operator.IN, keys)
        query = DECISION_INSTANCES.query(
            of_them, sort=(SortKey(DECISION_INSTANCES.key),), window=Window(limit=PAGE_ITEMS)
        )
        place_of, last_places = position_reader(query.sort), defaultdict[Key, int](int)
        while rows := (await self._store.search(DecisionInstance, query, tenant_id=tenant_id)).items:
            for row in rows:
                key = row.decision_evaluation_key
                last_places[key] = row.decision_instance_key - key
            query = replace(query, window=Window(limit=PAGE_ITEMS, after=place_of(rows[-1])))
        return tuple(BatchItem(key, None, last_place=last) for key, last in last_places.items())

    async def _incidents(self, keys: tuple[Key, ...], tenant_id: str) -> AsyncIterator[Sequence[Incident]]:
        """Pages of the open incidents of these process instances, in the order of batch items."""
        if not keys:
            return
        of_them = Condition(INCIDENTS.fields["process_instance_key"], Operator.IN, keys)
        query = INCIDENTS.query(
            of_them,
            equals(INCIDENTS, "state", IncidentState.ACTIVE),
            sort=(SortKey(INCIDENTS.fields["process_instance_key"]),),
            window=Window(limit=PAGE_ITEMS),
        )
        place_of = position_reader(query.sort)
        # The partition of the batch operation refuses items beyond its bound.
        while rows := (await self._store.search(Incident, query, tenant_id=tenant_id)).items:
            after = place_of(rows[-1])
            yield rows
            query = replace(query, window=Window(limit=PAGE_ITEMS, after=after))


def _considered(action: BatchAction) -> type[Considered]:
    is_of_decisions = action.type is BatchOperationType.DELETE_DECISION_INSTANCE
    return DecisionInstance if is_of_decisions else ProcessInstance


def _expect_bounded(total: int, entity: type[Considered]) -> None:
    if total > MOST_PROCESS_INSTANCES:
        named = "decision instances" if entity is DecisionInstance else "process instances"
        raise InvalidArgument(f"filter: expected at most {MOST_PROCESS_INSTANCES} {named}, found {total}")
