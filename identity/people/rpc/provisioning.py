"""ProvisioningService."""

from collections.abc import Sequence

import msgspec

from gnomon.identity.v1 import caller_pb2
from gnomon.identity.v1 import provisioning_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.admission import Admission, Asked
from identity.foundation.tenants import Tenant
from identity.people.provisioning.answers import DEFAULT_COUNT, MOST_COUNT, Answer, Projection, Search
from identity.people.provisioning.bulk import Operation, run_all
from identity.people.provisioning.discovery import document_of
from identity.people.provisioning.documents import Members
from identity.people.provisioning.groups import ProvisionedGroups
from identity.people.provisioning.members import Budget
from identity.people.provisioning.users import ProvisionedUsers
from server.platform.call import Call
from server.platform.errors import Unauthenticated

_MOST_START = 10_000_000


class ProvisioningServicer:
    """The callers are programs: a signed-in browser is none."""

    def __init__(self, admission: Admission, users: ProvisionedUsers, groups: ProvisionedGroups) -> None:
        self._admission = admission
        self._users = users
        self._groups = groups

    async def describe_provisioning(
        self, request: pb.DescribeProvisioningRequest, _call: Call
    ) -> pb.DescribeProvisioningResponse:
        tenant, _ = await self._admitted(request)
        return pb.DescribeProvisioningResponse(document=_json(document_of(request.name, tenant)))

    async def search_scim_resources(
        self, request: pb.SearchScimResourcesRequest, _call: Call
    ) -> pb.SearchScimResourcesResponse:
        tenant, _ = await self._admitted(request)
        search = Search(
            filter=request.filter,
            sort_by=request.sort_by,
            is_descending=request.is_descending,
            start=min(max(request.start_index, 1), _MOST_START),
            count=min(max(request.count, 0), MOST_COUNT) if request.HasField("count") else DEFAULT_COUNT,
            projection=_projection(request.projection),
        )
        if request.resource_type == pb.RESOURCE_TYPE_USER:
            return pb.SearchScimResourcesResponse(document=_json(await self._users.search(tenant, search)))
        return pb.SearchScimResourcesResponse(document=_json(await self._groups.search(tenant, search)))

    async def get_scim_resource(
        self, request: pb.GetScimResourceRequest, _call: Call
    ) -> pb.GetScimResourceResponse:
        tenant, _ = await self._admitted(request)
        projection = _projection(request.projection)
        if request.resource_type == pb.RESOURCE_TYPE_USER:
            answer = await self._users.get(tenant, request.resource_id, projection)
        else:
            answer = await self._groups.get(tenant, request.resource_id, projection)
        return pb.GetScimResourceResponse(
            document=_json(answer.members), version=answer.version, location=answer.location
        )

    async def create_scim_resource(
        self, request: pb.CreateScimResourceRequest, _call: Call
    ) -> pb.CreateScimResourceResponse:
        tenant, actor = await self._admitted(request)
        operation = _operation("POST", request.resource_type, "", request.document)
        answer = await self._created(tenant, operation, actor, _projection(request.projection))
        return pb.CreateScimResourceResponse(
            document=_json(answer.members), version=answer.version, location=answer.location
        )

    async def replace_scim_resource(
        self, request: pb.ReplaceScimResourceRequest, _call: Call
    ) -> pb.ReplaceScimResourceResponse:
        tenant, actor = await self._admitted(request)
        operation = _operation(
            "PUT", request.resource_type, request.resource_id, request.document, request.versions
        )
        answer = await self._replaced(tenant, operation, actor, _projection(request.projection))
        return pb.ReplaceScimResourceResponse(
            document=_json(answer.members), version=answer.version, location=answer.location
        )

    async def patch_scim_resource(
        self, request: pb.PatchScimResourceRequest, _call: Call
    ) -> pb.PatchScimResourceResponse:
        tenant, actor = await self._admitted(request)
        operation = _operation(
            "PATCH", request.resource_type, request.resource_id, request.document, request.versions
        )
        answer = await self._patched(tenant, operation, actor, _projection(request.projection))
        return pb.PatchScimResourceResponse(
            document=_json(answer.members), version=answer.version, location=answer.location
        )

    async def delete_scim_resource(
        self, request: pb.DeleteScimResourceRequest, _call: Call
    ) -> pb.DeleteScimResourceResponse:
        tenant, actor = await self._admitted(request)
        operation = _operation("DELETE", request.resource_type, request.resource_id, b"", request.versions)
        await self._deleted(tenant, operation, actor)
        return pb.DeleteScimResourceResponse()

    async def run_scim_operations(
        self, request: pb.RunScimOperationsRequest, _call: Call
    ) -> pb.RunScimOperationsResponse:
        _expect_program(request.caller)

        async def run(operation: Operation) -> Answer | None:
            tenant, actor = await self._admission.of(
                request, AdministrationArea.PROVISIONING, _RIGHTS[operation.method]
            )
            match operation.method:
                case "POST":
                    return await self._created(tenant, operation, actor, Projection())
                case "PUT":
                    return await self._replaced(tenant, operation, actor, Projection())
                case "PATCH":
                    return await self._patched(tenant, operation, actor, Projection())
                case _:
                    await self._deleted(tenant, operation, actor)
                    return None

        await self._admitted(request)
        return pb.RunScimOperationsResponse(document=_json(await run_all(request.document, run)))

    async def _created(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection
    ) -> Answer:
        if operation.kind == _USERS:
            return await self._users.create(tenant, operation.document, actor, projection)
        return await self._groups.create(
            tenant, operation.document, actor, projection, budget=operation.budget
        )

    async def _replaced(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection
    ) -> Answer:
        place = (tenant, operation.resource_id, operation.document, actor)
        if operation.kind == _USERS:
            return await self._users.replace(*place, versions=operation.versions, projection=projection)
        return await self._groups.replace(*place, projection=projection, budget=operation.budget)

    async def _patched(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection
    ) -> Answer:
        place = (tenant, operation.resource_id, operation.document, actor)
        if operation.kind == _USERS:
            return await self._users.patch(*place, versions=operation.versions, projection=projection)
        return await self._groups.patch(*place, projection=projection, budget=operation.budget)

    async def _deleted(self, tenant: Tenant, operation: Operation, actor: Actor) -> None:
        if operation.kind == _USERS:
            await self._users.delete(tenant, operation.resource_id, actor, versions=operation.versions)
        else:
            await self._groups.delete(tenant, operation.resource_id, actor)

    async def _admitted(self, request: Asked) -> tuple[Tenant, Actor]:
        _expect_program(request.caller)
        return await self._admission.of(request)


_USERS = "Users"
_KINDS = {pb.RESOURCE_TYPE_USER: _USERS, pb.RESOURCE_TYPE_GROUP: "Groups"}
_RIGHTS = {"POST": Right.CREATE, "PUT": Right.UPDATE, "PATCH": Right.UPDATE, "DELETE": Right.DELETE}


def _expect_program(caller: caller_pb2.Caller) -> None:
    if not caller.api_key and not caller.access_token:
        raise Unauthenticated("expected an API key or an access token")


def _operation(
    method: str,
    kind: pb.ResourceType.ValueType,
    resource_id: str,
    document: bytes,
    versions: Sequence[str] = (),
) -> Operation:
    return Operation(
        method=method,
        kind=_KINDS[kind],
        resource_id=resource_id,
        document=document,
        versions=tuple(versions),
        budget=Budget(),
    )


def _projection(message: pb.Projection) -> Projection:
    return Projection(tuple(message.attributes), tuple(message.excluded_attributes))


def _json(members: Members) -> bytes:
    return msgspec.json.encode(members)
