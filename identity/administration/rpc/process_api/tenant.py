"""TenantService of the process API.

Tenants belong to the deployment, whose administrators manage them. All others see the tenants in which they may act.
"""

from gnomon.directory.v1 import tenant_pb2 as entity_pb
from gnomon.directory.v1 import tenant_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.operations import Operations
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.searches import StoredSearch
from identity.administration.rpc.process_api.labels import description_of
from identity.administration.rpc.process_api.members import Members, Membership
from identity.administration.tenants.administration import EXISTING, TenantAdministration, TenantProperties
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import TenantRecord
from identity.foundation.events.event import EventActor
from identity.foundation.tenants import Tenant
from server.platform.audit import AuditNote
from server.platform.call import Call
from server.platform.errors import PermissionDenied
from server.platform.query import Condition, Field, FieldType, Operator, Searchable

_ID, _NAME = Field("id", FieldType.TEXT), Field("name", FieldType.TEXT)


class TenantServicer(Operations):
    def __init__(
        self, api_callers: ProcessApiCallers, tenants: TenantAdministration, members: Members
    ) -> None:
        self._api_callers = api_callers
        self._tenants = tenants
        of_tenant = members.searches(Membership.TENANT, self._id)
        super().__init__(
            api_callers,
            {
                pb.CreateTenantRequest: self._create,
                pb.SearchTenantsRequest: self._search,
                pb.GetTenantRequest: self._found,
                pb.UpdateTenantRequest: self._update,
                pb.DeleteTenantRequest: self._delete,
                pb.SearchUsersForTenantRequest: of_tenant.users,
                pb.SearchClientsForTenantRequest: of_tenant.clients,
                pb.SearchGroupIdsForTenantRequest: of_tenant.groups,
                pb.SearchRolesForTenantRequest: of_tenant.roles,
                pb.SearchMappingRulesForTenantRequest: of_tenant.mapping_rules,
            },
            shows={TenantRecord: tenant_message},
        )

    async def _create(self, request: pb.CreateTenantRequest, actor: Actor, note: AuditNote) -> TenantRecord:
        properties = TenantProperties(name=request.name, description=description_of(request))
        return await self._tenants.create(
            request.tenant_id, properties, TenantSettings(), actor=_administrator(actor), note=note
        )

    async def _search(
        self, request: pb.SearchTenantsRequest, actor: Actor, call: Call
    ) -> pb.SearchTenantsResponse:
        own = Condition(_ID, Operator.IN, tuple(sorted(call.principal.tenant_ids)))
        query = _LISTING.query(request, EXISTING, *(() if actor.is_administrator else (own,)))
        return _LISTING.answer(await self._tenants.search(query), pb.SearchTenantsResponse)

    async def _update(self, request: pb.UpdateTenantRequest, actor: Actor, note: AuditNote) -> TenantRecord:
        description = description_of(request)
        return await self._tenants.describe(
            request.tenant_id, request.name, description, actor=_administrator(actor), note=note
        )

    async def _delete(self, tenant_id: str, actor: Actor, note: AuditNote) -> None:
        await self._tenants.delete(tenant_id, actor=_administrator(actor), note=note)

    async def _id(self, _tenant: Tenant, tenant_id: str, call: Call) -> str:
        """Return the id of a tenant that its members may act in."""
        return (await self._found(tenant_id, await self._api_callers.actor(call), call)).id

    async def _found(self, tenant_id: str, actor: Actor, call: Call) -> TenantRecord:
        """Raises TenantMismatch, NotFound."""
        self._api_callers.expect_may_name(call, actor, tenant_id)
        return await self._tenants.get(tenant_id)


def _administrator(actor: Actor) -> EventActor:
    if not actor.is_administrator:
        raise PermissionDenied("only administrators of the deployment can change its tenants")
    return EventActor(kind=actor.kind, id=actor.id, name=actor.name)


def tenant_message(tenant: TenantRecord) -> entity_pb.Tenant:
    return entity_pb.Tenant(tenant_id=tenant.id, name=tenant.name, description=tenant.description)


_LISTING = StoredSearch(
    Searchable(TenantRecord, key=_ID, fields={"tenant_id": _ID, "key": _ID, "name": _NAME}, derived={}),
    tenant_message,
)
