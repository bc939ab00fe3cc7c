"""Upload, look-up and removal of images.

A new image is stored before its owner's record names it, and the old one is removed after that. Every reader therefore
finds one of them. If the owner is deleted concurrently, the new image is removed again.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from identity.access.callers import Actor, ActorKind
from identity.administration.images.holders import Holders
from identity.directory.images.image import SHAPES, Image, ImageKind, Owner
from identity.directory.images.images import Images
from identity.directory.images.rewrite_program import Shape
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import NotFound, ResourceExhausted, Unavailable
from server.platform.records import Record

_WORDS = {ImageKind.CLIENT: "logo", ImageKind.USER: "picture", ImageKind.PROVIDER: "image"}

# An image may be replaced between the read of the owner and the read of the image.
_LOOKS = 3


class Rewriter(Protocol):
    async def rewrite(self, content: bytes, shape: Shape) -> bytes: ...


class ImageAdministration:
    """Decodes one image of an owner at a time, so that no owner occupies all workers."""

    def __init__(
        self,
        images: Images,
        rewriter: Rewriter,
        *,
        holders: Mapping[ImageKind, Holders[Any]],
        events: Events,
    ) -> None:
        self._images = images
        self._rewriter = rewriter
        self._holders = holders
        self._events = events
        self._under_way: set[tuple[str, Owner]] = set()

    async def expect_changeable(self, tenant: Tenant, owner: Owner, actor: Actor) -> None:
        """Raise NotFound, PermissionDenied, InvalidState when the caller cannot set an image of this owner."""
        await self._holders[owner.kind].find_changeable(tenant, owner.id, actor)

    async def find(self, tenant: Tenant, owner: Owner) -> Image:
        """Return the current image of an owner that the tenant's provider serves; raises NotFound."""
        holders = self._holders[owner.kind]
        for _ in range(_LOOKS):
            holder = await holders.known(tenant, owner.id)
            image_id = "" if holder is None else holders.image_id_of(holder)
            if holder is None or not image_id:
                break
            image = await self._images.find(holder.tenant_id, owner, image_id)
            if image is not None:
                return image
        raise _none()

    async def put(self, tenant: Tenant, owner: Owner, content: bytes, *, actor: Actor) -> str:
        """Replace the image and return its id.

        Raises NotFound, PermissionDenied, InvalidState, InvalidArgument for an unsupported image, ResourceExhausted,
        Unavailable.
        """
        holders = self._holders[owner.kind]
        await holders.find_changeable(tenant, owner.id, actor)
        with self._turn(tenant, owner):
            written = await self._rewriter.rewrite(content, SHAPES[owner.kind])
        image = await self._images.add(tenant.tenant_id, owner, written)
        try:
            before = await holders.replace_image(tenant, owner.id, image.id)
        except (NotFound, Unavailable):
            await self._images.remove(tenant.tenant_id, image.id)
            raise
        await self._remove(before, holders.image_id_of(before))
        await self._tell(EventType.CHANGED, owner, before, actor)
        return image.id

    async def delete(self, tenant: Tenant, owner: Owner, *, image_id: str = "", actor: Actor) -> None:
        """Remove the image, or only the one with `image_id`; raises NotFound, PermissionDenied, InvalidState."""
        holders = self._holders[owner.kind]
        holder = await holders.find_changeable(tenant, owner.id, actor)
        current = holders.image_id_of(holder)
        if not current or image_id not in {"", current}:
            raise _none()
        before = await holders.replace_image(tenant, owner.id, "", before=current)
        await self._remove(before, current)
        await self._tell(EventType.DELETED, owner, before, actor)

    @contextmanager
    def _turn(self, tenant: Tenant, owner: Owner) -> Iterator[None]:
        place = tenant.tenant_id, owner
        if place in self._under_way:
            raise ResourceExhausted("another upload for this owner is in progress")
        self._under_way.add(place)
        try:
            yield
        finally:
            self._under_way.remove(place)

    async def _remove(self, holder: Record, image_id: str) -> None:
        if image_id:
            await self._images.remove(holder.tenant_id, image_id)

    async def _tell(self, event_type: EventType, owner: Owner, holder: Record, actor: Actor) -> None:
        holders = self._holders[owner.kind]
        is_own = owner.kind is ImageKind.USER and actor.kind is ActorKind.USER and actor.id == owner.id
        await self._events.emit(
            holder.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=f"{_WORDS[owner.kind]} of {holders.noun} {holders.name_of(holder)}",
            user_id=owner.id if owner.kind is ImageKind.USER else None,
            client_id=owner.id if owner.kind is ImageKind.CLIENT else None,
            session=actor.session if is_own and actor.session else None,
            actor=actor,
        )


def _none() -> NotFound:
    return NotFound("there is no such image")
