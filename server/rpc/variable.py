"""Reads variables."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec.structs import asdict

from gnomon.engine.v1 import variable_pb2 as entity_pb
from gnomon.engine.v1 import variable_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.rpc.reads import Shown, get, search
from server.store.entities import ClusterVariable, Variable
from server.store.ports import Store
from server.store.searchables import MAX_VALUE_CHARACTERS, VARIABLES


class VariableServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_variables(
        self, request: pb.SearchVariablesRequest, call: Call
    ) -> pb.SearchVariablesResponse:
        shown = shown_variables(request)
        return await search(self._store, VARIABLES, request, pb.SearchVariablesResponse, call, shown=shown)

    async def get_variable(self, request: pb.GetVariableRequest, call: Call) -> pb.GetVariableResponse:
        row = await get(self._store, Variable, Key(request.variable_key), call, entity_pb.Variable)
        return pb.GetVariableResponse(variable=row)


class Truncation(Protocol):
    """A request with an option to truncate long values, which is on by default."""

    @property
    def truncate_values(self) -> bool: ...

    def HasField(self, field_name: Literal["truncate_values"]) -> bool: ...  # noqa: N802  # as protobuf has it


class VariableMatch(Variable, kw_only=True, gc=False):
    is_truncated: bool


class ClusterVariableMatch(ClusterVariable, kw_only=True, gc=False):
    is_truncated: bool


def shown_variables(request: Truncation) -> Shown[Variable] | None:
    return _TRUNCATED if _truncates(request) else None


def shown_cluster_variables(request: Truncation) -> Shown[ClusterVariable] | None:
    return _TRUNCATED_CLUSTER_VARIABLES if _truncates(request) else None


def _truncates(request: Truncation) -> bool:
    return request.truncate_values or not request.HasField("truncate_values")


def _cut(row: Variable | ClusterVariable) -> Mapping[str, Any]:
    value, is_truncated = row.value[:MAX_VALUE_CHARACTERS], len(row.value) > MAX_VALUE_CHARACTERS
    return {**asdict(row), "value": value, "is_truncated": is_truncated}


# One character more tells whether the value is longer.
_READ = {"value": MAX_VALUE_CHARACTERS + 1}
_TRUNCATED: Shown[Variable] = Shown(VariableMatch, lambda row: VariableMatch(**_cut(row)), _READ)
_TRUNCATED_CLUSTER_VARIABLES: Shown[ClusterVariable] = Shown(
    ClusterVariableMatch, lambda row: ClusterVariableMatch(**_cut(row)), _READ
)
