"""The images of a tenant."""

from identity.directory.images.image import IMAGES, Image, Owner
from identity.directory.images.rewriter import MEDIA_TYPE
from identity.foundation.randomness import Randomness
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
