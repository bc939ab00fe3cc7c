"""Export of accounts, page by page, in the form of an import.

Password hashes are exported only on request, to administrators of the whole deployment, with a security event for each
page. Secrets of authenticator apps and passkeys are never exported.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from identity.access.callers import Actor
from identity.directory.provider import Provider, ProviderLink
from identity.directory.user import AccountType, User
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.tenants import Tenant
from identity.people.transfer.account import ImportedLink
from server.platform.clock import Clock
from server.platform.records import Records

_LINKED = frozenset({AccountType.FEDERATED, AccountType.FEDERATED_PASSKEY, AccountType.FEDERATED_PASSWORD})


@dataclass(frozen=True, slots=True)
class ExportedUser:
    """`password_hash` is empty unless hashes are exported."""

    user: User
    links: tuple[ImportedLink, ...]
    is_password_expired: bool
    password_hash: str = field(default="", repr=False)


class Providers(Protocol):
    async def all(self, tenant: Tenant) -> Sequence[Provider]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UserExports:
    users: Records[User]
    links: Records[ProviderLink]
    providers: Providers
    events: Events
    clock: Clock

    async def page(
        self, tenant: Tenant, actor: Actor, *, after: str, most: int, has_hashes: bool
    ) -> Sequence[ExportedUser]:
        """Return users in the order of their ids, beginning after `after`.

        Each page with password hashes emits an event, because a caller can begin with any of them.
        """
        if has_hashes:
            await self._tell_of_hashes(tenant, actor)
        names = {provider.id: provider.name for provider in await self.providers.all(tenant)}
        now = self.clock.now()
        return [
            ExportedUser(
                user,
                await self._links(user, names),
                is_password_expired=user.password_until is not None and user.password_until <= now,
                password_hash=user.password_hash if has_hashes else "",
            )
            for user in await self.users.page(tenant.tenant_id, after=after, most=most)
        ]

    async def _tell_of_hashes(self, tenant: Tenant, actor: Actor) -> None:
        await self.events.emit(
            tenant.tenant_id,
            EventType.CREATED,
            level=Level.WARNING,
            ip=actor.peer_address or None,
            text="export of users with password hashes",
            actor=actor,
        )

    async def _links(self, user: User, names: dict[str, str]) -> tuple[ImportedLink, ...]:
        if user.account_type not in _LINKED:
            return ()
        found = await self.links.find(user.tenant_id, "user_id", user.id)
        return tuple(
            ImportedLink(names[link.provider_id], link.id.removeprefix(f"{link.provider_id} "))
            for link in found
            if link.provider_id in names
        )
