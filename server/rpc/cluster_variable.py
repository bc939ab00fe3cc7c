"""Servicer for changing and reading cluster variables.

Global variables concern all tenants: callers of the administrating tenant change them, callers of all tenants
read them.
"""

from gnomon.engine.v1 import cluster_variable_pb2 as entity_pb
from gnomon.engine.v1 import cluster_variable_service_pb2 as pb
from server.engine.cluster_variable_commands import (
    CreateClusterVariable,
    DeleteClusterVariable,
    UpdateClusterVariable,
)
from server.engine.variables import MalformedVariables, compact
from server.partition.config import ClusterVariablesConfig
from server.partition.router import Router
from server.platform.call import Call
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from server.platform.mapping import mapper
from server.platform.query import equals
from server.rpc.origin import origin_of
from server.rpc.reads import search
from server.rpc.variable import shown_cluster_variables
from server.store.entities import ClusterVariable, ClusterVariableScope
from server.store.ports import Store
from server.store.searchables import CLUSTER_VARIABLES

_variable = mapper(ClusterVariable, entity_pb.ClusterVariable)

_Creation = pb.CreateGlobalClusterVariableRequest | pb.CreateTenantClusterVariableRequest
_Update = pb.UpdateGlobalClusterVariableRequest | pb.UpdateTenantClusterVariableRequest
_Deletion = pb.DeleteGlobalClusterVariableRequest | pb.DeleteTenantClusterVariableRequest


class ClusterVariableServicer:
    def __init__(self, store: Store, router: Router, config: ClusterVariablesConfig) -> None:
        self._store = store
        self._router = router
        self._administrating = config.tenant

    async def create_global_cluster_variable(
        self, request: pb.CreateGlobalClusterVariableRequest, call: Call
    ) -> pb.CreateGlobalClusterVariableResponse:
        self._expect_administrator(call)
        variable = await self._create(request, call, is_global=True)
        return pb.CreateGlobalClusterVariableResponse(variable=variable)

    async def create_tenant_cluster_variable(
        self, request: pb.CreateTenantClusterVariableRequest, call: Call
    ) -> pb.CreateTenantClusterVariableResponse:
        variable = await self._create(request, call, is_global=False)
        return pb.CreateTenantClusterVariableResponse(variable=variable)

    async def get_global_cluster_variable(
        self, request: pb.GetGlobalClusterVariableRequest, call: Call
    ) -> pb.GetGlobalClusterVariableResponse:
        variable = await self._found(request.name, ClusterVariableScope.GLOBAL, call)
        return pb.GetGlobalClusterVariableResponse(variable=variable)

    async def get_tenant_cluster_variable(
        self, request: pb.GetTenantClusterVariableRequest, call: Call
    ) -> pb.GetTenantClusterVariableResponse:
        variable = await self._found(request.name, ClusterVariableScope.TENANT, call)
        return pb.GetTenantClusterVariableResponse(variable=variable)

    async def update_global_cluster_variable(
        self, request: pb.UpdateGlobalClusterVariableRequest, call: Call
    ) -> pb.UpdateGlobalClusterVariableResponse:
        self._expect_administrator(call)
        variable = await self._update(request, call, is_global=True)
        return pb.UpdateGlobalClusterVariableResponse(variable=variable)

    async def update_tenant_cluster_variable(
        self, request: pb.UpdateTenantClusterVariableRequest, call: Call
    ) -> pb.UpdateTenantClusterVariableResponse:
        variable = await self._update(request, call, is_global=False)
        return pb.UpdateTenantClusterVariableResponse(variable=variable)

    async def delete_global_cluster_variable(
        self, request: pb.DeleteGlobalClusterVariableRequest, call: Call
    ) -> pb.DeleteGlobalClusterVariableResponse:
        self._expect_administrator(call)
        await self._delete(request, call, is_global=True)
        return pb.DeleteGlobalClusterVariableResponse()

    async def delete_tenant_cluster_variable(
        self, request: pb.DeleteTenantClusterVariableRequest, call: Call
    ) -> pb.DeleteTenantClusterVariableResponse:
        await self._delete(request, call, is_global=False)
        return pb.DeleteTenantClusterVariableResponse()

    async def search_cluster_variables(
        self, request: pb.SearchClusterVariablesRequest, call: Call
    ) -> pb.SearchClusterVariablesResponse:
        return await search(
            self._store,
            CLUSTER_VARIABLES,
            request,
            pb.SearchClusterVariablesResponse,
            call,
            shown=shown_cluster_variables(request),
        )

    def _expect_administrator(self, call: Call) -> None:
        """Raises PermissionDenied for callers of other tenants."""
        if call.tenant_id != self._administrating:
            raise PermissionDenied(
                f"{call.policy.operation} is for callers that act in tenant '{self._administrating}'"
            )

    async def _create(self, request: _Creation, call: Call, *, is_global: bool) -> entity_pb.ClusterVariable:
        value = _value_of(request.value)
        command = CreateClusterVariable(call.tenant_id, request.name, value, is_global)
        await self._router.submit(command, origin_of(request, call))
        return _changed(command, value)

    async def _update(self, request: _Update, call: Call, *, is_global: bool) -> entity_pb.ClusterVariable:
        value = _value_of(request.value)
        command = UpdateClusterVariable(call.tenant_id, request.name, value, is_global)
        await self._router.submit(command, origin_of(request, call))
        return _changed(command, value)

    async def _delete(self, request: _Deletion, call: Call, *, is_global: bool) -> None:
        command = DeleteClusterVariable(call.tenant_id, request.name, is_global)
        await self._router.submit(command, origin_of(request, call))

    async def _found(self, name: str, scope: ClusterVariableScope, call: Call) -> entity_pb.ClusterVariable:
        """The variable with this name and scope; raises NotFound."""
        query = CLUSTER_VARIABLES.query(
            equals(CLUSTER_VARIABLES, "name", name), equals(CLUSTER_VARIABLES, "scope", scope)
        )
        page = await self._store.search(ClusterVariable, query, tenant_id=call.tenant_id)
        if not page.items:
            raise NotFound(f"there is no cluster variable '{name}' of scope {scope}")
        return _variable(page.items[0])


def _value_of(document: bytes) -> str:
    try:
        return compact(document)
    except MalformedVariables as error:
        raise InvalidArgument(f"value: {error}", field="value") from error


def _changed(command: CreateClusterVariable | UpdateClusterVariable, value: str) -> entity_pb.ClusterVariable:
    if command.is_global:
        return entity_pb.ClusterVariable(
            name=command.name, scope=entity_pb.CLUSTER_VARIABLE_SCOPE_GLOBAL, value=value
        )
    return entity_pb.ClusterVariable(
        name=command.name,
        scope=entity_pb.CLUSTER_VARIABLE_SCOPE_TENANT,
        tenant_id=command.tenant_id,
        value=value,
    )
