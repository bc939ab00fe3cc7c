"""Owners of images: clients, users and providers of a tenant, whose records name the current image."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from identity.access.callers import Actor
from identity.foundation.tenants import Tenant
from server.platform.errors import NotFound, Unavailable
from server.platform.records import Changed, Record, Records

H = TypeVar("H", bound=Record)

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Holders(Generic[H]):
    """`known` finds any owner that the tenant's provider serves; changes need an owner of the tenant itself."""

    noun: str
    records: Records[H]
    known: Callable[[Tenant, str], Awaitable[H | None]]
    expect_may_change: Callable[[Tenant, H, Actor], Awaitable[None]]
    image_id_of: Callable[[H], str]
    with_image: Callable[[H, str], H]
    name_of: Callable[[H], str]

    async def find(self, tenant: Tenant, holder_id: str) -> H:
        """Raises NotFound."""
        holder = await self.records.get(tenant.tenant_id, holder_id)
        if holder is None:
            raise NotFound(f"there is no such {self.noun}")
        return holder

    async def find_changeable(self, tenant: Tenant, holder_id: str, actor: Actor) -> H:
        """Raises NotFound, PermissionDenied, InvalidState."""
        holder = await self.find(tenant, holder_id)
        await self.expect_may_change(tenant, holder, actor)
        return holder

    async def replace_image(self, tenant: Tenant, holder_id: str, image_id: str, *, before: str = "") -> H:
        """Set the id of the owner's image, empty for none; returns the owner as it was before.

        With `before`, raises NotFound unless that was the image id; raises NotFound in any case when the owner is gone.
        """
        for _ in range(_ATTEMPTS):
            holder = await self.find(tenant, holder_id)
            if before and self.image_id_of(holder) != before:
                raise NotFound("there is no such image")
            try:
                await self.records.replace(self.with_image(holder, image_id))
            except Changed:
                continue
            return holder
        raise Unavailable.untouched(f"the {self.noun} is changed by too many requests at the same time")
