"""Sessions in which a support person acts as a user who allowed it.

The user allows it for some hours, and withdraws it at any time. A support person is an administrator of the user's own
tenant with the support role of that tenant. A user with a right of administration cannot be acted for, so nobody gains
such a right. The session ends with its time, with the permission, with the support person's own session, or when the user,
the support person or an administrator ends it.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from identity.access.callers import Actor, ActorKind
from identity.access.person import Person
from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions, has_csrf
from identity.directory.consents.support_access import SupportAccess, SupportAccesses
from identity.directory.holdings import Held, Standing, without_administration
from identity.directory.tenants.settings import TenantSettings
from identity.directory.user import User, UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.foundation.visible_text import is_visible
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, InvalidState, NotFound, PermissionDenied, Unauthenticated


class Settings(Protocol):
    async def of(self, tenant: Tenant) -> TenantSettings: ...


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


class Standings(Protocol):
    async def of(self, holder: User) -> Standing: ...

    async def held(self, holder: User) -> Held: ...


class SessionTermination(Protocol):
    async def end(self, tenant: Tenant, session: Session) -> None: ...


@dataclass(frozen=True, slots=True)
class Begun:
    """`cookie` is the value of the session's cookie, and `email` the address of the user."""

    cookie: str = field(repr=False)
    session: Session
    email: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """`cookie` and `session` are those of the support person, empty and None when that session has ended."""

    user_id: str = ""
    cookie: str = field(default="", repr=False)
    session: Session | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonations:
    accesses: SupportAccesses
    settings: Settings
    sessions: Sessions
    users: Users
    standings: Standings
    termination: SessionTermination
    events: Events
    clock: Clock

    async def access(self, tenant: Tenant, user_id: UserId) -> tuple[bool, datetime | None]:
        """Return whether the tenant has support, and the end of the user's permission; raises NotFound."""
        if await self.users.find(tenant, user_id) is None:
            raise NotFound("there is no such user")
        given = await self.accesses.find(tenant, user_id)
        settings = await self.settings.of(tenant)
        return bool(settings.support_role), given.until if given is not None else None

    async def allow(self, person: Person, hours: int) -> datetime:
        """Allow support to sign in as the user; raises InvalidState when the tenant has no support."""
        tenant = person.tenant
        if not (await self.settings.of(tenant)).support_role:
            raise InvalidState("support does not sign in as users of this tenant")
        until = self.clock.now() + timedelta(hours=hours)
        given = await self.accesses.allow(tenant, person.user_id, until)
        await self._report_of_user(person, EventType.SUPPORT_ACCESS_ALLOWED, given)
        return given.until

    async def withdraw(self, person: Person) -> None:
        """Withdraw the permission and end the sessions that rest on it, with their tokens; raises NotFound."""
        given = await self.accesses.take(person.tenant, person.user_id)
        # Without a permission as well: an earlier call may have been interrupted after it took the permission.
        await self._end_all(person.tenant, person.user_id)
        if given is None:
            raise NotFound("there is no permission for support")
        await self._report_of_user(person, EventType.SUPPORT_ACCESS_WITHDRAWN, given)

    async def start(self, tenant: Tenant, user_id: UserId, actor: Actor, reason: str) -> Begun:
        """Begin a session in which the actor acts as the user.

        Raises InvalidArgument, NotFound and PermissionDenied.
        """
        if not is_visible(reason) or not reason.strip():
            raise InvalidArgument("reason: expected a text of visible characters", field="reason")
        settings = await self.settings.of(tenant)
        own = await self._own_session(tenant, actor, settings)
        user = await self.users.find(tenant, user_id)
        if user is None or not user.is_active(self.clock.now()):
            raise NotFound("there is no such user, or the account is disabled")
        await self._expect_allowed(tenant, user, actor, own)
        # The browser of the support person has one cookie, so an earlier session has no use any more.
        for earlier in await self.sessions.by_support(tenant, own.user_id):
            if earlier.impersonator_sid == own.sid:
                await self.termination.end(tenant, earlier)
        ends_at = self.clock.now() + timedelta(minutes=settings.support_minutes)
        cookie, session = await self.sessions.impersonate(
            tenant, own, user_id, name=actor.name, ends_at=ends_at, peer_address=actor.peer_address
        )
        # The session is stored before: either this sees that the permission was withdrawn, or the withdrawal ends it.
        if await self.accesses.find(tenant, user_id) is None:
            await self.termination.end(tenant, session)
            raise _not_allowed()
        await self._report(tenant, EventType.IMPERSONATION_STARTED, user, actor, text=reason, sid=session.sid)
        return Begun(cookie, session, user.email)

    async def stop(self, tenant: Tenant, browser: Browser) -> Stopped:
        """End the session of the browser in which a support person acts as a user; raises Unauthenticated.

        The support person's own session goes on with another cookie. Another session of the browser stays as it is.
        """
        session = await self.sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is None or not session.is_impersonated:
            return Stopped()
        if not has_csrf(session, browser.csrf_token):
            raise Unauthenticated("the CSRF token is not of this session", cause="SESSION_ENDED")
        await self.termination.end(tenant, session)
        own = await self.sessions.of_sid(tenant, session.impersonator_sid)
        if own is None or own.user_id != session.impersonator_id:
            return Stopped(session.user_id)
        try:
            cookie, renewed = await self.sessions.renew(tenant, own.sid)
        except Unauthenticated:
            return Stopped(session.user_id)
        return Stopped(session.user_id, cookie, renewed)

    async def _own_session(self, tenant: Tenant, actor: Actor, settings: TenantSettings) -> Session:
        """Return the session of the support person in the user's tenant; raises PermissionDenied."""
        own = await self.sessions.of_sid(tenant, actor.session) if actor.session else None
        support = await self.users.find(tenant, UserId(actor.id)) if actor.kind is ActorKind.USER else None
        if own is None or support is None or own.user_id != support.user_id:
            raise PermissionDenied("only an administrator of the tenant can act as a user, in a browser")
        held = await self.standings.held(support)
        names = {*support.roles, *(role.name for role in held.roles), *held.built_in}
        if not settings.support_role or settings.support_role not in names:
            raise PermissionDenied("the caller lacks the support role", cause="SUPPORT_ROLE_REQUIRED")
        return own

    async def _expect_allowed(self, tenant: Tenant, user: User, actor: Actor, own: Session) -> None:
        standing = await self.standings.of(user)
        refusal = None
        if user.user_id == own.user_id or standing != without_administration(standing):
            refusal = PermissionDenied(
                "the user has a right of administration, so nobody can act as this user",
                cause="USER_ADMINISTERS",
            )
        elif await self.accesses.find(tenant, user.user_id) is None:
            refusal = _not_allowed()
        if refusal is not None:
            text = refusal.metadata["cause"]
            await self._report(tenant, EventType.IMPERSONATION_REFUSED, user, actor, text=text, sid=own.sid)
            raise refusal

    async def _end_all(self, tenant: Tenant, user_id: UserId) -> None:
        for session in await self.sessions.as_user(tenant, user_id):
            await self.termination.end(tenant, session)

    async def _report(
        self, tenant: Tenant, event_type: EventType, user: User, actor: Actor, *, text: str, sid: str
    ) -> None:
        await self.events.emit(
            tenant.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=text,
            user_id=user.user_id,
            session=sid,
            actor=actor,
        )

    async def _report_of_user(self, person: Person, event_type: EventType, given: SupportAccess) -> None:
        await self.events.emit(
            person.tenant.tenant_id,
            event_type,
            ip=person.actor.peer_address or None,
            data=int(given.until.timestamp()),
            user_id=person.user_id,
            actor=person.actor,
        )


def _not_allowed() -> PermissionDenied:
    return PermissionDenied("the user has not allowed support to sign in", cause="SUPPORT_NOT_ALLOWED")
