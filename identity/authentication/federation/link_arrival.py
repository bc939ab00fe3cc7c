"""Completes the link of an account when the browser returns from the upstream provider.

The response is valid once, in the session in which the user authenticated again, and only from the requested provider.
"""

from dataclasses import dataclass, replace

from identity.access.sessions.browser import Browser
from identity.access.sessions.sessions import Sessions
from identity.authentication.federation.account_types import linked
from identity.authentication.federation.claims import UpstreamPerson
from identity.authentication.federation.pending_link import PendingLink
from identity.authentication.federation.people import UpstreamPeople
from identity.authentication.requests.parameters import Parameters
from identity.directory.provider import Provider, ProviderLink, link_id_of
from identity.directory.providers import Providers
from identity.directory.secrets import SecretHasher
from identity.directory.user import UserId
from identity.directory.users import Users
from identity.foundation.errors import AccessDenied
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import AlreadyExists, InvalidState, Unauthenticated, Unavailable
from server.platform.records import AlreadyThere, Changed, Records

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkArrival:
    sessions: Sessions
    pending: Records[PendingLink]
    links: Records[ProviderLink]
    users: Users
    providers: Providers
    people: UpstreamPeople
    hasher: SecretHasher
    events: Events

    async def is_pending(self, tenant: Tenant, parameters: Parameters) -> bool:
        """Whether the response belongs to a link, and not to a sign-in."""
        state = parameters.one("state")
        return bool(state) and await self.pending.get(tenant.tenant_id, self._id(state)) is not None

    async def arrive(
        self, tenant: Tenant, browser: Browser, provider_id: str, parameters: Parameters
    ) -> None:
        """Link the account of the session to the provider's user.

        Raises Unauthenticated for an invalid response, InvalidState when the provider signed nobody in, and AlreadyExists
        when another account is linked to this user.
        """
        if parameters.are_malformed:
            raise Unauthenticated("a parameter is repeated or contains NUL")
        pending = await self._own(tenant, browser, provider_id, self._id(parameters.one("state")))
        provider = await self.providers.find(tenant, provider_id)
        if provider is None or not provider.signs_people_in:
            raise Unauthenticated("the provider was removed or disabled")
        try:
            person = await self.people.of(tenant, provider, pending, parameters, not_before=None)
        except AccessDenied as refusal:
            raise InvalidState(refusal.detail) from refusal
        user_id = UserId(pending.user_id)
        if await self._link(tenant, provider, person, user_id=user_id):
            await self._set_type(tenant, user_id)
            await self.events.emit(
                tenant.tenant_id,
                EventType.PROVIDER_LINKED,
                ip=browser.peer_address,
                text=provider.id,
                user_id=user_id,
                session=pending.sid,
            )

    async def _own(self, tenant: Tenant, browser: Browser, provider_id: str, pending_id: str) -> PendingLink:
        pending = await self.pending.get(tenant.tenant_id, pending_id)
        session = await self.sessions.find(tenant, browser.cookie, browser.peer_address)
        if pending is None or session is None or session.authentication is None:
            raise Unauthenticated("no link to the provider is pending in this browser")
        whose = (session.sid, session.user_id, provider_id)
        if whose != (pending.sid, pending.user_id, pending.provider_id):
            raise Unauthenticated("no link to the provider is pending in this browser")
        if await self.pending.take(tenant.tenant_id, pending_id) is None:
            raise Unauthenticated("the response was used before")
        return pending

    async def _link(
        self, tenant: Tenant, provider: Provider, person: UpstreamPerson, *, user_id: UserId
    ) -> bool:
        """Store the link; False when it already exists."""
        link = ProviderLink(
            tenant_id=tenant.tenant_id,
            id=link_id_of(provider, person.sub),
            provider_id=provider.id,
            user_id=user_id,
        )
        before = await self.links.get(tenant.tenant_id, link.id)
        if before is not None and await self.users.find(tenant, UserId(before.user_id)) is None:
            # The link of an account that was deleted.
            await self.links.take(tenant.tenant_id, link.id)
            before = None
        if before is not None and before.user_id == user_id:
            return False
        try:
            if before is None:
                await self.links.insert(link)
                return True
        except AlreadyThere:
            # A concurrent request linked the same user of the provider.
            pass
        raise AlreadyExists("this account at the provider is linked to another account here")

    async def _set_type(self, tenant: Tenant, user_id: UserId) -> None:
        for _ in range(_ATTEMPTS):
            user = await self.users.find(tenant, user_id)
            if user is None or linked(user) is user.account_type:
                return
            try:
                await self.users.replace(replace(user, account_type=linked(user)))
            except Changed:
                continue
            return
        raise Unavailable("too many requests change the account at the same time")

    def _id(self, state: str) -> str:
        return self.hasher.hash(state).hex()
