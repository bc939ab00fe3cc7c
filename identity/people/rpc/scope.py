"""ScopeService."""

from collections.abc import Sequence
from dataclasses import replace

from gnomon.identity.v1 import scope_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.labels import ScopeDefinition
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Scope
from identity.people.labels import Labels
from identity.people.user_attributes import UserAttributes

Names = tuple[str, ...]


class ScopeServicer(Operations):
    def __init__(
        self, admission: Admission, scopes: Labels[ScopeDefinition], attributes: UserAttributes
    ) -> None:
        self._scopes = scopes
        self._attributes = attributes
        super().__init__(
            admission,
            {
                pb.ListScopesRequest: self._all,
                pb.CreateScopeRequest: self._create,
                pb.UpdateScopeRequest: self._update,
                pb.DeleteScopeRequest: named(scopes.remove, label_id="scope_id"),
            },
        )

    async def _all(self, tenant: Tenant) -> Sequence[pb.Scope | ScopeDefinition]:
        standard = (pb.Scope(id=scope, name=scope) for scope in Scope)
        return *standard, *await self._scopes.all(tenant)

    async def _create(self, tenant: Tenant, request: pb.CreateScopeRequest, actor: Actor) -> ScopeDefinition:
        in_access, in_id = await self._opened(tenant, request)
        scope = ScopeDefinition(
            tenant_id=tenant.tenant_id,
            id="",
            name=request.name,
            attr_include_access=in_access,
            attr_include_id=in_id,
        )
        return await self._scopes.add(tenant, scope, actor)

    async def _update(self, tenant: Tenant, request: pb.UpdateScopeRequest, actor: Actor) -> ScopeDefinition:
        in_access, in_id = await self._opened(tenant, request)

        def changed(scope: ScopeDefinition) -> ScopeDefinition:
            return replace(scope, name=request.name, attr_include_access=in_access, attr_include_id=in_id)

        return await self._scopes.change(tenant, request.scope_id, actor, changed=changed)

    async def _opened(
        self, tenant: Tenant, request: pb.CreateScopeRequest | pb.UpdateScopeRequest
    ) -> tuple[Names, Names]:
        """Return the attributes in access tokens and in ID tokens; raises InvalidArgument."""
        return (
            await self._attributes.opened(tenant, request.attr_include_access),
            await self._attributes.opened(tenant, request.attr_include_id),
        )
