"""ProvisioningService."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from google.protobuf.message import Message

from gnomon.identity.v1 import provisioning_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.admission import Admission, Asked
from identity.access.rpc.operations import Admitted, Names, Operations
from identity.foundation.tenants import Tenant
from identity.people.provisioning.answers import DEFAULT_COUNT, MOST_COUNT, Answer, Projection, Search
from identity.people.provisioning.bulk import run_all
from identity.people.provisioning.discovery import document_of
from identity.people.provisioning.documents import Members
from identity.people.provisioning.members import Budget
from identity.people.provisioning.operation import Operation
from identity.people.provisioning.resources import Resources
from server.platform.call import Call
from server.platform.errors import Unauthenticated
from server.platform.policy import Policy

_MOST_START = 10_000_000
_METHODS: Mapping[type[Message], str] = {
    pb.CreateScimResourceRequest: "POST",
    pb.ReplaceScimResourceRequest: "PUT",
    pb.PatchScimResourceRequest: "PATCH",
    pb.DeleteScimResourceRequest: "DELETE",
}
_RIGHTS = {"POST": Right.CREATE, "PUT": Right.UPDATE, "PATCH": Right.UPDATE, "DELETE": Right.DELETE}
_KINDS = {pb.RESOURCE_TYPE_USER: "Users", pb.RESOURCE_TYPE_GROUP: "Groups"}

Shown = tuple[bytes, str, str]


class ProvisioningServicer(Operations):
    def __init__(self, admission: Admission, resources: Resources) -> None:
        self._admission = admission
        self._resources = resources
        super().__init__(
            ProgramAdmission(admission),
            {
                pb.DescribeProvisioningRequest: self._describe,
                pb.SearchScimResourcesRequest: self._search,
                pb.GetScimResourceRequest: self._get,
                pb.RunScimOperationsRequest: self._run,
                **dict.fromkeys(_METHODS, self._change),
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
        return _json(await self._resources.of_kind(_KINDS[request.resource_type]).search(tenant, search))

    async def _get(self, tenant: Tenant, request: pb.GetScimResourceRequest) -> Shown:
        resources = self._resources.of_kind(_KINDS[request.resource_type])
        return _shown(await resources.get(tenant, request.resource_id, _projection(request.projection)))

    async def _change(self, tenant: Tenant, request: Any, actor: Actor) -> Shown | None:
        operation = Operation(
            method=_METHODS[type(request)],
            kind=_KINDS[request.resource_type],
            resource_id=getattr(request, "resource_id", ""),
            document=getattr(request, "document", b""),
            versions=tuple(getattr(request, "versions", ())),
            budget=Budget(),
        )
        projection = _projection(getattr(request, "projection", pb.Projection()))
        changed = await self._resources.change(tenant, operation, actor, projection)
        return None if changed is None else _shown(changed)

    async def _run(self, request: pb.RunScimOperationsRequest) -> bytes:
        async def run(operation: Operation) -> Answer | None:
            right = _RIGHTS[operation.method]
            tenant, actor = await self._admission.of(request, AdministrationArea.PROVISIONING, right)
            return await self._resources.change(tenant, operation, actor)

        return _json(await run_all(request.document, run))


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


def _projection(message: pb.Projection) -> Projection:
    return Projection(tuple(message.attributes), tuple(message.excluded_attributes))


def _json(members: Members) -> bytes:
    return msgspec.json.encode(members)


def _shown(answer: Answer) -> Shown:
    return _json(answer.members), answer.version, answer.location
