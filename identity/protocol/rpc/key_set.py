"""KeySetService."""

from collections.abc import Collection
from dataclasses import asdict
from typing import Protocol

from gnomon.identity.v1 import key_set_service_pb2 as pb
from identity.access.callers import Actor
from identity.crypto.jose.key_set import KeySet
from identity.crypto.jose.verification_key import VerificationKey
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call, TenantId
from server.platform.errors import NotFound


class Keys(Protocol):
    async def key_set(self, tenant_id: TenantId) -> KeySet: ...

    async def rotate(self, tenant_id: TenantId, *, actor: Actor) -> None: ...


class Publication(Protocol):
    async def key_set(self, tenant_id: TenantId, algorithms: Collection[str] = ()) -> KeySet: ...


class Admission(Protocol):
    async def of(self, request: pb.RotateKeysRequest) -> tuple[Tenant, Actor]: ...


class KeySetServicer:
    def __init__(
        self, tenants: Tenants, keys: Keys, *, publication: Publication, admission: Admission
    ) -> None:
        self._tenants = tenants
        self._admission = admission
        self._keys = keys
        self._publication = publication

    async def get_key_set(self, request: pb.GetKeySetRequest, _call: Call) -> pb.GetKeySetResponse:
        tenant = self._tenants.find(request.tenant_id)
        key_set = await self._publication.key_set(tenant.tenant_id, request.algorithms)
        return pb.GetKeySetResponse(keys=map(_jwk, key_set.keys))

    async def get_key(self, request: pb.GetKeyRequest, _call: Call) -> pb.GetKeyResponse:
        key_set = await self._keys.key_set(self._tenants.find(request.tenant_id).tenant_id)
        key = key_set.find(request.kid)
        if key is None:
            raise NotFound("there is no such key")
        return pb.GetKeyResponse(key=_jwk(key))

    async def rotate_keys(self, request: pb.RotateKeysRequest, _call: Call) -> pb.RotateKeysResponse:
        tenant, actor = await self._admission.of(request)
        await self._keys.rotate(tenant.tenant_id, actor=actor)
        return pb.RotateKeysResponse()


def _jwk(key: VerificationKey) -> pb.Jwk:
    return pb.Jwk(**asdict(key.public_jwk))
