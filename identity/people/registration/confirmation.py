"""Confirmation of an e-mail address by a link in a mail, and a button.

Mail scanners open links, so opening one changes nothing. When several forms registered the address, the owner's form is
unknown. Then none of the passwords is valid, and the browser continues with the choice of one.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from identity.directory.links.link import Link
from identity.directory.pending_registration import PendingRegistration
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.people.registration.links import ConfirmationLinks
from identity.people.registration.return_address import ReturnAddress, ReturnAddresses
from server.platform.clock import Clock
from server.platform.errors import NotFound, Unavailable
from server.platform.records import AlreadyThere, Changed

_ATTEMPTS = 20


class Status(StrEnum):
    OPEN = "open"
    CONFIRMED = "confirmed"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A confirmation link that was sent to `email`, and the page that follows.

    `password_uri` is where the browser that just confirmed chooses a password, empty when the account keeps its own.
    """

    status: Status
    email: str
    way_on: ReturnAddress = field(default_factory=ReturnAddress)
    password_uri: str = field(default="", repr=False)


class PasswordLinks(Protocol):
    async def of_new_account(self, tenant: Tenant, user: User, *, redirect_uri: str) -> str:
        """Return the address where the user chooses a password before continuing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationConfirmation:
    users: Users
    links: ConfirmationLinks
    password_links: PasswordLinks
    return_addresses: ReturnAddresses
    events: Events
    clock: Clock

    async def look(self, tenant: Tenant, user_id: UserId, code: str) -> Confirmation:
        """Return the effect of a link without using it; raises NotFound for an unknown or replaced one."""
        user, link = await self._found(tenant, user_id, code)
        return await self._said(tenant, user, self._status(user, link))

    async def confirm(self, tenant: Tenant, user_id: UserId, code: str, *, peer_address: str) -> Confirmation:
        """Use a valid link, and return the result; raises NotFound like `look`."""
        for _ in range(_ATTEMPTS):
            user, link = await self._found(tenant, user_id, code)
            status = self._status(user, link)
            if status is not Status.OPEN:
                return await self._said(tenant, user, status)
            try:
                kept = await self._kept(user)
            except Changed:
                continue
            await self.links.use_up(link)
            await self.events.emit(
                tenant.tenant_id,
                EventType.USER_CONFIRMED,
                ip=peer_address or None,
                text=kept.email,
                user_id=kept.id,
            )
            confirmation = await self._said(tenant, kept, Status.CONFIRMED)
            return (
                await self._with_password(tenant, kept, confirmation) if user.is_contested else confirmation
            )
        raise Unavailable.untouched("too many requests change the account at the same time")

    async def _found(self, tenant: Tenant, user_id: UserId, code: str) -> tuple[User, Link]:
        # The link first: a confirmation writes the user before it uses the link up, so a used link has a confirmed user.
        link = await self.links.find(tenant, user_id, code)
        user = await self.users.find(tenant, user_id)
        if user is None or link is None or not self.links.is_current(link, user):
            raise NotFound("there is no such link, or a newer one was sent")
        return user, link

    def _status(self, user: User, link: Link) -> Status:
        if user.is_email_verified:
            return Status.CONFIRMED
        return Status.OPEN if link.is_good(self.clock.now()) else Status.EXPIRED

    async def _said(self, tenant: Tenant, user: User, status: Status) -> Confirmation:
        registration = user.registration
        way_on = (
            ReturnAddress() if registration is None else await self.return_addresses.of(tenant, registration)
        )
        return Confirmation(status=status, email=user.email, way_on=way_on)

    async def _with_password(self, tenant: Tenant, user: User, confirmation: Confirmation) -> Confirmation:
        redirect_uri = confirmation.way_on.uri
        uri = await self.password_links.of_new_account(tenant, user, redirect_uri=redirect_uri)
        return replace(confirmation, password_uri=uri)

    async def _kept(self, user: User) -> User:
        now = self.clock.now()
        try:
            return await self.users.replace(confirmed(user, now))
        except AlreadyThere:
            # Another account has taken the username meanwhile: the confirmation succeeds without it.
            return await self.users.replace(
                replace(confirmed(user, now), preferred_username=user.preferred_username)
            )


def confirmed(user: User, now: datetime) -> User:
    """Return the account with a confirmed address; a contested one gets the last form's names and no password."""
    asked = user.registration
    if asked is None:
        return replace(user, is_email_verified=True, confirmed_at=now, changed_at=now)
    return replace(
        _named_as(user, asked).without_password() if asked.is_contested else user,
        is_email_verified=True,
        confirmed_at=now,
        changed_at=now,
        registration=asked.done(),
    )


def _named_as(user: User, asked: PendingRegistration) -> User:
    return replace(
        user,
        given_name=asked.given_name,
        family_name=asked.family_name,
        preferred_username=asked.preferred_username or user.preferred_username,
    )
