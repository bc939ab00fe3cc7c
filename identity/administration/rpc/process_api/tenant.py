"""TenantService of the process API.

Tenants belong to the deployment, whose administrators keep them. All others see those in which they may act.
"""

from gnomon.directory.v1 import tenant_pb2 as entity_pb
from gnomon.directory.v1 import tenant_service_pb2 as pb
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.searches import InMemorySearch
from identity.administration.rpc.process_api.labels import description_of
from identity.administration.rpc.process_api.members import Members, Membership
from identity.administration.tenants.administration import TenantAdministration, TenantProperties
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import TenantRecord
from identity.foundation.events.event import EventActor
from identity.foundation.tenants import Tenant
from server.platform.call import Call
from server.platform.errors import PermissionDenied
from server.platform.query import Field, FieldType, Searchable

_ID, _NAME = Field("id", FieldType.TEXT), Field("name", FieldType.TEXT)


class TenantServicer:
    def __init__(
        self, api_callers: ProcessApiCallers, administration: TenantAdministration, members: Members
    ) -> None:
        self._api_callers = api_callers
        self._administration = administration
        self._members = members

    async def create_tenant(self, request: pb.CreateTenantRequest, call: Call) -> pb.CreateTenantResponse:
        actor = await self._administrator(call)
        properties = TenantProperties(name=request.name, description=description_of(request))
        created = await self._administration.create(
            request.tenant_id, properties, TenantSettings(), actor=actor, note=self._api_callers.note(call)
        )
        return pb.CreateTenantResponse(tenant=tenant_message(created))

    async def search_tenants(self, request: pb.SearchTenantsRequest, call: Call) -> pb.SearchTenantsResponse:
        actor, own = await self._api_callers.actor(call), call.principal.tenant_ids
        tenants = await self._administration.all()
        visible = (tenant for tenant in tenants if actor.is_administrator or tenant.own_id in own)
        return _LISTING.answer(visible, request, pb.SearchTenantsResponse)

    async def get_tenant(self, request: pb.GetTenantRequest, call: Call) -> pb.GetTenantResponse:
        return pb.GetTenantResponse(tenant=tenant_message(await self._found(request.tenant_id, call)))

    async def update_tenant(self, request: pb.UpdateTenantRequest, call: Call) -> pb.UpdateTenantResponse:
        actor = await self._administrator(call)
        kept = await self._administration.describe(
            request.tenant_id,
            request.name,
            description_of(request),
            actor=actor,
            note=self._api_callers.note(call),
        )
        return pb.UpdateTenantResponse(tenant=tenant_message(kept))

    async def delete_tenant(self, request: pb.DeleteTenantRequest, call: Call) -> pb.DeleteTenantResponse:
        actor = await self._administrator(call)
        await self._administration.delete(request.tenant_id, actor=actor, note=self._api_callers.note(call))
        return pb.DeleteTenantResponse()

    async def search_users_for_tenant(
        self, request: pb.SearchUsersForTenantRequest, call: Call
    ) -> pb.SearchUsersForTenantResponse:
        tenant, name = await self._opened(request.tenant_id, call)
        response = pb.SearchUsersForTenantResponse
        return await self._members.users(tenant, Membership.TENANT, name, request=request, response=response)

    async def search_clients_for_tenant(
        self, request: pb.SearchClientsForTenantRequest, call: Call
    ) -> pb.SearchClientsForTenantResponse:
        tenant, name = await self._opened(request.tenant_id, call)
        response = pb.SearchClientsForTenantResponse
        return await self._members.clients(
            tenant, Membership.TENANT, name, request=request, response=response
        )

    async def search_group_ids_for_tenant(
        self, request: pb.SearchGroupIdsForTenantRequest, call: Call
    ) -> pb.SearchGroupIdsForTenantResponse:
        tenant, name = await self._opened(request.tenant_id, call)
        response = pb.SearchGroupIdsForTenantResponse
        return await self._members.groups(tenant, Membership.TENANT, name, request=request, response=response)

    async def search_roles_for_tenant(
        self, request: pb.SearchRolesForTenantRequest, call: Call
    ) -> pb.SearchRolesForTenantResponse:
        tenant, name = await self._opened(request.tenant_id, call)
        response = pb.SearchRolesForTenantResponse
        return await self._members.roles(tenant, Membership.TENANT, name, request=request, response=response)

    async def search_mapping_rules_for_tenant(
        self, request: pb.SearchMappingRulesForTenantRequest, call: Call
    ) -> pb.SearchMappingRulesForTenantResponse:
        tenant, name = await self._opened(request.tenant_id, call)
        response = pb.SearchMappingRulesForTenantResponse
        return await self._members.mapping_rules(
            tenant, Membership.TENANT, name, request=request, response=response
        )

    async def _opened(self, tenant_id: str, call: Call) -> tuple[Tenant, str]:
        """Return the tenant whose directory is meant, and the id of the tenant that its members may act in."""
        return self._api_callers.tenant(call), (await self._found(tenant_id, call)).id

    async def _found(self, tenant_id: str, call: Call) -> TenantRecord:
        """Raises TenantMismatch, NotFound."""
        self._api_callers.expect_may_name(call, await self._api_callers.actor(call), tenant_id)
        return await self._administration.get(tenant_id)

    async def _administrator(self, call: Call) -> EventActor:
        actor = await self._api_callers.actor(call)
        if not actor.is_administrator:
            raise PermissionDenied("only administrators of the deployment keep its tenants")
        return EventActor(kind=actor.kind, id=actor.id, name=actor.name)


def tenant_message(tenant: TenantRecord) -> entity_pb.Tenant:
    return entity_pb.Tenant(tenant_id=tenant.id, name=tenant.name, description=tenant.description)


_LISTING = InMemorySearch(
    Searchable(TenantRecord, key=_ID, fields={"tenant_id": _ID, "key": _ID, "name": _NAME}, derived={}),
    tenant_message,
)
