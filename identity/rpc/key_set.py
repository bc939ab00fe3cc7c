"""KeySetService."""

from dataclasses import asdict

from gnomon.identity.v1 import key_set_service_pb2 as pb
from identity.jose.signing_key import SigningKey
from identity.key_ring import KeyRing
from identity.tenants import Tenants
from server.platform.call import Call
from server.platform.errors import NotFound


class KeySetServicer:
    def __init__(self, tenants: Tenants, keys: KeyRing) -> None:
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


def _jwk(key: SigningKey) -> pb.Jwk:
    return pb.Jwk(**asdict(key.public_jwk))
