"""ApiKeyService."""

from gnomon.identity.v1 import api_key_service_pb2 as pb
from identity.access.api_keys import ApiKeyAdministration, ApiKeys
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.foundation.tenants import Tenants
from server.platform.call import Call
from server.platform.errors import Unauthenticated


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
            names={"access": "all_access", "group": "area", "access_rights": "rights"},
        )

    async def check_api_key(self, request: pb.CheckApiKeyRequest, _call: Call) -> pb.CheckApiKeyResponse:
        tenant = self._tenants.find(request.tenant_id)
        key = await self._keys.find(tenant, request.caller.api_key)
        if key is None or key.name != request.name:
            raise Unauthenticated("the caller is not this API key, or the key has expired")
        return pb.CheckApiKeyResponse(text=f"this is the API key {request.name}")
