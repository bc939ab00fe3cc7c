"""AuthorizationDetailsTypeService."""

from dataclasses import replace

from gnomon.identity.v1 import authorization_details_type_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.authorization_details.detail_fields import DetailFields
from identity.directory.labels import AuthorizationDetailsType
from identity.foundation.tenants import Tenant
from identity.foundation.visible_text import is_visible
from identity.people.labels import Labels
from server.platform.errors import InvalidArgument

_Request = pb.CreateAuthorizationDetailsTypeRequest | pb.UpdateAuthorizationDetailsTypeRequest


class AuthorizationDetailsTypeServicer(Operations):
    def __init__(self, admission: Admission, types: Labels[AuthorizationDetailsType]) -> None:
        self._types = types
        super().__init__(
            admission,
            {
                pb.ListAuthorizationDetailsTypesRequest: types.all,
                pb.CreateAuthorizationDetailsTypeRequest: self._create,
                pb.UpdateAuthorizationDetailsTypeRequest: self._update,
                pb.DeleteAuthorizationDetailsTypeRequest: named(types.remove, label_id="type_id"),
            },
        )

    async def _create(
        self, tenant: Tenant, request: pb.CreateAuthorizationDetailsTypeRequest, actor: Actor
    ) -> AuthorizationDetailsType:
        new = AuthorizationDetailsType(tenant_id=tenant.tenant_id, id="", name="", title="")
        return await self._types.add(tenant, _described(new, request), actor)

    async def _update(
        self, tenant: Tenant, request: pb.UpdateAuthorizationDetailsTypeRequest, actor: Actor
    ) -> AuthorizationDetailsType:
        return await self._types.change(
            tenant, request.type_id, actor, changed=lambda before: _described(before, request)
        )


def _described(before: AuthorizationDetailsType, request: _Request) -> AuthorizationDetailsType:
    """Raises InvalidArgument."""
    for member, text in (("title", request.title), ("description", request.description)):
        if not is_visible(text):
            raise InvalidArgument(f"{member}: expected visible characters without bidirectional controls")
    DetailFields(request.fields)
    return replace(
        before,
        name=request.name,
        title=request.title,
        description=request.description,
        fields=request.fields,
        self_registration=request.self_registration,
    )
