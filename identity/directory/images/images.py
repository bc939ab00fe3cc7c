"""The images of a tenant."""

from identity.directory.images.image import IMAGES, Image, ImageKind, Owner
from identity.directory.images.rewriter import MEDIA_TYPE
from identity.directory.user import UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.records import RecordStore

# Knowledge of the id gives access to the image, so ids are unguessable.
_ID_LENGTH = 24


class Images:
    def __init__(self, store: RecordStore, *, clock: Clock, randomness: Randomness) -> None:
        self._records = store.of(IMAGES)
        self._clock = clock
        self._randomness = randomness

    async def find(self, tenant_id: TenantId, owner: Owner, image_id: str) -> Image | None:
        image = await self._records.get(tenant_id, image_id)
        return image if image is not None and image.owner == str(owner) else None

    async def add(self, tenant_id: TenantId, owner: Owner, content: bytes) -> Image:
        return await self._records.insert(
            Image(
                tenant_id=tenant_id,
                id=self._randomness.alphanumeric(_ID_LENGTH),
                owner=str(owner),
                content=content,
                media_type=MEDIA_TYPE,
                uploaded_at=self._clock.now(),
            )
        )

    async def remove(self, tenant_id: TenantId, image_id: str) -> None:
        await self._records.take(tenant_id, image_id)

    async def remove_of_user(self, tenant: Tenant, user_id: UserId) -> None:
        await self._remove_of(tenant, Owner(ImageKind.USER, user_id))

    async def remove_of_client(self, tenant: Tenant, client_id: str) -> None:
        await self._remove_of(tenant, Owner(ImageKind.CLIENT, client_id))

    async def remove_of_provider(self, tenant: Tenant, provider_id: str) -> None:
        await self._remove_of(tenant, Owner(ImageKind.PROVIDER, provider_id))

    async def _remove_of(self, tenant: Tenant, owner: Owner) -> None:
        await self._records.remove(tenant.tenant_id, "owner", str(owner))
