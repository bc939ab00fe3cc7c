"""Decides whether the proxy may forward a request to the service, and identifies its user."""

from dataclasses import dataclass, field
from typing import Protocol

from identity.access.tokens.token_set import TokenSet
from identity.authentication.authorization.session_check import refusal_of
from identity.directory.client import Client
from identity.directory.secrets import SecretHasher
from identity.directory.subjects import Subjects
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from identity.protocol.forward_auth.csrf import is_token
from identity.protocol.forward_auth.forwarded import Forwarded
from identity.protocol.forward_auth.records import FORWARD_SESSIONS, ForwardSession
from identity.protocol.userinfo.forward import Caller, caller_of
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied
from server.platform.records import RecordStore


class Sessions(Protocol):
    async def is_signed_in(self, tenant: Tenant, sid: str) -> bool: ...


class TokenSets(Protocol):
    async def find(self, tenant: Tenant, token_set_id: str) -> TokenSet | None: ...


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentedCookies:
    """Cookies and header of the request: the session, and both halves of the CSRF pair; empty when missing."""

    session: str = field(default="", repr=False)
    csrf_cookie: str = field(default="", repr=False)
    csrf_header: str = field(default="", repr=False)


class ForwardAdmission:
    def __init__(
        self,
        records: RecordStore,
        hasher: SecretHasher,
        *,
        subjects: Subjects,
        sessions: Sessions,
        token_sets: TokenSets,
        users: Users,
        clock: Clock,
    ) -> None:
        self._records = records.of(FORWARD_SESSIONS)
        self._hasher = hasher
        self._subjects = subjects
        self._sessions = sessions
        self._token_sets = token_sets
        self._users = users
        self._clock = clock

    async def caller(
        self, tenant: Tenant, client: Client, forwarded: Forwarded, *, shown: PresentedCookies
    ) -> Caller | None:
        """Return None when a sign-in is needed; raises PermissionDenied for an unsafe method without the CSRF pair."""
        session = await self._session(tenant, client, shown.session)
        token_set = await self._token_sets.find(tenant, session.token_set_id) if session else None
        if session is None or token_set is None:
            return None
        authentication = token_set.authentication
        user = await self._users.find(tenant, authentication.user_id)
        if user is None or not user.is_active(self._clock.now()):
            return None
        if authentication.is_refused_by_user(user.not_before) or token_set.is_refused_to(client):
            return None
        if refusal_of(client, user, authentication.amr) is not None:
            return None
        if not await self._sessions.is_signed_in(tenant, authentication.sid):
            return None
        if not forwarded.is_safe and not self._has_pair(session, shown):
            raise PermissionDenied("expected the CSRF token in the header and in the cookie")
        return caller_of(
            user,
            subject=self._subjects.of(tenant, client, user.user_id),
            oauth_scopes=token_set.oauth_scopes,
            amr=authentication.amr,
        )

    async def _session(self, tenant: Tenant, client: Client, cookie: str) -> ForwardSession | None:
        if not cookie:
            return None
        session = await self._records.get(tenant.tenant_id, self._hasher.hash(cookie).hex())
        return session if session is not None and session.client_id == client.client_id else None

    def _has_pair(self, session: ForwardSession, shown: PresentedCookies) -> bool:
        in_cookie = is_token(self._hasher, session.csrf_token, shown.csrf_cookie)
        return is_token(self._hasher, session.csrf_token, shown.csrf_header) and in_cookie
