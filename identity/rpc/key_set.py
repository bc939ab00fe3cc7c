"""KeySetService."""

from dataclasses import asdict
from typing import Protocol

from gnomon.identity.v1 import key_set_service_pb2 as pb
from identity.jose.key_set import KeySet
from identity.jose.verification_key import VerificationKey
from identity.tenants import Tenants
from server.platform.call import Call, TenantId
from server.platform.errors import NotFound


class Keys(Protocol):
    async def key_set(self, tenant_id: TenantId) -> KeySet: ...

    async def rotate(self, tenant_id: TenantId) -> None: ...


class KeySetServicer:
    def __init__(self, tenants: Tenants, keys: Keys) -> None:
        self._tenants = tenants
        self._keys = keys

    async def get_key_set(self, request: pb.GetKeySetRequest, _call: Call) -> pb.GetKeySetResponse:
        key_set = await self._keys.key_set(self._tenants.find(request.tenant_id).tenant_id)
        return pb.GetKeySetResponse(keys=map(_jwk, key_set.keys))

    async def get_key(self, request: pb.GetKeyRequest, _call: Call) -> pb.GetKeyResponse:
        key_set = await self._keys.key_set(self._tenants.find(request.tenant_id).tenant_id)
        key = key_set.find(request.kid)
        if key is None:
            raise NotFound("there is no such key")
        return pb.GetKeyResponse(key=_jwk(key))

    async def rotate_keys(self, _request: pb.RotateKeysRequest, call: Call) -> pb.RotateKeysResponse:
        await self._keys.rotate(self._tenants.find(call.tenant_id).tenant_id)
        return pb.RotateKeysResponse()


def _jwk(key: VerificationKey) -> pb.Jwk:
    return pb.Jwk(**asdict(key.public_jwk))
