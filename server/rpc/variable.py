"""Reads variables."""

from gnomon.engine.v1 import variable_pb2 as entity_pb
from gnomon.engine.v1 import variable_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.rpc.searching import get, search
from server.store.entities import Variable
from server.store.ports import Store
from server.store.searchables import MAX_VALUE_CHARACTERS, VARIABLES


class VariableServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_variables(
        self, request: pb.SearchVariablesRequest, call: Call
    ) -> pb.SearchVariablesResponse:
        response = await search(self._store, VARIABLES, request, pb.SearchVariablesResponse, call)
        if not request.HasField("truncate_values") or request.truncate_values:
            for item in response.items:
                item.is_truncated = len(item.value) > MAX_VALUE_CHARACTERS
                item.value = item.value[:MAX_VALUE_CHARACTERS]
        return response

    async def get_variable(self, request: pb.GetVariableRequest, call: Call) -> pb.GetVariableResponse:
        row = await get(self._store, Variable, Key(request.variable_key), call, entity_pb.Variable)
        return pb.GetVariableResponse(variable=row)
