"""ScopeService."""

from collections.abc import Iterable
from dataclasses import replace

from gnomon.identity.v1 import scope_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import message_of
from identity.directory.labels import ScopeDefinition
from identity.foundation.vocabulary import Scope
from identity.people.labels import Labels
from identity.people.user_attributes import UserAttributes
from server.platform.call import Call


class ScopeServicer:
    def __init__(
        self, admission: Admission, scopes: Labels[ScopeDefinition], attributes: UserAttributes
    ) -> None:
        self._admission = admission
        self._scopes = scopes
        self._attributes = attributes

    async def list_scopes(self, request: pb.ListScopesRequest, _call: Call) -> pb.ListScopesResponse:
        tenant, _ = await self._admission.of(request)
        own = map(_message, await self._scopes.all(tenant))
        return pb.ListScopesResponse(scopes=(*_standard(), *own))

    async def create_scope(self, request: pb.CreateScopeRequest, _call: Call) -> pb.CreateScopeResponse:
        tenant, actor = await self._admission.of(request)
        scope = ScopeDefinition(
            tenant_id=tenant.tenant_id,
            id="",
            name=request.name,
            attr_include_access=await self._attributes.opened(tenant, request.attr_include_access),
            attr_include_id=await self._attributes.opened(tenant, request.attr_include_id),
        )
        return pb.CreateScopeResponse(scope=_message(await self._scopes.add(tenant, scope, actor)))

    async def update_scope(self, request: pb.UpdateScopeRequest, _call: Call) -> pb.UpdateScopeResponse:
        tenant, actor = await self._admission.of(request)
        in_access = await self._attributes.opened(tenant, request.attr_include_access)
        in_id = await self._attributes.opened(tenant, request.attr_include_id)

        def changed(scope: ScopeDefinition) -> ScopeDefinition:
            return replace(scope, name=request.name, attr_include_access=in_access, attr_include_id=in_id)

        scope = await self._scopes.change(tenant, request.scope_id, actor, changed=changed)
        return pb.UpdateScopeResponse(scope=_message(scope))

    async def delete_scope(self, request: pb.DeleteScopeRequest, _call: Call) -> pb.DeleteScopeResponse:
        tenant, actor = await self._admission.of(request)
        await self._scopes.remove(tenant, request.scope_id, actor)
        return pb.DeleteScopeResponse()


def _standard() -> Iterable[pb.Scope]:
    return (pb.Scope(id=scope, name=scope) for scope in Scope)


def _message(scope: ScopeDefinition) -> pb.Scope:
    return message_of(pb.Scope, scope)
