"""Servicer for deleting deployed resources, and for reading generic resources."""

from dataclasses import replace

import msgspec

from gnomon.engine.v1 import generic_resource_pb2 as entity_pb
from gnomon.engine.v1 import resource_service_pb2 as pb
from server.engine.batch_operations import BatchAction, BatchOperationType
from server.engine.deployment_commands import DeleteResource
from server.engine.keys import Key
from server.partition.config import BatchesConfig
from server.partition.origin import Origin
from server.partition.router import Router
from server.platform.call import Call
from server.platform.errors import PermissionDenied
from server.platform.query import Condition, Operator, Query, equals
from server.rpc.batch_creation import BatchCreation, at_most_of
from server.rpc.origin import origin_of
from server.rpc.reads import found, get
from server.store.entities import GenericResource, ProcessDefinition, ProcessInstanceState
from server.store.ports import Store
from server.store.searchables import PROCESS_INSTANCES

_DELETION = BatchAction(BatchOperationType.DELETE_PROCESS_INSTANCE)
_DELETE_INSTANCES = "instance:delete"
_ENDED = (ProcessInstanceState.COMPLETED, ProcessInstanceState.TERMINATED)


class ResourceServicer:
    def __init__(self, router: Router, store: Store, config: BatchesConfig) -> None:
        self._router = router
        self._store = store
        self._batches = BatchCreation(store, router, config)

    async def get_resource(self, request: pb.GetResourceRequest, call: Call) -> pb.GetResourceResponse:
        """Read a resource, also a deleted one, because a job may still have its key."""
        row = await get(self._store, GenericResource, request.resource_key, call, entity_pb.GenericResource)
        return pb.GetResourceResponse(resource=row)

    async def get_resource_content(
        self, request: pb.GetResourceContentRequest, call: Call
    ) -> pb.GetResourceContentResponse:
        row = await found(self._store, GenericResource, request.resource_key, call)
        return pb.GetResourceContentResponse(content=row.content)

    async def delete_resource(
        self, request: pb.DeleteResourceRequest, call: Call
    ) -> pb.DeleteResourceResponse:
        key, origin = Key(request.resource_key), origin_of(request, call)
        response = pb.DeleteResourceResponse(resource_key=key)
        ended = await self._history(key, call, at_most_of(request)) if request.delete_history else None
        await self._router.submit(DeleteResource(call.tenant_id, key), origin)
        if ended is not None:
            response.batch_operation.MergeFrom(await self._begin_deletion(ended, origin, at_most_of(request)))
        return response

    async def _history(self, key: Key, call: Call, at_most: int | None) -> Query | None:
        """A query for the ended instances of a process definition; None for other resources.

        Raises PermissionDenied, and InvalidArgument for too many instances.
        """
        definition = await self._store.get(ProcessDefinition, key, tenant_id=call.tenant_id)
        if definition is None:
            return None
        _expect_permitted(call)
        ended = _ended_instances_of(key)
        await self._batches.expect_bounded(_DELETION, ended, call.tenant_id, at_most)
        return ended

    async def _begin_deletion(
        self, ended: Query, origin: Origin, at_most: int | None
    ) -> pb.BatchOperationCreated:
        key = await self._batches.begin(_DELETION, ended, _following(origin), at_most)
        return pb.BatchOperationCreated(batch_operation_key=str(key), batch_operation_type=_DELETION.type)


def _following(origin: Origin) -> Origin:
    """The origin of the second command of a call, so that a repeat of the call repeats both commands."""
    first = origin.idempotency
    second = replace(first, key=f"{first.key} history") if first is not None else None
    return msgspec.structs.replace(origin, idempotency=second)


def _expect_permitted(call: Call) -> None:
    """Raises PermissionDenied, because deleting history requires a permission of its own."""
    if _DELETE_INSTANCES not in call.principal.permissions:
        raise PermissionDenied(f"{_DELETE_INSTANCES} is needed", permission=_DELETE_INSTANCES)


def _ended_instances_of(process_definition_key: Key) -> Query:
    return PROCESS_INSTANCES.query(
        equals(PROCESS_INSTANCES, "process_definition_key", process_definition_key),
        Condition(PROCESS_INSTANCES.fields["state"], Operator.IN, _ENDED),
    )
