"""Browser sessions, from the first page to the end.

A session gets a new id and a new CSRF token at sign-in and when the user changes the password, which prevents session
fixation. Its last use is written at most every ten seconds. A session that began before the `not_before` of its tenant
or its user has ended, whether or not its record is removed yet. The end of a user's session is announced to all nodes,
also if another session replaces it.
"""

import hmac
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from identity.access.sessions.browser import Browser
from identity.access.sessions.config import SessionConfig, SessionLifetimes
from identity.access.sessions.session import (
    IMPERSONATION,
    Authentication,
    Impersonator,
    Session,
    UpstreamAuthentication,
)
from identity.access.sessions.session_records import SessionRecords
from identity.access.sessions.ways import parts_of, secret_of
from identity.directory.client import ClientId
from identity.directory.secrets import SecretHasher
from identity.directory.user import User, UserId
from identity.directory.version import DirectoryVersion
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied, Unauthenticated, Unavailable
from server.platform.records import Changed, Records

_COOKIE_LENGTH = 64
_SID_LENGTH = 32
_STATE_LENGTH = 24
_UNWRITTEN = timedelta(seconds=10)
_MOST_OF_A_USER = 1000
_ATTEMPTS = 20


class Sessions:
    def __init__(
        self,
        records: Records[Session],
        hasher: SecretHasher,
        *,
        users: Records[User],
        version: DirectoryVersion,
        clock: Clock,
        randomness: Randomness,
        lifetimes: SessionLifetimes,
        config: SessionConfig,
    ) -> None:
        self._records = SessionRecords(records, hasher)
        self._version = version
        self._hasher = hasher
        self._users = users
        self._clock = clock
        self._randomness = randomness
        self._lifetimes = lifetimes
        self._config = config

    async def find(self, tenant: Tenant, cookie: str, peer_address: str) -> Session | None:
        """Return the session of a cookie and extend its idle time; None when it has ended."""
        session = await self._records.get(tenant.tenant_id, self._id(cookie)) if cookie else None
        if (
            session is None
            or not self._may_use(session, peer_address)
            or await self._is_refused(tenant, session)
        ):
            return None
        return await self.note_use(session)

    async def follow(self, tenant: Tenant, way: str, peer_address: str) -> Session | None:
        """Return the signed-in session of a FedCM cookie, without extending its idle time.

        A session in which a support person acts as the user counts for nothing here.
        """
        sid, secret = parts_of(way)
        found = await self._records.find(tenant.tenant_id, "sid", sid, most=1) if sid else ()
        for session in found:
            is_the_way = hmac.compare_digest(session.way_hash.encode(), self._id(secret).encode())
            is_own = session.authentication is not None and not session.is_impersonated
            if not is_the_way or not is_own or not self._may_use(session, peer_address):
                continue
            if not await self._is_refused(tenant, session):
                return session
        return None

    async def is_signed_in(self, tenant: Tenant, sid: str) -> bool:
        """Whether the session with this `sid` has a signed-in user; does not extend its idle time."""
        for session in await self._records.find(tenant.tenant_id, "sid", sid, most=1):
            is_in_use = session.authentication is not None and self._clock.now() < session.idle_until
            return is_in_use and not await self._is_refused(tenant, session)
        return False

    async def begin(self, tenant: Tenant, peer_address: str) -> tuple[str, Session]:
        """Begin a session without a user; the text is the cookie's value."""
        cookie = self._randomness.alphanumeric(_COOKIE_LENGTH)
        return cookie, await self._records.insert(self._fresh(tenant, cookie, peer_address))

    async def sign_in(
        self,
        tenant: Tenant,
        before: Session | None,
        user_id: UserId,
        *,
        amr: tuple[str, ...],
        acr: str,
        peer_address: str,
        vouching: UpstreamAuthentication | None = None,
        is_held: bool = False,
    ) -> tuple[str, Session]:
        """Begin a signed-in session, which replaces the present one.

        When the same user signs in again, `sid` and clients stay, so relying parties are still notified of the logout.
        With `is_held` the user is signed in only by `release`.
        """
        cookie = self._randomness.alphanumeric(_COOKIE_LENGTH)
        session = self._fresh(tenant, cookie, peer_address)
        ended = await self._take(before) if before is not None else None
        if ended is not None and ended.user_id == user_id and not ended.is_impersonated:
            session = replace(session, sid=ended.sid, clients=ended.clients)
        authentication = Authentication(
            user_id=user_id, at=self._clock.now(), amr=amr, acr=acr, sid=session.sid
        )
        signed_in = replace(
            session,
            user_id=user_id,
            authentication=None if is_held else authentication,
            held=authentication if is_held else None,
        )
        return cookie, await self._records.insert(_vouched_for(signed_in, vouching))

    async def impersonate(
        self,
        tenant: Tenant,
        own: Session,
        user_id: UserId,
        *,
        name: str,
        ends_at: datetime,
        peer_address: str,
    ) -> tuple[str, Session]:
        """Begin a session in which the user of the session `own`, with the address `name`, acts as another user.

        It ends with the session `own` at the latest. Raises Unauthenticated when nobody is signed in there.
        """
        by = own.authentication
        if by is None:
            raise Unauthenticated("no user is signed in")
        cookie = self._randomness.alphanumeric(_COOKIE_LENGTH)
        session = self._fresh(tenant, cookie, peer_address)
        ends_at = min(filter(None, (ends_at, session.expires_at, own.expires_at)))
        acting = replace(
            session,
            expires_at=ends_at,
            user_id=user_id,
            authentication=Authentication(
                user_id=user_id,
                at=by.at,
                amr=(*by.amr, IMPERSONATION),
                acr=by.acr,
                sid=session.sid,
                impersonator=Impersonator(user_id=by.user_id, ends_at=ends_at, began_at=self._clock.now()),
                since=by.since,
            ),
            impersonator_id=by.user_id,
            impersonator_name=name,
            impersonator_sid=own.sid,
            impersonated_id=user_id,
        )
        return cookie, await self._records.insert(acting)

    async def of_sid(self, tenant: Tenant, sid: str) -> Session | None:
        """Return the session with this `sid`, without extending its idle time; None when it has ended."""
        found = await self._records.find(tenant.tenant_id, "sid", sid, most=1)
        return found[0] if found else None

    async def as_user(self, tenant: Tenant, user_id: UserId) -> Sequence[Session]:
        """Return the sessions in which support persons act as the user."""
        return await self._records.find(tenant.tenant_id, "impersonated_id", user_id, most=_MOST_OF_A_USER)

    async def by_support(self, tenant: Tenant, user_id: str) -> Sequence[Session]:
        """Return the sessions in which this support person acts as another user."""
        if not user_id:
            return []
        return await self._records.find(tenant.tenant_id, "impersonator_id", user_id, most=_MOST_OF_A_USER)

    async def renew(self, tenant: Tenant, sid: str) -> tuple[str, Session]:
        """Replace the id and CSRF token of a session; raises Unauthenticated when it has ended."""
        found = await self._records.find(tenant.tenant_id, "sid", sid, most=1)
        return await self._renewed(await self._taken(found[0] if found else None))

    async def release(self, session: Session) -> tuple[str, Session]:
        """Sign the user of a held session in, with another id and CSRF token; raises Unauthenticated when it has ended."""
        ended = await self._taken(session)
        return await self._renewed(
            replace(ended, authentication=ended.held or ended.authentication, held=None)
        )

    async def outlast(self, tenant: Tenant, user_id: UserId, sid: str, *, not_before: datetime) -> None:
        """Keep the session with this `sid`, if it is the user's, when the user gets this `not_before`.

        Raises Unavailable.
        """
        for session in await self._records.find(tenant.tenant_id, "sid", sid, most=1):
            if session.user_id == user_id:
                with suppress(Unauthenticated):
                    await self._changed(session, lambda current: _since(current, not_before))

    async def postpone_terms(self, session: Session, version: str) -> Session:
        """Record that the user accepts a version later; raises Unauthenticated when the session has ended."""
        return await self._changed(session, lambda current: replace(current, postponed_terms=version))

    async def _taken(self, session: Session | None) -> Session:
        ended = await self._take(session) if session is not None else None
        if ended is None:
            raise Unauthenticated("the session has ended")
        return ended

    async def _renewed(self, ended: Session) -> tuple[str, Session]:
        cookie = self._randomness.alphanumeric(_COOKIE_LENGTH)
        session_id = self._id(cookie)
        renewed = replace(
            ended,
            id=session_id,
            csrf_token=self._records.csrf_token(session_id),
            way_hash=self._id(secret_of(cookie)),
        )
        return cookie, await self._records.insert(renewed)

    async def note_client(self, session: Session, client_id: ClientId) -> Session:
        """Record that a client got tokens in the session; raises Unauthenticated when it has ended."""

        def noted(current: Session) -> Session:
            if client_id in current.clients:
                return current
            return replace(current, clients=(*current.clients, client_id))

        return await self._changed(session, noted)

    async def _changed(self, session: Session, change: Callable[[Session], Session]) -> Session:
        """Store a change of a session, unless it changes nothing; raises Unauthenticated, Unavailable."""
        current: Session | None = session
        for _ in range(_ATTEMPTS):
            if current is None:
                raise Unauthenticated("the session has ended")
            changed = change(current)
            if changed is current:
                return current
            try:
                return await self._records.replace(changed)
            except Changed:
                current = await self._records.get(session.tenant_id, session.id)
        raise Unavailable.untouched("too many requests use the session at the same time")

    async def note_factor(self, tenant: Tenant, sid: str) -> None:
        """Record that a second factor was shown in the session, if it has not ended; raises Unavailable."""
        for _ in range(_ATTEMPTS):
            found = await self._records.find(tenant.tenant_id, "sid", sid, most=1)
            if not found or found[0].is_factor_shown:
                return
            try:
                await self._records.replace(replace(found[0], is_factor_shown=True))
            except Changed:
                continue
            return
        raise Unavailable.untouched("too many requests use the session at the same time")

    async def note_use(self, session: Session) -> Session | None:
        """Extend the idle time; None when the session has ended in the meantime."""
        idle_until = self._clock.now() + self._lifetimes.session_timeout
        if idle_until - session.idle_until <= _UNWRITTEN:
            return session
        try:
            return await self._records.replace(replace(session, idle_until=idle_until))
        except Changed:
            # Another request used it concurrently, or ended it.
            return await self._records.get(session.tenant_id, session.id)

    async def end(self, session: Session) -> None:
        await self._take(session)

    async def end_all(self, tenant: Tenant, user_id: UserId, *, but: str = "") -> Sequence[Session]:
        """End every session of a user but the one with this `sid`, and return those that this call ended.

        The sessions in which the user acts as others end, too.
        """
        found = [
            *await self._records.find(tenant.tenant_id, "user_id", user_id, most=_MOST_OF_A_USER),
            *await self.by_support(tenant, user_id),
        ]
        termination = (session for session in found if session.sid != but)
        taken = [await self._records.take(tenant.tenant_id, session.id) for session in termination]
        ended = [session for session in taken if session is not None]
        if ended:
            await self._version.advance(*(session.sid for session in ended))
        return ended

    async def _take(self, session: Session) -> Session | None:
        taken = await self._records.take(session.tenant_id, session.id)
        if taken is not None and taken.user_id:
            await self._version.advance(taken.sid)
        return taken

    async def vouched_for(self, tenant: Tenant, provider_id: str, *, sub: str, sid: str) -> Sequence[Session]:
        """Return the sessions of this upstream `sub`, `sid` or both.

        With both, a session of that `sub` without an upstream `sid` matches as well.
        """
        field, text = ("upstream_sub", sub) if sub else ("upstream_sid", sid)
        found = await self._records.find(tenant.tenant_id, field, text, most=_MOST_OF_A_USER)
        return [
            session
            for session in found
            if session.provider_id == provider_id and (not sid or session.upstream_sid in {"", sid})
        ]

    def _fresh(self, tenant: Tenant, cookie: str, peer_address: str) -> Session:
        now, session_id = self._clock.now(), self._id(cookie)
        return Session(
            tenant_id=tenant.tenant_id,
            id=session_id,
            expires_at=now + self._lifetimes.session_lifetime,
            sid=self._randomness.alphanumeric(_SID_LENGTH),
            csrf_token=self._records.csrf_token(session_id),
            peer_address=peer_address,
            idle_until=now + self._lifetimes.session_timeout,
            way_hash=self._id(secret_of(cookie)),
            browser_state=self._randomness.alphanumeric(_STATE_LENGTH),
            begun_at=now,
        )

    def _may_use(self, session: Session, peer_address: str) -> bool:
        is_in_place = not self._config.validate_address or session.peer_address == peer_address
        return is_in_place and self._clock.now() < session.idle_until

    async def _is_refused(self, tenant: Tenant, session: Session) -> bool:
        """Whether it began before the `not_before` of its tenant, its user, or the support person who acts in it."""
        if session.is_refused(tenant.not_before):
            return True
        authentication = session.authentication or session.held
        if authentication is None:
            return False
        user = await self._users.get(tenant.tenant_id, authentication.user_id)
        return (user is not None and authentication.is_refused_by_user(user.not_before)) or (
            await is_refused_to_support(self._users, tenant, authentication)
        )

    def _id(self, cookie: str) -> str:
        return self._hasher.hash(cookie).hex()


def _vouched_for(session: Session, vouching: UpstreamAuthentication | None) -> Session:
    if vouching is None:
        return session
    return replace(
        session,
        provider_id=vouching.provider_id,
        upstream_sub=vouching.sub,
        upstream_sid=vouching.sid,
    )


def _since(session: Session, since: datetime) -> Session:
    authentication = session.authentication
    if authentication is None:
        return session
    return replace(session, authentication=replace(authentication, since=since))


async def is_refused_to_support(users: Records[User], tenant: Tenant, authentication: Authentication) -> bool:
    """Whether a support person who acts as the user signed in before the support person's own `not_before`."""
    if authentication.impersonator is None:
        return False
    support = await users.get(tenant.tenant_id, authentication.impersonator.user_id)
    return support is not None and authentication.is_refused(support.not_before)


def has_csrf(session: Session, csrf_token: str) -> bool:
    """Whether the token is the CSRF token of the session."""
    return hmac.compare_digest(session.csrf_token.encode(), csrf_token.encode())


def expect_own(session: Session) -> None:
    """Raise PermissionDenied in a session in which a support person acts as the user."""
    if session.is_impersonated:
        raise impersonated()


def impersonated() -> PermissionDenied:
    return PermissionDenied("a support person who acts as a user may not do this", cause="IMPERSONATED")


async def proved(sessions: Sessions, tenant: Tenant, browser: Browser) -> Session:
    """Return the session of a browser with a valid CSRF token; raises Unauthenticated."""
    session = await sessions.find(tenant, browser.cookie, browser.peer_address)
    if session is None or not has_csrf(session, browser.csrf_token):
        raise Unauthenticated("there is no session, or the CSRF token is wrong", cause="SESSION_ENDED")
    return session
