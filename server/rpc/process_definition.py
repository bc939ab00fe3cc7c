"""Reads deployed process definitions."""

from collections.abc import Iterator

from gnomon.engine.v1 import process_definition_pb2 as entity_pb
from gnomon.engine.v1 import process_definition_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.query import Clause, Clauses, Related, equals, parse
from server.rpc import process_statistics
from server.rpc.forms import form_message, start_form_of
from server.rpc.reads import found, get, search
from server.rpc.statistics import counted_elements
from server.store.entities import ElementInstance, ProcessDefinition, ProcessInstance
from server.store.ports import Store
from server.store.searchables import ELEMENT_INSTANCES, PROCESS_DEFINITIONS, PROCESS_INSTANCES

_DEFINITION = "process_definition_key"


class ProcessDefinitionServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_process_definitions(
        self, request: pb.SearchProcessDefinitionsRequest, call: Call
    ) -> pb.SearchProcessDefinitionsResponse:
        return await search(
            self._store, PROCESS_DEFINITIONS, request, pb.SearchProcessDefinitionsResponse, call
        )

    async def get_process_definition(
        self, request: pb.GetProcessDefinitionRequest, call: Call
    ) -> pb.GetProcessDefinitionResponse:
        key = Key(request.process_definition_key)
        row = await get(self._store, ProcessDefinition, key, call, entity_pb.ProcessDefinition)
        return pb.GetProcessDefinitionResponse(process_definition=row)

    async def get_process_definition_xml(
        self, request: pb.GetProcessDefinitionXmlRequest, call: Call
    ) -> pb.GetProcessDefinitionXmlResponse:
        row = await found(self._store, ProcessDefinition, Key(request.process_definition_key), call)
        return pb.GetProcessDefinitionXmlResponse(xml=row.xml)

    async def get_start_process_form(
        self, request: pb.GetStartProcessFormRequest, call: Call
    ) -> pb.GetStartProcessFormResponse:
        row = await found(self._store, ProcessDefinition, Key(request.process_definition_key), call)
        form = await start_form_of(self._store, row, call)
        return pb.GetStartProcessFormResponse(form=None if form is None else form_message(form))

    async def get_process_definition_statistics(
        self, request: pb.GetProcessDefinitionStatisticsRequest, call: Call
    ) -> pb.GetProcessDefinitionStatisticsResponse:
        row = await found(self._store, ProcessDefinition, request.process_definition_key, call)
        key, wanted = row.process_definition_key, parse(PROCESS_INSTANCES, request).clauses
        of_instances = _elements_in((equals(PROCESS_INSTANCES, _DEFINITION, key), *wanted)) if wanted else ()
        clauses = (equals(ELEMENT_INSTANCES, _DEFINITION, key), *of_instances)
        items = await counted_elements(self._store, clauses, call)
        return pb.GetProcessDefinitionStatisticsResponse(items=items)

    async def get_process_definition_instance_statistics(
        self, request: pb.GetProcessDefinitionInstanceStatisticsRequest, call: Call
    ) -> pb.GetProcessDefinitionInstanceStatisticsResponse:
        return await process_statistics.instances_by_process(self._store, request, call)

    async def get_process_definition_instance_version_statistics(
        self, request: pb.GetProcessDefinitionInstanceVersionStatisticsRequest, call: Call
    ) -> pb.GetProcessDefinitionInstanceVersionStatisticsResponse:
        return await process_statistics.instances_by_version(self._store, request, call)

    async def get_process_definition_message_subscription_statistics(
        self, request: pb.GetProcessDefinitionMessageSubscriptionStatisticsRequest, call: Call
    ) -> pb.GetProcessDefinitionMessageSubscriptionStatisticsResponse:
        return await process_statistics.subscriptions_by_version(self._store, request, call)


def _elements_in(instances: Clauses) -> Iterator[Clause]:
    """Clauses for element instances inside the process instances that match these clauses.

    Each counted element instance also matches every clause about element instances.
    """
    for clause in instances:
        if isinstance(clause, Related) and clause.entity is ElementInstance:
            yield from clause.clauses
    key = ELEMENT_INSTANCES.fields["process_instance_key"]
    yield Related(key, ProcessInstance, key.name, instances)
