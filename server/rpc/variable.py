"""Reads variables."""

from collections.abc import Iterable
from typing import Literal, Protocol

from gnomon.engine.v1 import cluster_variable_pb2
from gnomon.engine.v1 import variable_pb2 as entity_pb
from gnomon.engine.v1 import variable_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.rpc.reads import get, search_messages
from server.store.entities import Variable
from server.store.ports import Store
from server.store.searchables import MAX_VALUE_CHARACTERS, VARIABLES


class VariableServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_variables(
        self, request: pb.SearchVariablesRequest, call: Call
    ) -> pb.SearchVariablesResponse:
        response = await search_messages(self._store, VARIABLES, request, pb.SearchVariablesResponse, call)
        cut_long_values(request, response.items)
        return response

    async def get_variable(self, request: pb.GetVariableRequest, call: Call) -> pb.GetVariableResponse:
        row = await get(self._store, Variable, Key(request.variable_key), call, entity_pb.Variable)
        return pb.GetVariableResponse(variable=row)


class Truncation(Protocol):
    """A request with an option to truncate long values, which is on by default."""

    @property
    def truncate_values(self) -> bool: ...

    def HasField(self, field_name: Literal["truncate_values"]) -> bool: ...  # noqa: N802  # as protobuf has it


def cut_long_values(
    request: Truncation,
    items: Iterable[entity_pb.VariableMatch] | Iterable[cluster_variable_pb2.ClusterVariableMatch],
) -> None:
    if request.HasField("truncate_values") and not request.truncate_values:
        return
    for item in items:
        item.is_truncated = len(item.value) > MAX_VALUE_CHARACTERS
        item.value = item.value[:MAX_VALUE_CHARACTERS]
