"""Network addresses from which a user signed in, to detect new ones: IPv4 addresses or IPv6 networks.

The first address of a user does not count as new.
"""

import logging
from dataclasses import dataclass, replace

from identity.access.login_protection.addresses import Addresses
from identity.directory.user import UserId
from identity.foundation.events.event import Event
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.records import AlreadyThere, Changed, Kind, Record, Records

logger = logging.getLogger(__name__)

MOST_PLACES = 50
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPlaces(Record):
    """`id` is the user's; the last of `places` is the newest."""

    places: tuple[str, ...]


SIGN_IN_PLACES = Kind(SignInPlaces, "sign_in_places")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceWatch:
    """Listens to security events."""

    records: Records[SignInPlaces]
    addresses: Addresses
    events: Events

    async def hear(self, event: Event) -> None:
        if event.type is not EventType.LOGIN_SUCCEEDED or not event.user_id or not event.ip:
            return
        if await self._is_new(event, event.user_id, self.addresses.group(event.ip)):
            await self.events.emit(
                event.tenant_id,
                EventType.LOGIN_NEW_LOCATION,
                ip=event.ip,
                user_id=event.user_id,
                session=event.session,
            )

    async def remove_of_user(self, tenant: Tenant, user_id: UserId) -> None:
        await self.records.take(tenant.tenant_id, user_id)

    async def _is_new(self, event: Event, user_id: str, place: str) -> bool:
        """Store the place; returns whether the user signed in from other places only so far."""
        for _ in range(_ATTEMPTS):
            kept = await self.records.get(event.tenant_id, user_id)
            if kept is not None and place in kept.places:
                return False
            try:
                if kept is None:
                    await self.records.insert(
                        SignInPlaces(tenant_id=event.tenant_id, id=user_id, places=(place,))
                    )
                else:
                    await self.records.replace(replace(kept, places=(*kept.places, place)[-MOST_PLACES:]))
            except (AlreadyThere, Changed):
                continue
            return kept is not None
        logger.info("the network address of a sign-in was not stored", extra={"user_id": user_id})
        return False
