"""SessionService."""

from gnomon.identity.v1 import browser_pb2
from gnomon.identity.v1 import session_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions
from identity.authentication.rpc.browser import READS, session_cookie
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated

_Shown = tuple[pb.Session, browser_pb2.SessionCookie | None]


class SessionServicer(Operations):
    def __init__(self, admission: TenantAdmission, sessions: Sessions, users: Users, clock: Clock) -> None:
        self._sessions = sessions
        self._users = users
        self._clock = clock
        calls = {pb.BeginSessionRequest: self._begin, pb.GetSessionRequest: self._get}
        super().__init__(admission, calls, reads=READS)

    async def _begin(self, tenant: Tenant, browser: Browser) -> _Shown:
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is not None:
            return _session(session, await self._active_user(tenant, session)), None
        cookie, session = await self._sessions.begin(tenant, browser.peer_address)
        return _session(session, None), session_cookie(cookie, session, self._clock)

    async def _get(self, tenant: Tenant, browser: Browser) -> _Shown:
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        user = None if session is None else await self._active_user(tenant, session)
        if session is None or user is None:
            raise Unauthenticated("no user is signed in")
        acting_as = user.email if session.is_impersonated else ""
        cookie = session_cookie(browser.cookie, session, self._clock, acting_as=acting_as)
        return _session(session, user), cookie

    async def _active_user(self, tenant: Tenant, session: Session) -> User | None:
        if session.authentication is None:
            return None
        user = await self._users.find(tenant, UserId(session.user_id))
        return user if user is not None and user.is_active(self._clock.now()) else None


def _session(session: Session, user: User | None) -> pb.Session:
    expires_at = session.expires_at or session.idle_until
    return pb.Session(
        id=session.sid,
        csrf_token=session.csrf_token,
        user_id="" if user is None else user.user_id,
        roles=() if user is None else user.roles,
        groups=() if user is None else user.groups,
        expires_at=int(expires_at.timestamp()),
        idle_until=int(min(session.idle_until, expires_at).timestamp()),
        state=pb.SESSION_STATE_INIT if user is None else pb.SESSION_STATE_AUTH,
        impersonator=session.impersonator_name,
    )
