"""ApiKeyService."""

from collections.abc import Iterable, Sequence

from gnomon.identity.v1 import api_key_service_pb2 as pb
from identity.access.api_key import Access, ApiKey
from identity.access.api_keys import ApiKeyAdministration, ApiKeys
from identity.access.callers import AdministrationArea, Right
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import message_of
from identity.foundation.tenants import Tenants
from server.platform.call import Call
from server.platform.errors import InvalidArgument, Unauthenticated


class ApiKeyServicer(Operations):
    def __init__(
        self, tenants: Tenants, admission: Admission, *, keys: ApiKeys, administration: ApiKeyAdministration
    ) -> None:
        self._tenants = tenants
        self._keys = keys
        super().__init__(
            admission,
            {
                pb.ListApiKeysRequest: administration.all,
                pb.CreateApiKeyRequest: named(administration.create, expires_at="expires"),
                pb.UpdateApiKeyRequest: named(administration.change, expires_at="expires"),
                pb.DeleteApiKeyRequest: administration.delete,
                pb.RotateApiKeySecretRequest: administration.rotate,
            },
            reads={Sequence[Access]: _access},
            shows={ApiKey: _message},
        )

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


def _message(key: ApiKey) -> pb.ApiKey:
    access = [
        pb.ApiKeyAccess(group=access.area, access_rights=sorted(access.rights)) for access in key.all_access
    ]
    return message_of(pb.ApiKey, key, access=access)
