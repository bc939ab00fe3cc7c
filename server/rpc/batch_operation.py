"""Begins, reads and steers batch operations."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, Protocol

import msgspec
from google.protobuf.message import Message

from gnomon.engine.v1 import batch_operation_pb2 as entity_pb
from gnomon.engine.v1 import batch_operation_service_pb2 as pb
from server.engine import answers
from server.engine.batch_operations import BatchAction, BatchItem, BatchOperationType, ElementPair
from server.engine.commands import (
    AddBatchItems,
    CancelBatchOperation,
    CreateBatchOperation,
    ResumeBatchOperation,
    StartBatchOperation,
    SuspendBatchOperation,
)
from server.engine.handlers.batch_operation import PAGE_ITEMS
from server.engine.keys import Key, partition_of
from server.partition.origin import Origin
from server.partition.router import Router
from server.platform.call import Call
from server.platform.errors import InvalidArgument, PermissionDenied, ServiceError
from server.platform.mapping import mapper
from server.platform.query import Condition, Operator, Page, SortKey, Window, equals, parse
from server.platform.query.model import position_reader
from server.rpc.origin import origin_of
from server.rpc.searching import found, search
from server.store.entities import (
    BatchOperation,
    Incident,
    IncidentState,
    ProcessInstance,
    ProcessInstanceState,
)
from server.store.ports import Store
from server.store.searchables import BATCH_OPERATION_ITEMS, BATCH_OPERATIONS, INCIDENTS, PROCESS_INSTANCES

MOST_PROCESS_INSTANCES: Final = 100_000
"""Process instances that one batch operation considers."""

QUERY_FAILED = "QUERY_FAILED"

_PERMISSIONS: Mapping[BatchOperationType, str] = {
    BatchOperationType.CANCEL_PROCESS_INSTANCE: "instance:cancel",
    BatchOperationType.MIGRATE_PROCESS_INSTANCE: "instance:migrate",
    BatchOperationType.MODIFY_PROCESS_INSTANCE: "instance:modify",
    BatchOperationType.RESOLVE_INCIDENT: "incident:resolve",
    BatchOperationType.DELETE_PROCESS_INSTANCE: "instance:delete",
}

_IS_ACTIVE = equals(PROCESS_INSTANCES, "state", ProcessInstanceState.ACTIVE)
_HAS_INCIDENT = equals(PROCESS_INSTANCES, "has_incident", value=True)
_IS_NOT_CALLED = Condition(
    PROCESS_INSTANCES.fields["parent_process_instance_key"], Operator.EXISTS, False
)  # the operand

_mapped = mapper(
    BatchOperation, entity_pb.BatchOperation, ignored=frozenset({"batch_operation_type", "errors"})
)


class BatchOperationServicer:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

    # Begin

    async def cancel_process_instances_batch_operation(
        self, request: pb.CancelProcessInstancesBatchOperationRequest, call: Call
    ) -> pb.CancelProcessInstancesBatchOperationResponse:
        action = BatchAction(BatchOperationType.CANCEL_PROCESS_INSTANCE)
        key = await self._begin(action, request, call, (_IS_ACTIVE, _IS_NOT_CALLED))
        return pb.CancelProcessInstancesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def delete_process_instances_batch_operation(
        self, request: pb.DeleteProcessInstancesBatchOperationRequest, call: Call
    ) -> pb.DeleteProcessInstancesBatchOperationResponse:
        action = BatchAction(BatchOperationType.DELETE_PROCESS_INSTANCE)
        key = await self._begin(action, request, call, ())
        return pb.DeleteProcessInstancesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def migrate_process_instances_batch_operation(
        self, request: pb.MigrateProcessInstancesBatchOperationRequest, call: Call
    ) -> pb.MigrateProcessInstancesBatchOperationResponse:
        plan = request.migration_plan
        action = BatchAction(
            BatchOperationType.MIGRATE_PROCESS_INSTANCE,
            Key(plan.target_process_definition_key),
            _pairs(plan.mapping_instructions),
        )
        key = await self._begin(action, request, call, (_IS_ACTIVE,))
        return pb.MigrateProcessInstancesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def modify_process_instances_batch_operation(
        self, request: pb.ModifyProcessInstancesBatchOperationRequest, call: Call
    ) -> pb.ModifyProcessInstancesBatchOperationResponse:
        pairs = _pairs(request.move_instructions)
        action = BatchAction(BatchOperationType.MODIFY_PROCESS_INSTANCE, element_pairs=pairs)
        key = await self._begin(action, request, call, (_IS_ACTIVE,))
        return pb.ModifyProcessInstancesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def resolve_incidents_batch_operation(
        self, request: pb.ResolveIncidentsBatchOperationRequest, call: Call
    ) -> pb.ResolveIncidentsBatchOperationResponse:
        action = BatchAction(BatchOperationType.RESOLVE_INCIDENT)
        key = await self._begin(action, request, call, (_IS_ACTIVE, _HAS_INCIDENT))
        return pb.ResolveIncidentsBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def resolve_process_instance_incidents(
        self, request: pb.ResolveProcessInstanceIncidentsRequest, call: Call
    ) -> pb.ResolveProcessInstanceIncidentsResponse:
        row = await found(self._store, ProcessInstance, request.process_instance_key, call)
        action = BatchAction(BatchOperationType.RESOLVE_INCIDENT)
        is_it = equals(PROCESS_INSTANCES, "process_instance_key", row.process_instance_key)
        key = await self._begin(action, request, call, (is_it, _IS_ACTIVE, _HAS_INCIDENT))
        return pb.ResolveProcessInstanceIncidentsResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def _begin(
        self, action: BatchAction, request: Message, call: Call, also: Sequence[Condition]
    ) -> Key:
        """Create a batch operation with an item for each match of the request's filter, and start it.

        The items are searched before and between the commands that add them. A caller who repeats the request with its
        idempotency key goes on where the first call was interrupted.
        """
        pages = self._matches(request, call, also)
        first = await anext(pages)
        if first.total > MOST_PROCESS_INSTANCES:
            raise InvalidArgument(
                f"filter: expected at most {MOST_PROCESS_INSTANCES} process instances, found {first.total}"
            )
        origin = origin_of(request, call)
        answer = await self._router.submit(CreateBatchOperation(call.tenant_id, action), origin)
        assert isinstance(answer, answers.BatchOperationCreated)  # noqa: S101  # what the handler answers
        following = msgspec.structs.replace(origin, idempotency=None)
        try:
            await self._add(first, action, answer.key, following)
            async for page in pages:
                await self._add(page, action, answer.key, following)
        except ServiceError:
            with suppress(ServiceError):
                await self._router.submit(CancelBatchOperation(call.tenant_id, answer.key), following)
            raise
        await self._router.submit(StartBatchOperation(call.tenant_id, answer.key), following)
        return answer.key

    async def _matches(
        self, request: Message, call: Call, also: Sequence[Condition]
    ) -> AsyncIterator[Page[ProcessInstance]]:
        """Pages in the order of the keys; one at least, which may be empty."""
        query = parse(PROCESS_INSTANCES, request, also=also)
        place_of = position_reader(query.sort)
        query = replace(query, window=Window(limit=PAGE_ITEMS))
        for _ in range(0, MOST_PROCESS_INSTANCES, PAGE_ITEMS):
            page = await self._store.search(ProcessInstance, query, tenant_id=call.tenant_id)
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

    # Steer

    async def suspend_batch_operation(
        self, request: pb.SuspendBatchOperationRequest, call: Call
    ) -> pb.SuspendBatchOperationResponse:
        key = await self._expect_permitted(request.batch_operation_key, call)
        await self._router.submit(SuspendBatchOperation(call.tenant_id, key), origin_of(request, call))
        return pb.SuspendBatchOperationResponse()

    async def resume_batch_operation(
        self, request: pb.ResumeBatchOperationRequest, call: Call
    ) -> pb.ResumeBatchOperationResponse:
        key = await self._expect_permitted(request.batch_operation_key, call)
        await self._router.submit(ResumeBatchOperation(call.tenant_id, key), origin_of(request, call))
        return pb.ResumeBatchOperationResponse()

    async def cancel_batch_operation(
        self, request: pb.CancelBatchOperationRequest, call: Call
    ) -> pb.CancelBatchOperationResponse:
        key = await self._expect_permitted(request.batch_operation_key, call)
        await self._router.submit(CancelBatchOperation(call.tenant_id, key), origin_of(request, call))
        return pb.CancelBatchOperationResponse()

    async def _expect_permitted(self, key: int, call: Call) -> Key:
        """Raises NotFound, and PermissionDenied for a caller who may not begin such a batch operation."""
        row = await found(self._store, BatchOperation, key, call)
        permission = _PERMISSIONS[row.operation_type]
        if permission not in call.principal.permissions:
            raise PermissionDenied(f"{permission} is needed", permission=permission)
        return row.batch_operation_key

    # Read

    async def search_batch_operations(
        self, request: pb.SearchBatchOperationsRequest, call: Call
    ) -> pb.SearchBatchOperationsResponse:
        page = await self._store.search(
            BatchOperation, parse(BATCH_OPERATIONS, request), tenant_id=call.tenant_id
        )
        response = pb.SearchBatchOperationsResponse(items=map(_batch_operation, page.items))
        response.page.total_items = page.total
        if page.start_cursor is not None and page.end_cursor is not None:
            response.page.start_cursor, response.page.end_cursor = page.start_cursor, page.end_cursor
        return response

    async def get_batch_operation(
        self, request: pb.GetBatchOperationRequest, call: Call
    ) -> pb.GetBatchOperationResponse:
        row = await found(self._store, BatchOperation, request.batch_operation_key, call)
        return pb.GetBatchOperationResponse(batch_operation=_batch_operation(row))

    async def search_batch_operation_items(
        self, request: pb.SearchBatchOperationItemsRequest, call: Call
    ) -> pb.SearchBatchOperationItemsResponse:
        return await search(
            self._store, BATCH_OPERATION_ITEMS, request, pb.SearchBatchOperationItemsResponse, call
        )


class _Pair(Protocol):
    @property
    def source_element_id(self) -> str: ...
    @property
    def target_element_id(self) -> str: ...


def _pairs(instructions: Iterable[_Pair]) -> tuple[ElementPair, ...]:
    return tuple(ElementPair(each.source_element_id, each.target_element_id) for each in instructions)


def _batch_operation(row: BatchOperation) -> entity_pb.BatchOperation:
    batch_operation = _mapped(row)
    batch_operation.batch_operation_type = _type(row.operation_type)
    if row.failure is not None:
        batch_operation.errors.add(
            partition_id=partition_of(row.batch_operation_key), type=QUERY_FAILED, message=row.failure
        )
    return batch_operation


def _type(operation_type: str) -> entity_pb.BatchOperationType.ValueType:
    return entity_pb.BatchOperationType.Value(f"BATCH_OPERATION_TYPE_{operation_type}")
