"""Starts, reads, cancels, deletes, migrates and modifies process instances."""

from google.rpc.status_pb2 import Status

from gnomon.engine.v1 import process_instance_pb2 as entity_pb
from gnomon.engine.v1 import process_instance_service_pb2 as pb
from server.engine.answers import CreatedInstance
from server.engine.events import InstanceHead
from server.engine.keys import Key
from server.engine.process_instance_commands import (
    CancelProcessInstance,
    CreateProcessInstance,
    DeleteProcessInstance,
)
from server.engine.variables import join
from server.partition.config import InstancesConfig
from server.partition.router import Router
from server.platform.call import Call
from server.platform.dispatch import Refused, unnoticed
from server.platform.policy import policy_of
from server.platform.query import equals
from server.rpc.migration import migration_of
from server.rpc.modification import modification_of
from server.rpc.origin import origin_of
from server.rpc.parts import outcomes_of
from server.rpc.reads import found, get, search
from server.rpc.statistics import counted_elements
from server.rpc.variables import variables_of
from server.store.entities import ProcessInstance, Variable
from server.store.ports import Store
from server.store.searchables import ELEMENT_INSTANCES, PROCESS_INSTANCES, VARIABLES
from server.store.statistics import TAKEN_SEQUENCE_FLOWS

LATEST = -1

_CREATE_PROCESS_INSTANCE = policy_of(
    pb.DESCRIPTOR.services_by_name["ProcessInstanceService"].methods_by_name["CreateProcessInstance"]
)


class ProcessInstanceServicer:
    """Servicer for process instances; `refused` is called for each part of a multi-command call that no partition received."""

    def __init__(
        self, store: Store, router: Router, config: InstancesConfig, *, refused: Refused = unnoticed
    ) -> None:
        self._store = store
        self._router = router
        self._config = config
        self._refused = refused

    async def create_process_instance(
        self, request: pb.CreateProcessInstanceRequest, call: Call
    ) -> pb.CreateProcessInstanceResponse:
        answer = await self._router.submit(_command(request, call), origin_of(request, call))
        assert isinstance(answer, CreatedInstance)  # noqa: S101  # what the handler answers
        variables = await self._result(request, answer.head, call) if request.await_completion else b"{}"
        return _created(answer.head, variables)

    async def create_process_instances(
        self, request: pb.CreateProcessInstancesRequest, call: Call
    ) -> pb.CreateProcessInstancesResponse:
        outcomes = await outcomes_of(
            request.creations,
            call,
            _CREATE_PROCESS_INSTANCE,
            serve=self.create_process_instance,
            refused=self._refused,
        )
        return pb.CreateProcessInstancesResponse(outcomes=map(_outcome, outcomes))

    async def _result(
        self, request: pb.CreateProcessInstanceRequest, head: InstanceHead, call: Call
    ) -> bytes:
        seconds = request.request_timeout / 1000 or self._config.await_completion_seconds
        async with await call.waiting():
            await self._router.await_completion(head.key, head.tenant_id, seconds)
        query = VARIABLES.query(equals(VARIABLES, "scope_key", head.key))
        page = await self._store.search(Variable, query, tenant_id=head.tenant_id)
        wanted = set(request.fetch_variables)
        return join({row.name: row.value for row in page.items if not wanted or row.name in wanted})

    async def search_process_instances(
        self, request: pb.SearchProcessInstancesRequest, call: Call
    ) -> pb.SearchProcessInstancesResponse:
        return await search(self._store, PROCESS_INSTANCES, request, pb.SearchProcessInstancesResponse, call)

    async def get_process_instance(
        self, request: pb.GetProcessInstanceRequest, call: Call
    ) -> pb.GetProcessInstanceResponse:
        key = Key(request.process_instance_key)
        row = await get(self._store, ProcessInstance, key, call, entity_pb.ProcessInstance)
        return pb.GetProcessInstanceResponse(process_instance=row)

    async def get_process_instance_call_hierarchy(
        self, request: pb.GetProcessInstanceCallHierarchyRequest, call: Call
    ) -> pb.GetProcessInstanceCallHierarchyResponse:
        row = await found(self._store, ProcessInstance, request.process_instance_key, call)
        chain = [row]
        while row.parent_process_instance_key is not None:
            parent = await self._store.get(
                ProcessInstance, row.parent_process_instance_key, tenant_id=call.tenant_id
            )
            if parent is None:
                break
            row = parent
            chain.append(row)
        return pb.GetProcessInstanceCallHierarchyResponse(process_instances=map(_called, reversed(chain)))

    async def get_process_instance_statistics(
        self, request: pb.GetProcessInstanceStatisticsRequest, call: Call
    ) -> pb.GetProcessInstanceStatisticsResponse:
        row = await found(self._store, ProcessInstance, request.process_instance_key, call)
        clauses = (equals(ELEMENT_INSTANCES, "process_instance_key", row.process_instance_key),)
        items = await counted_elements(self._store, clauses, call)
        return pb.GetProcessInstanceStatisticsResponse(items=items)

    async def get_process_instance_sequence_flows(
        self, request: pb.GetProcessInstanceSequenceFlowsRequest, call: Call
    ) -> pb.GetProcessInstanceSequenceFlowsResponse:
        row = await found(self._store, ProcessInstance, request.process_instance_key, call)
        clauses = (equals(ELEMENT_INSTANCES, "process_instance_key", row.process_instance_key),)
        taken = await self._store.statistics(TAKEN_SEQUENCE_FLOWS, clauses, tenant_id=call.tenant_id)
        ids = sorted(flow.sequence_flow_ids for flow in taken)
        return pb.GetProcessInstanceSequenceFlowsResponse(items=[_sequence_flow(row, each) for each in ids])

    async def cancel_process_instance(
        self, request: pb.CancelProcessInstanceRequest, call: Call
    ) -> pb.CancelProcessInstanceResponse:
        command = CancelProcessInstance(call.tenant_id, Key(request.process_instance_key))
        await self._router.submit(command, origin_of(request, call))
        return pb.CancelProcessInstanceResponse()

    async def delete_process_instance(
        self, request: pb.DeleteProcessInstanceRequest, call: Call
    ) -> pb.DeleteProcessInstanceResponse:
        """Delete a process instance. The command itself refuses a missing one, so a repeat of an executed call gets its answer."""
        key = Key(request.process_instance_key)
        row = await self._store.get(ProcessInstance, key, tenant_id=call.tenant_id)
        command = DeleteProcessInstance(call.tenant_id, key, is_stored=row is not None)
        await self._router.submit(command, origin_of(request, call))
        return pb.DeleteProcessInstanceResponse()

    async def migrate_process_instance(
        self, request: pb.MigrateProcessInstanceRequest, call: Call
    ) -> pb.MigrateProcessInstanceResponse:
        await self._router.submit(migration_of(request, call), origin_of(request, call))
        return pb.MigrateProcessInstanceResponse()

    async def modify_process_instance(
        self, request: pb.ModifyProcessInstanceRequest, call: Call
    ) -> pb.ModifyProcessInstanceResponse:
        await self._router.submit(modification_of(request, call), origin_of(request, call))
        return pb.ModifyProcessInstanceResponse()


def _command(request: pb.CreateProcessInstanceRequest, call: Call) -> CreateProcessInstance:
    has_version = request.HasField("process_definition_version")
    version = request.process_definition_version if has_version else LATEST
    return CreateProcessInstance(
        tenant_id=call.tenant_id,
        process_definition_key=Key(request.process_definition_key) or None,
        process_definition_id=request.process_definition_id,
        version=None if version == LATEST else version,
        variables=variables_of(request.variables),
        tags=tuple(request.tags),
        business_id=request.business_id or None,
        start_element_ids=tuple(each.element_id for each in request.start_instructions),
        terminates_after=tuple(each.after_element_id for each in request.runtime_instructions),
    )


def _outcome(outcome: pb.CreateProcessInstanceResponse | Status) -> pb.CreationOutcome:
    if isinstance(outcome, Status):
        return pb.CreationOutcome(refusal=outcome)
    return pb.CreationOutcome(process_instance=outcome)


def _called(row: ProcessInstance) -> pb.ProcessInstanceCallHierarchyEntry:
    return pb.ProcessInstanceCallHierarchyEntry(
        process_instance_key=row.process_instance_key,
        process_definition_key=row.process_definition_key,
        process_definition_name=row.process_definition_name or row.process_definition_id,
    )


def _sequence_flow(row: ProcessInstance, flow_id: str) -> pb.ProcessInstanceSequenceFlow:
    return pb.ProcessInstanceSequenceFlow(
        sequence_flow_id=f"{row.process_instance_key}_{flow_id}",
        process_instance_key=row.process_instance_key,
        root_process_instance_key=row.root_process_instance_key,
        process_definition_key=row.process_definition_key,
        process_definition_id=row.process_definition_id,
        element_id=flow_id,
        tenant_id=row.tenant_id,
    )


def _created(head: InstanceHead, variables: bytes) -> pb.CreateProcessInstanceResponse:
    return pb.CreateProcessInstanceResponse(
        process_definition_id=head.process_definition_id,
        process_definition_version=head.version,
        tenant_id=head.tenant_id,
        variables=variables,
        process_definition_key=head.process_definition_key,
        process_instance_key=head.key,
        tags=head.tags,
        business_id=head.business_id,
    )
