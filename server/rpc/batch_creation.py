"""Creates and starts batch operations over the process instances that a query finds."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import msgspec

from server.engine import answers
from server.engine.batch_operations import BatchAction, BatchItem, BatchOperationType
from server.engine.commands import (
    AddBatchItems,
    CancelBatchOperation,
    CreateBatchOperation,
    StartBatchOperation,
)
from server.engine.handlers.batch_operation import PAGE_ITEMS
from server.engine.keys import Key
from server.partition.origin import Origin
from server.partition.router import Router
from server.platform.errors import InvalidArgument, ServiceError
from server.platform.query import Condition, Operator, Page, Query, SortKey, Window, equals
from server.platform.query.model import position_reader
from server.store.entities import Incident, IncidentState, ProcessInstance
from server.store.ports import Store
from server.store.searchables import INCIDENTS

MOST_PROCESS_INSTANCES: Final = 100_000
"""Process instances that one batch operation considers."""


class BatchCreation:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

    async def begin(self, action: BatchAction, query: Query, origin: Origin) -> Key:
        """Create a batch operation with an item for each process instance that the query finds, and start it.

        Raises InvalidArgument for too many. The items are searched before and between the commands that add them. A
        caller who repeats the request with its idempotency key goes on where the first call was interrupted.
        """
        pages = self._pages(query, origin.tenant_id)
        first = _bounded(await anext(pages))
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
        """Raises InvalidArgument when the query finds too many, before anything is begun."""
        query = replace(query, window=Window(limit=1))
        _bounded(await self._store.search(ProcessInstance, query, tenant_id=tenant_id))

    async def _pages(self, query: Query, tenant_id: str) -> AsyncIterator[Page[ProcessInstance]]:
        """Pages in the order of the keys; one at least, which may be empty."""
        place_of = position_reader(query.sort)
        query = replace(query, window=Window(limit=PAGE_ITEMS))
        for _ in range(0, MOST_PROCESS_INSTANCES, PAGE_ITEMS):
            page = await self._store.search(ProcessInstance, query, tenant_id=tenant_id)
            after = place_of(page.items[-1]) if len(page.items) == PAGE_ITEMS else None
            yield page
            if after is None:
                return
            query = replace(query, window=Window(limit=PAGE_ITEMS, after=after))

    async def _add(self, page: Page[ProcessInstance], action: BatchAction, key: Key, origin: Origin) -> None:
        """Bring the items of these process instances: themselves, or their incidents."""
        roots = {row.process_instance_key: row.root_process_instance_key for row in page.items}
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

    async def _incidents(self, keys: tuple[Key, ...], tenant_id: str) -> AsyncIterator[Sequence[Incident]]:
        """Pages of the open incidents of these process instances, in the order of their items."""
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
        # The partition that has the batch operation refuses items beyond its bound.
        while rows := (await self._store.search(Incident, query, tenant_id=tenant_id)).items:
            after = place_of(rows[-1])
            yield rows
            query = replace(query, window=Window(limit=PAGE_ITEMS, after=after))


def _bounded(page: Page[ProcessInstance]) -> Page[ProcessInstance]:
    if page.total > MOST_PROCESS_INSTANCES:
        raise InvalidArgument(
            f"filter: expected at most {MOST_PROCESS_INSTANCES} process instances, found {page.total}"
        )
    return page
