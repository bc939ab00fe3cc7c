"""Concurrent changes while an image is decoded."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from identity.access.callers import Actor, ActorKind
from identity.administration.images.holders import Holders
from identity.administration.images.image_administration import ImageAdministration
from identity.directory.images.image import IMAGES, ImageKind, Owner
from identity.directory.images.images import Images
from identity.directory.images.rewrite_program import Shape
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.events import Events
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import NotFound, ResourceExhausted
from server.platform.records import Kind, Record
from server.platform.records.memory import MemoryRecordStore
from tests.identity.deployment import ISSUER, NOON

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TENANT = Tenant(TenantId("default"), ISSUER)
SHOP = Owner(ImageKind.CLIENT, "shop")
ACTOR = Actor(ActorKind.USER, "ada", "ada@example.com")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop(Record):
    image_id: str = ""


SHOPS = Kind(Shop, "shop", owners=())


class Decoding:
    """Runs `meanwhile` during the decoding; returns the content unchanged."""

    def __init__(self) -> None:
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def rewrite(self, content: bytes, _shape: Shape) -> bytes:
        if self.meanwhile is not None:
            act, self.meanwhile = self.meanwhile, None
            await act()
        return content


class World:
    def __init__(self) -> None:
        clock, randomness = VirtualClock(pinned=NOON), SystemRandomness()
        store = MemoryRecordStore(clock)
        self.shops, self.images = store.of(SHOPS), store.of(IMAGES)
        self.decoding = Decoding()
        self.after_look: Callable[[], Awaitable[object]] | None = None
        self.kept = Images(store, clock=clock, randomness=randomness)
        self.administration, self.other_process = (
            ImageAdministration(
                self.kept,
                self.decoding,
                holders={ImageKind.CLIENT: self._holders()},
                events=Events(store, EventsConfig().levels, clock=clock, randomness=randomness),
            )
            for _ in range(2)
        )

    def _holders(self) -> Holders[Shop]:
        async def known(tenant: Tenant, shop_id: str) -> Shop | None:
            shop = await self.shops.get(tenant.tenant_id, shop_id)
            if self.after_look is not None:
                act, self.after_look = self.after_look, None
                await act()
            return shop

        async def anybody(_tenant: Tenant, _shop: Shop, _actor: Actor) -> None:
            """Permit the change."""

        return Holders(
            noun="shop",
            records=self.shops,
            known=known,
            expect_may_change=anybody,
            image_id_of=lambda shop: shop.image_id,
            with_image=lambda shop, image_id: replace(shop, image_id=image_id),
            name_of=lambda shop: shop.id,
        )

    async def put(self, content: bytes = b"image") -> str:
        return await self.administration.put(TENANT, SHOP, content, actor=ACTOR)

    async def put_elsewhere(self, content: bytes = b"image") -> str:
        return await self.other_process.put(TENANT, SHOP, content, actor=ACTOR)

    async def close_down(self) -> None:
        """Remove the client together with its images."""
        await self.shops.take(TENANT.tenant_id, SHOP.id)
        await self.images.remove(TENANT.tenant_id, "owner", f"client {SHOP.id}")

    async def ids(self) -> list[str]:
        return [image.id for image in await self.images.page(TENANT.tenant_id)]


@pytest.fixture
async def world() -> World:
    world = World()
    await world.shops.insert(Shop(tenant_id=TENANT.tenant_id, id=SHOP.id))
    return world


async def test_who_is_deleted_meanwhile_leaves_no_image(world: World) -> None:
    world.decoding.meanwhile = world.close_down

    with pytest.raises(NotFound):
        await world.put()

    assert await world.ids() == []


async def test_of_two_at_the_same_time_the_last_counts_and_is_alone(world: World) -> None:
    world.decoding.meanwhile = lambda: world.put_elsewhere(b"faster")

    image_id = await world.put(b"slower")

    assert await world.ids() == [image_id]
    assert (await world.administration.find(TENANT, SHOP)).content == b"slower"


async def test_one_image_of_an_owner_is_decoded_at_a_time(world: World) -> None:
    world.decoding.meanwhile = world.put

    with pytest.raises(ResourceExhausted):
        await world.put()

    assert await world.ids() == []
    assert await world.put() in await world.ids()


async def test_whoever_looks_while_an_image_is_replaced_sees_the_new_one(world: World) -> None:
    await world.put(b"old")
    world.after_look = lambda: world.put(b"new")

    assert (await world.administration.find(TENANT, SHOP)).content == b"new"


async def test_what_somebody_else_replaced_is_not_taken_away(world: World) -> None:
    first = await world.put()
    second = await world.put()

    with pytest.raises(NotFound):
        await world.administration.delete(TENANT, SHOP, image_id=first, actor=ACTOR)

    assert await world.ids() == [second]


async def test_whatever_else_is_changed_meanwhile_stays(world: World) -> None:
    async def rename() -> None:
        shop = await world.shops.get(TENANT.tenant_id, SHOP.id)
        assert shop is not None
        await world.shops.replace(replace(shop, expires_at=None))

    world.decoding.meanwhile = rename

    image_id = await world.put()

    shop = await world.shops.get(TENANT.tenant_id, SHOP.id)
    assert shop is not None
    assert (shop.image_id, shop.revision) == (image_id, 3)
