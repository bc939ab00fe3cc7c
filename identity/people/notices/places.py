"""Browsers and network addresses of a user's sign-ins, to detect new ones; addresses are IPv4 or IPv6 networks.

The first sign-in of a user is not new. A failure here never stops a sign-in.
"""

import logging
from dataclasses import dataclass, replace

from identity.access.login_protection.addresses import Addresses
from identity.access.networks.networks import Networks
from identity.access.sessions.browser import Browser
from identity.access.sessions.device_cookies import DeviceCookies
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.tenants import Tenant
from identity.foundation.user_agents import name_of
from identity.people.notices.sign_ins import NewSignIn, SignInNotices
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Owner, Record, Records

logger = logging.getLogger(__name__)

MOST_PLACES = 50
MOST_DEVICES = 20
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPlaces(Record):
    """`id` is the user's; the last of `places` is the newest, the last of `devices` the one used last.

    `devices` are keyed hashes. They are empty in records of an earlier version. `countries` are ISO 3166 codes, as far
    as they were known.
    """

    places: tuple[str, ...]
    devices: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()

    def knows_device(self, device: str, place: str) -> bool:
        """A user without known browsers is recognized by the address."""
        return device in self.devices if self.devices else place in self.places

    def knows_country(self, country: str) -> bool:
        """A user without known countries, and an unknown country, are not new."""
        return not country or not self.countries or country in self.countries

    def with_sign_in(self, device: str, place: str, country: str) -> "SignInPlaces":
        places = _with(self.places, place)
        countries = _with(self.countries, country)
        others = (known for known in self.devices if known != device)
        devices = (*others, device)[-MOST_DEVICES:]
        return replace(self, places=places, devices=devices, countries=countries)


def _with(known: tuple[str, ...], found: str) -> tuple[str, ...]:
    return known if found in known or not found else (*known, found)[-MOST_PLACES:]


SIGN_IN_PLACES = Kind(SignInPlaces, "sign_in_places", owners=(Owner("user"),))


class KnownPlaces:
    """The stored sign-ins of users."""

    def __init__(self, records: Records[SignInPlaces]) -> None:
        self._records = records

    async def note(
        self, tenant: Tenant, user_id: UserId, *, device: str, place: str, country: str
    ) -> SignInPlaces | None:
        """Store a sign-in and return the record before it, None for the first one of the user."""
        for _ in range(_ATTEMPTS):
            before = await self._records.get(tenant.tenant_id, user_id)
            known = before or SignInPlaces(tenant_id=tenant.tenant_id, id=user_id, places=())
            after = known.with_sign_in(device, place, country)
            if after == before:
                return before
            try:
                await (self._records.insert if before is None else self._records.replace)(after)
            except (AlreadyThere, Changed):
                continue
            return before
        logger.info("a sign-in was not stored among those of its user", extra={"user_id": user_id})
        return None

    async def find(self, tenant: Tenant, user_id: UserId) -> SignInPlaces | None:
        return await self._records.get(tenant.tenant_id, user_id)

    async def forget(self, tenant: Tenant, user_id: UserId) -> None:
        """Make the next sign-in of the user a new one; raises Unavailable."""
        kept = SignInPlaces(tenant_id=tenant.tenant_id, id=user_id, places=())
        for _ in range(_ATTEMPTS):
            await self._records.take(tenant.tenant_id, user_id)
            try:
                await self._records.insert(kept)
            except AlreadyThere:
                continue
            return
        raise Unavailable.untouched("the user signs in at the same time")


@dataclass(frozen=True, slots=True)
class KnownBrowsers:
    """Recognizes the browsers of users, before a sign-in, by their cookies."""

    users: Users
    places: KnownPlaces
    cookies: DeviceCookies

    async def knows(self, tenant: Tenant, email: str, device: str) -> bool:
        """Whether a user with this address signed in with the browser of this cookie."""
        if not self.cookies.is_genuine(tenant, device):
            return False
        user = await self.users.find_to_sign_in(tenant, email)
        # The same reads for an unknown address: their time says nothing about accounts.
        user_id = UserId("") if user is None else user.user_id
        kept = await self.places.find(tenant, user_id)
        return kept is not None and self.cookies.device_of(user_id, device) in kept.devices


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceWatch:
    """Compares a sign-in with the earlier ones of its user."""

    places: KnownPlaces
    addresses: Addresses
    networks: Networks
    cookies: DeviceCookies
    notices: SignInNotices
    events: Events
    clock: Clock

    async def note(self, tenant: Tenant, user: User, browser: Browser, *, sid: str) -> str:
        """Store a sign-in and notify the user if it is new; returns the cookie for the browser."""
        cookie = self.cookies.genuine(tenant, browser.device)
        try:
            await self._note(tenant, user, browser, cookie=cookie, sid=sid)
        except Unavailable:
            logger.warning(
                "a sign-in was not compared with earlier ones", extra={"tenant_id": tenant.tenant_id}
            )
        return cookie

    async def _note(self, tenant: Tenant, user: User, browser: Browser, *, cookie: str, sid: str) -> None:
        place = self.addresses.group(browser.peer_address) if browser.peer_address else ""
        country = self.networks.of(browser.peer_address).country
        device = self.cookies.device_of(user.user_id, cookie)
        before = await self.places.note(tenant, user.user_id, device=device, place=place, country=country)
        if before is None:
            return
        sign_in = NewSignIn(
            at=self.clock.now(),
            peer_address=browser.peer_address,
            browser=name_of(browser.user_agent),
            country=country,
            has_new_device=not before.knows_device(device, place),
            has_new_address=bool(place) and place not in before.places,
            has_new_country=not before.knows_country(country),
        )
        for event_type in sign_in.event_types:
            await self.events.emit(
                tenant.tenant_id,
                event_type,
                ip=browser.peer_address or None,
                text=sign_in.text or None,
                user_id=user.user_id,
                session=sid,
            )
        await self.notices.post(tenant, user, sign_in)
