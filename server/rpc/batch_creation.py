"""Creates and starts batch operations for the process instances or decision instances that match a query."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, TypeAlias

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
from server.partition.config import MOST_BATCH_ITEMS, BatchesConfig
from server.partition.origin import Origin
from server.partition.router import Router
from server.platform.errors import InvalidArgument, ServiceError
from server.platform.query import Condition, Operator, Page, Query, Related, SortKey, Window, equals
from server.platform.query.model import position_reader
from server.store.entities import DecisionInstance, Incident, IncidentState, ProcessInstance
from server.store.ports import Store
from server.store.searchables import DECISION_INSTANCES, INCIDENTS, PROCESS_INSTANCES

SAMPLE: Final = 20
"""Most keys in a preview."""

Considered: TypeAlias = ProcessInstance | DecisionInstance


class Bounded(Protocol):
    """A request whose caller may change the bound of its batch operation."""

    @property
    def at_most(self) -> int: ...
    def HasField(self, name: Literal["at_most"], /) -> bool: ...  # noqa: N802  # protobuf's name


@dataclass(frozen=True, slots=True)
class Preview:
    """The number of items of a batch operation, and the keys of the first ones."""

    total: int
    keys: Sequence[Key]


class BatchCreation:
    def __init__(self, store: Store, router: Router, config: BatchesConfig) -> None:
        self._store = store
        self._router = router
        self.most_items = config.max_items

    async def begin(
        self, action: BatchAction, query: Query, origin: Origin, at_most: int | None = None
    ) -> Key:
        """Create a batch operation with items for all matches of the query, and start it.

        The query must be one for decision instances if the action deletes these, otherwise one for process
        instances. Raises InvalidArgument for more items than `at_most`, or than the configuration allows. Items are searched before and between the
        commands that add them. A caller that repeats the request with its idempotency key continues where the
        first call was interrupted.
        """
        await self.expect_bounded(action, query, origin.tenant_id, at_most)
        entity = _considered(action.type)
        pages = self._pages(entity, query, origin.tenant_id)
        first = await anext(pages)
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

    async def expect_bounded(
        self, action: BatchAction, query: Query, tenant_id: str, at_most: int | None
    ) -> None:
        """Raises InvalidArgument for more items than `at_most`, or than the configuration allows."""
        total = (await self.preview(action.type, query, tenant_id)).total
        most = self.most_items if at_most is None else at_most
        if total > most:
            remedy = (
                f"narrow the filter, because a batch operation has at most {MOST_BATCH_ITEMS}"
                if total > MOST_BATCH_ITEMS
                else f"narrow the filter, or allow this number with atMost: {total}"
            )
            raise InvalidArgument(
                f"filter: expected at most {most} {_NAMES[action.type]}, found {total}; {remedy}"
            )

    async def preview(self, operation: BatchOperationType, query: Query, tenant_id: str) -> Preview:
        """Count the items, and return the first ones; changes nothing."""
        window = Window(limit=SAMPLE)
        if operation is BatchOperationType.RESOLVE_INCIDENT:
            incidents = await self._store.search(
                Incident, replace(_open_incidents(query), window=window), tenant_id=tenant_id
            )
            return Preview(incidents.total, [row.incident_key for row in incidents.items])
        query = replace(query, window=window)
        if operation is BatchOperationType.DELETE_DECISION_INSTANCE:
            decisions = await self._store.search(DecisionInstance, query, tenant_id=tenant_id)
            keys = dict.fromkeys(row.decision_evaluation_key for row in decisions.items)
            return Preview(decisions.total, [*keys])
        instances = await self._store.search(ProcessInstance, query, tenant_id=tenant_id)
        return Preview(instances.total, [row.process_instance_key for row in instances.items])

    async def _pages(
        self, entity: type[Considered], query: Query, tenant_id: str
    ) -> AsyncIterator[Page[Considered]]:
        """Pages of matches in key order; at least one, which may be empty."""
        place_of = position_reader(query.sort)
        query = replace(query, window=Window(limit=PAGE_ITEMS))
        for _ in range(0, MOST_BATCH_ITEMS, PAGE_ITEMS):
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


def at_most_of(request: Bounded) -> int | None:
    return request.at_most if request.HasField("at_most") else None


def _considered(operation: BatchOperationType) -> type[Considered]:
    is_of_decisions = operation is BatchOperationType.DELETE_DECISION_INSTANCE
    return DecisionInstance if is_of_decisions else ProcessInstance


def _open_incidents(query: Query) -> Query:
    """The open incidents of the process instances that match."""
    key = INCIDENTS.fields["process_instance_key"]
    of_them = Related(key, ProcessInstance, PROCESS_INSTANCES.key.name, query.clauses)
    return INCIDENTS.query(equals(INCIDENTS, "state", IncidentState.ACTIVE), of_them)


_NAMES: Mapping[BatchOperationType, str] = {
    **dict.fromkeys(BatchOperationType, "process instances"),
    BatchOperationType.RESOLVE_INCIDENT: "incidents",
    BatchOperationType.DELETE_DECISION_INSTANCE: "decision instances",
}
