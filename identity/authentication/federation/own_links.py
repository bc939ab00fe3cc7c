"""Links of a user's own account to upstream providers: list, begin and remove.

Each change needs a modification token, so the user has just authenticated again in this browser.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from identity.access.last_administrator import LastAdministrator
from identity.access.person import Person
from identity.access.sign_out import SignOut
from identity.authentication.federation.account_types import unlinked
from identity.authentication.federation.login import LIFETIME
from identity.authentication.federation.pending_link import PendingLink
from identity.authentication.federation.requests import UpstreamRequests
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.reauthentication.modification_tokens import ModificationTokens
from identity.authentication.requests.redirection import Redirection
from identity.directory.provider import Provider, ProviderLink
from identity.directory.providers import Providers
from identity.directory.secrets import SecretHasher
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidState, NotFound, Unavailable
from server.platform.records import AlreadyThere, Changed, Records

_MOST_OF_A_USER = 1000
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class LinkedProviders:
    """Providers that the account is linked to, also disabled ones, and those that it can be linked to."""

    linked: Sequence[Provider]
    available: Sequence[Provider]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLinks:
    """Without `is_enabled` there is no sign-in through upstream providers, and no new link."""

    pending: Records[PendingLink]
    links: Records[ProviderLink]
    users: Users
    passkeys: Passkeys
    providers: Providers
    requests: UpstreamRequests
    modification_tokens: ModificationTokens
    sign_out: SignOut
    version: DirectoryVersion
    last_administrator: LastAdministrator
    hasher: SecretHasher = field(repr=False)
    events: Events
    clock: Clock
    is_enabled: bool

    async def of_user(self, tenant: Tenant, user_id: UserId) -> LinkedProviders:
        ids = {link.provider_id for link in await self._of(tenant, user_id)}
        found = sorted(await self.providers.all(tenant), key=lambda provider: (provider.name, provider.id))
        offered = [provider for provider in found if provider.signs_people_in] if self.is_enabled else []
        return LinkedProviders(
            [provider for provider in found if provider.id in ids],
            [provider for provider in offered if provider.id not in ids],
        )

    async def begin(self, person: Person, provider_id: str, *, modification_token: str) -> Redirection:
        """Return the way to the provider, whose response links the account.

        Raises NotFound, InvalidState for a provider that is linked already, InvalidArgument, PermissionDenied.
        """
        tenant, user_id = person.tenant, person.user_id
        provider = await self.providers.find(tenant, provider_id) if self.is_enabled else None
        if provider is None or not provider.signs_people_in:
            raise NotFound("there is no such provider")
        if any(link.provider_id == provider_id for link in await self._of(tenant, user_id)):
            raise InvalidState("the account is linked to this provider already; remove that link first")
        await self.modification_tokens.spend(person, modification_token)
        secrets = self.requests.secrets(provider)
        await self.pending.insert(
            PendingLink(
                tenant_id=tenant.tenant_id,
                id=self.hasher.hash(secrets.state).hex(),
                expires_at=self.clock.now() + LIFETIME,
                provider_id=provider.id,
                user_id=user_id,
                sid=person.actor.session,
                nonce=secrets.nonce,
                code_verifier=secrets.code_verifier,
            )
        )
        return self.requests.redirection(tenant, provider, secrets, forces_authentication=False)

    async def remove(self, person: Person, provider_id: str, *, modification_token: str) -> None:
        """Remove the link, with the roles and groups that the provider gives, and sign out all other browsers.

        Raises NotFound, InvalidState for the only way to sign in and for roles of the last administrator,
        InvalidArgument, PermissionDenied.
        """
        tenant, user_id = person.tenant, person.user_id
        found = [link for link in await self._of(tenant, user_id) if link.provider_id == provider_id]
        if not found:
            raise NotFound("the account is not linked to this provider")
        await self._expect_another_way(tenant, user_id, provider_id)
        provider = await self.providers.find(tenant, provider_id)
        user = await self.users.find(tenant, user_id)
        if user is not None:
            await self.last_administrator.guard(user, _without(user, provider))
        await self.modification_tokens.spend(person, modification_token)
        for link in found:
            await self.links.take(tenant.tenant_id, link.id)
        try:
            # A concurrent request may have removed the other way in the meantime.
            await self._expect_another_way(tenant, user_id, provider_id)
        except InvalidState:
            await self._restore(found)
            raise
        await self._change_account(tenant, user_id, provider)
        await self.sign_out.everywhere(tenant, user_id, but=person.actor.session)
        await self.events.emit(
            tenant.tenant_id,
            EventType.PROVIDER_UNLINKED,
            ip=person.actor.peer_address,
            text=provider_id,
            user_id=user_id,
            session=person.actor.session,
        )

    async def _of(self, tenant: Tenant, user_id: UserId) -> Sequence[ProviderLink]:
        return await self.links.find(tenant.tenant_id, "user_id", user_id, most=_MOST_OF_A_USER)

    async def _expect_another_way(self, tenant: Tenant, user_id: UserId, provider_id: str) -> None:
        user = await self.users.find(tenant, user_id)
        if user is not None and user.password_hash:
            return
        # A passkey that does not verify its user is a second factor only.
        if any(passkey.is_user_verified for passkey in await self.passkeys.of(tenant, user_id)):
            return
        others = {link.provider_id for link in await self._of(tenant, user_id)} - {provider_id}
        providers = [provider for provider in await self.providers.all(tenant) if provider.id in others]
        if not (self.is_enabled and any(provider.signs_people_in for provider in providers)):
            raise InvalidState("the account has no other way to sign in; add a password or a passkey first")

    async def _restore(self, found: Sequence[ProviderLink]) -> None:
        for link in found:
            try:
                await self.links.insert(replace(link, revision=0))
            except AlreadyThere:
                continue

    async def _change_account(self, tenant: Tenant, user_id: UserId, provider: Provider | None) -> None:
        is_linked = bool(await self._of(tenant, user_id))
        for _ in range(_ATTEMPTS):
            user = await self.users.find(tenant, user_id)
            if user is None:
                return
            after = _without(user, provider)
            after = after if is_linked else replace(after, account_type=unlinked(after))
            try:
                await self.users.replace(after, await self.last_administrator.guard(user, after))
            except Changed:
                continue
            if (after.roles, after.groups) != (user.roles, user.groups):
                await self.version.advance(user_id)
            return
        raise Unavailable("too many requests change the account at the same time")


def _without(user: User, provider: Provider | None) -> User:
    """Return the user without the roles and groups that the provider's claims decide on."""
    mappings = () if provider is None else provider.fields.mappings
    roles = {role for mapping in mappings for role in mapping.roles}
    groups = {group for mapping in mappings for group in mapping.groups}
    return replace(
        user,
        roles=tuple(role for role in user.roles if role not in roles),
        groups=tuple(group for group in user.groups if group not in groups),
    )
