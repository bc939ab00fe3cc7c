"""Change of a user's own e-mail address, which takes effect once the new address is confirmed.

The response does not reveal whether the new address belongs to another account.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from identity.access.person import Person
from identity.delivery.mail.letter import Letter
from identity.directory.links.link import Link, Usage
from identity.directory.links.links import Links
from identity.directory.user import User, UserId
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.events.new_addresses import new_address
from identity.foundation.record_changes import rewritten
from identity.foundation.tenants import Tenant
from identity.people import names
from identity.people.account import letters
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidArgument, NotFound
from server.platform.languages import languages
from server.platform.records import AlreadyThere, Records

_GOOD_FOR = timedelta(hours=24)

# Links that were sent to the old address, and earlier links to new ones.
_OUTDATED = (Usage.CHANGE_EMAIL, Usage.RESET_PASSWORD, Usage.NEW_ACCOUNT, Usage.CONFIRM_EMAIL)


class Mail(Protocol):
    @property
    def is_open(self) -> bool: ...

    async def post(self, tenant: Tenant, letter: Letter) -> None: ...


class Revocations(Protocol):
    async def link(self, tenant: Tenant, user_id: UserId) -> str:
        """Return the address of a link by which the user reports that somebody else made the change."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressChanges:
    users: Records[User]
    links: Links
    mail: Mail
    revocations: Revocations
    version: DirectoryVersion
    events: Events
    clock: Clock

    def checked(self, user: User, email: str | None) -> str:
        """Return the requested address, or an empty text when it is the present one.

        Raises InvalidArgument for an invalid address. Without mail it raises InvalidArgument for every new address,
        because the user could not confirm it.
        """
        address = user.email if email is None else names.email(email)
        if address == user.email:
            return ""
        if not self.mail.is_open:
            raise InvalidArgument("email: expected the current address; only an administrator can change it")
        return address

    async def ask(self, person: Person, user: User, address: str) -> None:
        """Send a link to the new address and a notice to the old one; earlier links become invalid."""
        tenant, user_id = person.tenant, user.user_id
        language = languages().of(user.language)
        await self.links.cancel(tenant, user_id, Usage.CHANGE_EMAIL)
        if not await self.users.find(tenant.tenant_id, "email", address, most=1):
            until = self.clock.now() + _GOOD_FOR
            code = await self.links.issue(tenant, user_id, Usage.CHANGE_EMAIL, until=until, value=address)
            link = f"{tenant.issuer}users/{user_id}/email_change/{code}"
            await self.mail.post(tenant, letters.confirm_address(address, link, until, language))
        not_me = await self.revocations.link(tenant, user_id)
        await self.mail.post(tenant, letters.address_about_to_change(user.email, address, not_me, language))

    async def find(self, tenant: Tenant, user_id: UserId, code: str) -> str:
        """Return the new address that a link confirms; raises NotFound."""
        return (await self._found(tenant, user_id, code)).value

    async def confirm(self, tenant: Tenant, user_id: UserId, code: str, *, peer_address: str) -> str:
        """Replace the address by the confirmed one and return it; raises NotFound, AlreadyExists."""
        link = await self._found(tenant, user_id, code)
        if not await self.links.redeem(link):
            raise _dead()
        before, after = await self._changed(tenant, user_id, link.value)
        await self.version.advance(user_id)
        for usage in _OUTDATED:
            await self.links.cancel(tenant, user_id, usage)
        await self.events.emit(
            tenant.tenant_id,
            EventType.USER_EMAIL_CHANGE,
            ip=peer_address or None,
            text=new_address(before.email, after.email),
            user_id=user_id,
        )
        return after.email

    async def _changed(self, tenant: Tenant, user_id: UserId, address: str) -> tuple[User, User]:
        now = self.clock.now()
        read: list[User] = []

        async def found() -> User:
            user = await self.users.get(tenant.tenant_id, user_id)
            if user is None or not user.is_active(now):
                raise _dead()
            read.append(user)
            return user

        def changed(user: User) -> User:
            return replace(user, email=address, is_email_verified=True, confirmed_at=now, changed_at=now)

        try:
            after = await rewritten(self.users, found, changed)
        except AlreadyThere as error:
            raise AlreadyExists("the address belongs to another account by now") from error
        return read[-1], after

    async def _found(self, tenant: Tenant, user_id: UserId, code: str) -> Link:
        link = await self.links.find(tenant, user_id, Usage.CHANGE_EMAIL, code)
        if link is None or not link.is_good(self.clock.now()):
            raise _dead()
        return link


def _dead() -> NotFound:
    return NotFound("there is no such link, or it was used, has expired or was replaced by another one")
