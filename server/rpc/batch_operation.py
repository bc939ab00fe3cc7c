"""Servicer for creating, reading and controlling batch operations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from gnomon.engine.v1 import batch_operation_pb2 as entity_pb
from gnomon.engine.v1 import batch_operation_service_pb2 as pb
from server.engine.batch_commands import CancelBatchOperation, ResumeBatchOperation, SuspendBatchOperation
from server.engine.batch_operations import BatchAction, BatchOperationType, ElementPair
from server.engine.keys import Key, partition_of
from server.partition.config import BatchesConfig
from server.partition.router import Router
from server.platform.call import Call
from server.platform.errors import InvalidArgument, PermissionDenied
from server.platform.interceptors import is_authorized
from server.platform.mapping import mapper
from server.platform.query import (
    AnyOf,
    Condition,
    Operator,
    Query,
    Related,
    equals,
    parse,
    parse_selection,
)
from server.rpc.batch_creation import BatchCreation, at_most_of
from server.rpc.origin import origin_of
from server.rpc.reads import bounded, found, search
from server.store.entities import (
    BatchOperation,
    ProcessInstance,
    ProcessInstanceState,
)
from server.store.ports import Store
from server.store.searchables import (
    BATCH_OPERATION_ITEMS,
    BATCH_OPERATIONS,
    DECISION_INSTANCES,
    PROCESS_INSTANCES,
)

QUERY_FAILED = "QUERY_FAILED"

_PERMISSIONS: Mapping[BatchOperationType, str] = {
    BatchOperationType.CANCEL_PROCESS_INSTANCE: "instance:cancel",
    BatchOperationType.MIGRATE_PROCESS_INSTANCE: "instance:migrate",
    BatchOperationType.MODIFY_PROCESS_INSTANCE: "instance:modify",
    BatchOperationType.RESOLVE_INCIDENT: "incident:resolve",
    BatchOperationType.DELETE_PROCESS_INSTANCE: "instance:delete",
    BatchOperationType.DELETE_DECISION_INSTANCE: "instance:delete",
    BatchOperationType.ERASE_VARIABLES: "variable:erase",
}

_IS_ACTIVE = equals(PROCESS_INSTANCES, "state", ProcessInstanceState.ACTIVE)
_HAS_INCIDENT = equals(PROCESS_INSTANCES, "has_incident", value=True)
_IS_NOT_CALLED = Condition(
    PROCESS_INSTANCES.fields["parent_process_instance_key"], Operator.EXISTS, False
)  # operand

_IS_CALLED = Condition(
    PROCESS_INSTANCES.fields["parent_process_instance_key"], Operator.EXISTS, True
)  # operand

# Further conditions on the process instances of an operation.
_CONSIDERED: Mapping[BatchOperationType, Sequence[Condition]] = {
    BatchOperationType.CANCEL_PROCESS_INSTANCE: (_IS_ACTIVE, _IS_NOT_CALLED),
    BatchOperationType.MIGRATE_PROCESS_INSTANCE: (_IS_ACTIVE,),
    BatchOperationType.MODIFY_PROCESS_INSTANCE: (_IS_ACTIVE,),
    BatchOperationType.RESOLVE_INCIDENT: (_IS_ACTIVE, _HAS_INCIDENT),
}
_TYPE_PREFIX = "BATCH_OPERATION_TYPE_"

_Creation = (
    pb.CancelProcessInstancesBatchOperationRequest
    | pb.DeleteProcessInstancesBatchOperationRequest
    | pb.DeleteDecisionInstancesBatchOperationRequest
    | pb.MigrateProcessInstancesBatchOperationRequest
    | pb.ModifyProcessInstancesBatchOperationRequest
    | pb.ResolveIncidentsBatchOperationRequest
    | pb.EraseVariablesBatchOperationRequest
)

_mapped = mapper(
    BatchOperation, entity_pb.BatchOperation, ignored=frozenset({"batch_operation_type", "errors"})
)


class BatchOperationServicer:
    def __init__(self, store: Store, router: Router, config: BatchesConfig) -> None:
        self._store = store
        self._router = router
        self._creation = BatchCreation(store, router, config)

    # Creation

    async def cancel_process_instances_batch_operation(
        self, request: pb.CancelProcessInstancesBatchOperationRequest, call: Call
    ) -> pb.CancelProcessInstancesBatchOperationResponse:
        action = BatchAction(BatchOperationType.CANCEL_PROCESS_INSTANCE)
        key = await self._begin(action, request, call)
        return pb.CancelProcessInstancesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def delete_process_instances_batch_operation(
        self, request: pb.DeleteProcessInstancesBatchOperationRequest, call: Call
    ) -> pb.DeleteProcessInstancesBatchOperationResponse:
        action = BatchAction(BatchOperationType.DELETE_PROCESS_INSTANCE)
        key = await self._begin(action, request, call)
        return pb.DeleteProcessInstancesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def delete_decision_instances_batch_operation(
        self, request: pb.DeleteDecisionInstancesBatchOperationRequest, call: Call
    ) -> pb.DeleteDecisionInstancesBatchOperationResponse:
        action = BatchAction(BatchOperationType.DELETE_DECISION_INSTANCE)
        key = await self._begin(action, request, call)
        return pb.DeleteDecisionInstancesBatchOperationResponse(
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
        key = await self._begin(action, request, call)
        return pb.MigrateProcessInstancesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def modify_process_instances_batch_operation(
        self, request: pb.ModifyProcessInstancesBatchOperationRequest, call: Call
    ) -> pb.ModifyProcessInstancesBatchOperationResponse:
        pairs = _pairs(request.move_instructions)
        action = BatchAction(BatchOperationType.MODIFY_PROCESS_INSTANCE, element_pairs=pairs)
        key = await self._begin(action, request, call)
        return pb.ModifyProcessInstancesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def resolve_incidents_batch_operation(
        self, request: pb.ResolveIncidentsBatchOperationRequest, call: Call
    ) -> pb.ResolveIncidentsBatchOperationResponse:
        action = BatchAction(BatchOperationType.RESOLVE_INCIDENT)
        key = await self._begin(action, request, call)
        return pb.ResolveIncidentsBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def erase_variables_batch_operation(
        self, request: pb.EraseVariablesBatchOperationRequest, call: Call
    ) -> pb.EraseVariablesBatchOperationResponse:
        names = tuple(dict.fromkeys(request.variable_names))
        action = BatchAction(BatchOperationType.ERASE_VARIABLES, variable_names=names)
        key = await self._begin(action, request, call)
        return pb.EraseVariablesBatchOperationResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def resolve_process_instance_incidents(
        self, request: pb.ResolveProcessInstanceIncidentsRequest, call: Call
    ) -> pb.ResolveProcessInstanceIncidentsResponse:
        row = await found(self._store, ProcessInstance, request.process_instance_key, call)
        action = BatchAction(BatchOperationType.RESOLVE_INCIDENT)
        is_it = equals(PROCESS_INSTANCES, "process_instance_key", row.process_instance_key)
        query = parse(PROCESS_INSTANCES, request, also=(is_it, _IS_ACTIVE, _HAS_INCIDENT))
        key = await self._creation.begin(action, query, origin_of(request, call))
        return pb.ResolveProcessInstanceIncidentsResponse(
            batch_operation_key=key, batch_operation_type=_type(action.type)
        )

    async def _begin(self, action: BatchAction, request: _Creation, call: Call) -> Key:
        """Create a batch operation for the matches of the request's filter."""
        query = _selection(action.type, request)
        return await self._creation.begin(action, query, origin_of(request, call), at_most_of(request))

    async def preview_batch_operation(
        self, request: pb.PreviewBatchOperationRequest, call: Call
    ) -> pb.PreviewBatchOperationResponse:
        """Raises PermissionDenied for a caller who may not create the batch operation."""
        name = entity_pb.BatchOperationType.Name(request.batch_operation_type)
        operation = BatchOperationType(name.removeprefix(_TYPE_PREFIX))
        _expect_permission(operation, call)
        is_of_decisions = operation is BatchOperationType.DELETE_DECISION_INSTANCE
        if request.HasField("filter") if is_of_decisions else request.HasField("decision_instance_filter"):
            named = "decisionInstanceFilter" if is_of_decisions else "filter"
            raise InvalidArgument(f"{operation} has {named} alone")
        selecting: _Creation = (
            pb.DeleteDecisionInstancesBatchOperationRequest(filter=request.decision_instance_filter)
            if is_of_decisions
            else pb.CancelProcessInstancesBatchOperationRequest(filter=request.filter)
        )
        found = await self._creation.preview(operation, _selection(operation, selecting), call.tenant_id)
        return pb.PreviewBatchOperationResponse(
            total_items=found.total, sample_keys=found.keys, at_most=self._creation.most_items
        )

    # Control

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
        """Raises NotFound, and PermissionDenied for a caller who may not create this type of batch operation."""
        row = await found(self._store, BatchOperation, key, call)
        _expect_permission(row.operation_type, call)
        return row.batch_operation_key

    # Reads

    async def search_batch_operations(
        self, request: pb.SearchBatchOperationsRequest, call: Call
    ) -> pb.SearchBatchOperationsResponse:
        page = await self._store.search(
            BatchOperation, bounded(parse(BATCH_OPERATIONS, request)), tenant_id=call.tenant_id
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


def _expect_permission(operation: BatchOperationType, call: Call) -> None:
    permission = _PERMISSIONS[operation]
    # An authorization for batch operations covers all types.
    if permission not in call.principal.permissions and not is_authorized(call):
        raise PermissionDenied(f"{permission} is needed", permission=permission)


def _selection(operation: BatchOperationType, request: _Creation) -> Query:
    """A query for the entities whose items the batch operation has; raises InvalidArgument."""
    if operation is BatchOperationType.DELETE_DECISION_INSTANCE:
        return parse_selection(DECISION_INSTANCES, request)
    query = parse_selection(PROCESS_INSTANCES, request, also=_CONSIDERED.get(operation, ()))
    return _with_called(query) if operation is BatchOperationType.ERASE_VARIABLES else query


def _with_called(query: Query) -> Query:
    """Include all process instances that the matching ones called, directly or not."""
    root = PROCESS_INSTANCES.fields["root_process_instance_key"]
    called = (_IS_CALLED, Related(root, ProcessInstance, PROCESS_INSTANCES.key.name, query.clauses))
    return replace(query, clauses=(AnyOf((query.clauses, called)),))


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
    return entity_pb.BatchOperationType.Value(f"{_TYPE_PREFIX}{operation_type}")
