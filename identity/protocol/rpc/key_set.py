"""KeySetService."""

from collections.abc import Collection, Sequence
from typing import Protocol

from gnomon.identity.v1 import key_set_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.crypto.jose.key_set import KeySet
from identity.crypto.jose.verification_key import PublicJwk
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.errors import NotFound


class Keys(Protocol):
    async def key_set(self, tenant_id: TenantId) -> KeySet: ...

    async def rotate(self, tenant_id: TenantId, *, actor: Actor) -> None: ...


class Publication(Protocol):
    async def key_set(self, tenant_id: TenantId, algorithms: Collection[str] = ()) -> KeySet: ...


class KeySetServicer(Operations):
    def __init__(self, admission: Admission, keys: Keys, publication: Publication) -> None:
        self._keys = keys
        self._publication = publication
        super().__init__(
            admission,
            {
                pb.GetKeySetRequest: self._key_set,
                pb.GetKeyRequest: self._key,
                pb.RotateKeysRequest: self._rotate,
            },
        )

    async def _key_set(self, tenant: Tenant, algorithms: tuple[str, ...]) -> Sequence[PublicJwk]:
        key_set = await self._publication.key_set(tenant.tenant_id, algorithms)
        return [key.public_jwk for key in key_set.keys]

    async def _key(self, tenant: Tenant, kid: str) -> PublicJwk:
        key = (await self._keys.key_set(tenant.tenant_id)).find(kid)
        if key is None:
            raise NotFound("there is no such key")
        return key.public_jwk

    async def _rotate(self, tenant: Tenant, actor: Actor) -> None:
        await self._keys.rotate(tenant.tenant_id, actor=actor)
