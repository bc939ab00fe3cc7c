"""ProvisioningService."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from gnomon.identity.v1 import provisioning_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.admission import Admission, Asked
from identity.access.rpc.operations import Admitted, Names, Operations
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
from server.platform.policy import Policy

_MOST_START = 10_000_000


Shown = tuple[bytes, str, str]


class ProvisioningServicer(Operations):
    def __init__(self, admission: Admission, users: ProvisionedUsers, groups: ProvisionedGroups) -> None:
        self._admission = admission
        self._users = users
        self._groups = groups
        super().__init__(
            ProgramAdmission(admission),
            {
                pb.DescribeProvisioningRequest: self._describe,
                pb.SearchScimResourcesRequest: self._search,
                pb.GetScimResourceRequest: self._get,
                pb.CreateScimResourceRequest: self._create,
                pb.ReplaceScimResourceRequest: self._replace,
                pb.PatchScimResourceRequest: self._patch,
                pb.DeleteScimResourceRequest: self._delete,
                pb.RunScimOperationsRequest: self._run,
            },
        )

    async def _describe(self, tenant: Tenant, name: str) -> bytes:
        return _json(document_of(name, tenant))

    async def _search(self, tenant: Tenant, request: pb.SearchScimResourcesRequest) -> bytes:
        search = Search(
            filter=request.filter,
            sort_by=request.sort_by,
            is_descending=request.is_descending,
            start=min(max(request.start_index, 1), _MOST_START),
            count=min(max(request.count, 0), MOST_COUNT) if request.HasField("count") else DEFAULT_COUNT,
            projection=_projection(request.projection),
        )
        if request.resource_type == pb.RESOURCE_TYPE_USER:
            return _json(await self._users.search(tenant, search))
        return _json(await self._groups.search(tenant, search))

    async def _get(self, tenant: Tenant, request: pb.GetScimResourceRequest) -> Shown:
        projection = _projection(request.projection)
        if request.resource_type == pb.RESOURCE_TYPE_USER:
            return _shown(await self._users.get(tenant, request.resource_id, projection))
        return _shown(await self._groups.get(tenant, request.resource_id, projection))

    async def _create(self, tenant: Tenant, request: pb.CreateScimResourceRequest, actor: Actor) -> Shown:
        operation = _operation("POST", request.resource_type, "", request.document)
        return _shown(await self._created(tenant, operation, actor, _projection(request.projection)))

    async def _replace(self, tenant: Tenant, request: pb.ReplaceScimResourceRequest, actor: Actor) -> Shown:
        operation = _operation(
            "PUT", request.resource_type, request.resource_id, request.document, request.versions
        )
        return _shown(await self._replaced(tenant, operation, actor, _projection(request.projection)))

    async def _patch(self, tenant: Tenant, request: pb.PatchScimResourceRequest, actor: Actor) -> Shown:
        operation = _operation(
            "PATCH", request.resource_type, request.resource_id, request.document, request.versions
        )
        return _shown(await self._patched(tenant, operation, actor, _projection(request.projection)))

    async def _delete(self, tenant: Tenant, request: pb.DeleteScimResourceRequest, actor: Actor) -> None:
        operation = _operation("DELETE", request.resource_type, request.resource_id, b"", request.versions)
        await self._deleted(tenant, operation, actor)

    async def _run(self, request: pb.RunScimOperationsRequest) -> bytes:
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

        return _json(await run_all(request.document, run))

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


class ProgramAdmission:
    """Admits programs alone, not users in a browser."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    def admitted(self, policy: Policy, wanted: Names) -> Admitted:
        admitted = self._admission.admitted(policy, wanted)

        async def admit(request: Asked, call: Call) -> Mapping[str, object]:
            if not request.caller.api_key and not request.caller.access_token:
                raise Unauthenticated("expected an API key or an access token")
            return await admitted.admit(request, call)

        return replace(admitted, admit=admit)


_USERS = "Users"
_KINDS = {pb.RESOURCE_TYPE_USER: _USERS, pb.RESOURCE_TYPE_GROUP: "Groups"}
_RIGHTS = {"POST": Right.CREATE, "PUT": Right.UPDATE, "PATCH": Right.UPDATE, "DELETE": Right.DELETE}


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


def _shown(answer: Answer) -> Shown:
    return _json(answer.members), answer.version, answer.location
