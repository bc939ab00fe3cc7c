"""AuthorizationService of the process API."""

from collections.abc import Sequence

from gnomon.directory.v1 import authorization_pb2 as entity_pb
from gnomon.directory.v1 import authorization_service_pb2 as pb
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.searches import InMemorySearch
from identity.directory.authorization import Authorization, OwnerType
from identity.people.authorizations import Authorizations, RequestedAuthorization
from server.platform.call import Call
from server.platform.errors import InvalidArgument
from server.platform.mapping import spellings
from server.platform.query import Clauses, Condition, Field, FieldType, Operator, Searchable

_OWNER_TYPES = spellings(entity_pb.OwnerType.DESCRIPTOR)
_RESOURCE_TYPES = spellings(entity_pb.ResourceType.DESCRIPTOR)
_PERMISSION_TYPES = spellings(entity_pb.PermissionType.DESCRIPTOR)


class AuthorizationServicer:
    def __init__(self, api_callers: ProcessApiCallers, authorizations: Authorizations) -> None:
        self._api_callers = api_callers
        self._authorizations = authorizations

    async def create_authorization(
        self, request: pb.CreateAuthorizationRequest, call: Call
    ) -> pb.CreateAuthorizationResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        created = await self._authorizations.add(tenant, _wish(request), actor, self._api_callers.note(call))
        return pb.CreateAuthorizationResponse(authorization_key=int(created.id))

    async def search_authorizations(
        self, request: pb.SearchAuthorizationsRequest, call: Call
    ) -> pb.SearchAuthorizationsResponse:
        found = await self._authorizations.all(self._api_callers.tenant(call))
        return _SEARCH.answer(found, request, pb.SearchAuthorizationsResponse)

    async def get_authorization(
        self, request: pb.GetAuthorizationRequest, call: Call
    ) -> pb.GetAuthorizationResponse:
        found = await self._authorizations.get(self._api_callers.tenant(call), request.authorization_key)
        return pb.GetAuthorizationResponse(authorization=_message(found))

    async def update_authorization(
        self, request: pb.UpdateAuthorizationRequest, call: Call
    ) -> pb.UpdateAuthorizationResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        await self._authorizations.change(
            tenant, request.authorization_key, _wish(request), actor, self._api_callers.note(call)
        )
        return pb.UpdateAuthorizationResponse()

    async def delete_authorization(
        self, request: pb.DeleteAuthorizationRequest, call: Call
    ) -> pb.DeleteAuthorizationResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        await self._authorizations.remove(
            tenant, request.authorization_key, actor, self._api_callers.note(call)
        )
        return pb.DeleteAuthorizationResponse()


def _wish(request: pb.CreateAuthorizationRequest | pb.UpdateAuthorizationRequest) -> RequestedAuthorization:
    if request.HasField("resource_property_name"):
        raise InvalidArgument("resourcePropertyName: expected resourceId, no operation decides by properties")
    if not request.HasField("resource_id"):
        raise InvalidArgument("resourceId: expected the id of a resource or *, found none")
    return RequestedAuthorization(
        owner_type=OwnerType(_OWNER_TYPES[request.owner_type]),
        owner_id=request.owner_id,
        resource_type=_RESOURCE_TYPES[request.resource_type],
        resource_id=request.resource_id,
        permission_types=tuple(_PERMISSION_TYPES[number] for number in sorted(request.permission_types)),
    )


def _message(authorization: Authorization) -> entity_pb.Authorization:
    return entity_pb.Authorization(
        authorization_key=int(authorization.id),
        owner_id=authorization.owner_id,
        owner_type=entity_pb.OwnerType.Value(f"OWNER_TYPE_{authorization.owner_type}"),
        resource_id=authorization.resource_id,
        resource_type=entity_pb.ResourceType.Value(f"RESOURCE_TYPE_{authorization.resource_type}"),
        permission_types=[
            entity_pb.PermissionType.Value(f"PERMISSION_TYPE_{name}")
            for name in authorization.permission_types
        ],
    )


_RESOURCE_ID = Field("resource_id", FieldType.TEXT)
_PROPERTY = Field("resource_property_name", FieldType.TEXT)


def _any_resource(ids: Sequence[str]) -> Clauses:
    return (Condition(_RESOURCE_ID, Operator.IN, tuple(ids)),)


def _any_property(names: Sequence[str]) -> Clauses:
    return (Condition(_PROPERTY, Operator.IN, tuple(names)),)


_SEARCH = InMemorySearch(
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
