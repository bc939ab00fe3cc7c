"""AuthorizationService of the process API."""

from collections.abc import Sequence

from gnomon.directory.v1 import authorization_pb2 as entity_pb
from gnomon.directory.v1 import authorization_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.records import message_of, record_of
from identity.access.rpc.searches import StoredSearch
from identity.directory.authorization import Authorization
from identity.foundation.tenants import Tenant
from identity.people.authorizations import Authorizations, RequestedAuthorization
from server.platform.audit import AuditNote
from server.platform.errors import InvalidArgument
from server.platform.mapping import spellings
from server.platform.query import Clauses, Condition, Field, FieldType, Operator, Searchable

_PERMISSION_TYPES = spellings(entity_pb.PermissionType.DESCRIPTOR)


class AuthorizationServicer(Operations):
    def __init__(self, api_callers: ProcessApiCallers, authorizations: Authorizations) -> None:
        self._authorizations = authorizations
        super().__init__(
            api_callers,
            {
                pb.CreateAuthorizationRequest: self._create,
                pb.SearchAuthorizationsRequest: self._search,
                pb.GetAuthorizationRequest: named(authorizations.get, key="authorization_key"),
                pb.UpdateAuthorizationRequest: named(authorizations.change, key="authorization_key"),
                pb.DeleteAuthorizationRequest: named(authorizations.remove, key="authorization_key"),
            },
            reads={RequestedAuthorization: _wish},
            shows={Authorization: _message},
        )

    async def _create(
        self, tenant: Tenant, requested: RequestedAuthorization, actor: Actor, note: AuditNote
    ) -> int:
        return int((await self._authorizations.add(tenant, requested, actor, note)).id)

    async def _search(
        self, tenant: Tenant, request: pb.SearchAuthorizationsRequest
    ) -> pb.SearchAuthorizationsResponse:
        asked, also = pb.SearchAuthorizationsRequest(), []
        asked.CopyFrom(request)
        if request.filter.HasField("owner_id"):
            # Authorizations keep a name that their owner had, so present names lead to owners.
            owners = await self._authorizations.owners_named(tenant, request.filter.owner_id)
            also.append(Condition(_OWNER, Operator.IN, tuple(owners)))
            asked.filter.ClearField("owner_id")
        page = await self._authorizations.search(tenant, _SEARCH.query(asked, *also))
        return _SEARCH.answer(page, pb.SearchAuthorizationsResponse)


def _wish(request: pb.CreateAuthorizationRequest | pb.UpdateAuthorizationRequest) -> RequestedAuthorization:
    if request.HasField("resource_property_name"):
        raise InvalidArgument("resourcePropertyName: expected resourceId, no operation decides by properties")
    if not request.HasField("resource_id"):
        raise InvalidArgument("resourceId: expected the id of a resource or *, found none")
    return record_of(
        RequestedAuthorization,
        request,
        without=("authorization_key", "resource_property_name"),
        permission_types=tuple(_PERMISSION_TYPES[number] for number in sorted(request.permission_types)),
    )


def _message(authorization: Authorization) -> entity_pb.Authorization:
    return message_of(entity_pb.Authorization, authorization, authorization_key=int(authorization.id))


_RESOURCE_ID = Field("resource_id", FieldType.TEXT)
_OWNER = Field("owner", FieldType.TEXT)
_PROPERTY = Field("resource_property_name", FieldType.TEXT)


def _any_resource(ids: Sequence[str]) -> Clauses:
    return (Condition(_RESOURCE_ID, Operator.IN, tuple(ids)),)


def _any_property(names: Sequence[str]) -> Clauses:
    return (Condition(_PROPERTY, Operator.IN, tuple(names)),)


_SEARCH = StoredSearch(
    Searchable(
        Authorization,
        key=Field("id", FieldType.TEXT),
        fields={
            "owner_id": Field("owner_id", FieldType.TEXT),
            "owner_type": Field("owner_type", FieldType.TEXT),
            "resource_id": _RESOURCE_ID,
            "resource_property_name": _PROPERTY,
            "resource_type": Field("resource_type", FieldType.TEXT),
        },
        derived={"resource_ids": _any_resource, "resource_property_names": _any_property},
    ),
    _message,
)
