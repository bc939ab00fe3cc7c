"""ApiKeyService."""

from collections.abc import Iterable
from datetime import UTC, datetime

from gnomon.identity.v1 import api_key_service_pb2 as pb
from identity.access.api_key import Access, ApiKey
from identity.access.api_keys import ApiKeyAdministration, ApiKeys
from identity.access.callers import AdministrationArea, Right
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import message_of
from identity.foundation.tenants import Tenants
from server.platform.call import Call
from server.platform.errors import InvalidArgument, Unauthenticated


class ApiKeyServicer:
    def __init__(
        self, tenants: Tenants, admission: Admission, *, keys: ApiKeys, administration: ApiKeyAdministration
    ) -> None:
        self._tenants = tenants
        self._admission = admission
        self._keys = keys
        self._administration = administration

    async def list_api_keys(self, request: pb.ListApiKeysRequest, _call: Call) -> pb.ListApiKeysResponse:
        tenant, _ = await self._admission.of(request)
        return pb.ListApiKeysResponse(keys=map(_key, await self._administration.all(tenant)))

    async def create_api_key(self, request: pb.CreateApiKeyRequest, _call: Call) -> pb.CreateApiKeyResponse:
        tenant, actor = await self._admission.of(request)
        text = await self._administration.create(
            tenant,
            request.name,
            access=_access(request.access),
            expires_at=_time(request.expires) if request.HasField("expires") else None,
            actor=actor,
        )
        return pb.CreateApiKeyResponse(api_key=text)

    async def update_api_key(self, request: pb.UpdateApiKeyRequest, _call: Call) -> pb.UpdateApiKeyResponse:
        tenant, actor = await self._admission.of(request)
        key = await self._administration.change(
            tenant,
            request.name,
            access=_access(request.access),
            expires_at=_time(request.expires) if request.HasField("expires") else None,
            actor=actor,
        )
        return pb.UpdateApiKeyResponse(key=_key(key))

    async def delete_api_key(self, request: pb.DeleteApiKeyRequest, _call: Call) -> pb.DeleteApiKeyResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.delete(tenant, request.name, actor=actor)
        return pb.DeleteApiKeyResponse()

    async def rotate_api_key_secret(
        self, request: pb.RotateApiKeySecretRequest, _call: Call
    ) -> pb.RotateApiKeySecretResponse:
        tenant, actor = await self._admission.of(request)
        text = await self._administration.rotate(tenant, request.name, actor=actor)
        return pb.RotateApiKeySecretResponse(api_key=text)

    async def check_api_key(self, request: pb.CheckApiKeyRequest, _call: Call) -> pb.CheckApiKeyResponse:
        tenant = self._tenants.find(request.tenant_id)
        key = await self._keys.find(tenant, request.caller.api_key)
        if key is None or key.name != request.name:
            raise Unauthenticated("the caller is not this API key, or the key has expired")
        return pb.CheckApiKeyResponse()


def _access(messages: Iterable[pb.ApiKeyAccess]) -> tuple[Access, ...]:
    """Raises InvalidArgument for an area or a right that does not exist."""
    try:
        return tuple(
            Access(AdministrationArea(message.group), frozenset(map(Right, message.access_rights)))
            for message in messages
        )
    except ValueError as error:
        areas, rights = ", ".join(AdministrationArea), ", ".join(Right)
        raise InvalidArgument(f"access: expected rights of {rights} to groups of {areas}") from error


def _time(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidArgument("exp: expected Unix seconds") from error


def _key(key: ApiKey) -> pb.ApiKey:
    access = [
        pb.ApiKeyAccess(group=access.area, access_rights=sorted(access.rights)) for access in key.all_access
    ]
    return message_of(pb.ApiKey, key, access=access)
