"""Reads deployed process definitions."""

from gnomon.engine.v1 import process_definition_pb2 as entity_pb
from gnomon.engine.v1 import process_definition_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.rpc.forms import form_message, start_form_of
from server.rpc.searching import found, get, search
from server.store.entities import ProcessDefinition
from server.store.ports import Store
from server.store.searchables import PROCESS_DEFINITIONS


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
