"""SessionService."""

from gnomon.identity.v1 import session_service_pb2 as pb
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions
from identity.authentication.rpc.browser import browser_of, session_cookie
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated


class SessionServicer:
    def __init__(self, tenants: Tenants, sessions: Sessions, users: Users, clock: Clock) -> None:
        self._tenants = tenants
        self._sessions = sessions
        self._users = users
        self._clock = clock

    async def begin_session(self, request: pb.BeginSessionRequest, _call: Call) -> pb.BeginSessionResponse:
        tenant, browser = self._tenants.find(request.tenant_id), browser_of(request.browser)
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is not None:
            user = await self._active_user(tenant, session)
            return pb.BeginSessionResponse(session=_session(session, user))
        cookie, session = await self._sessions.begin(tenant, browser.peer_address)
        return pb.BeginSessionResponse(
            session=_session(session, None), cookie=session_cookie(cookie, session, self._clock)
        )

    async def get_session(self, request: pb.GetSessionRequest, _call: Call) -> pb.GetSessionResponse:
        tenant, browser = self._tenants.find(request.tenant_id), browser_of(request.browser)
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        user = None if session is None else await self._active_user(tenant, session)
        if session is None or user is None:
            raise Unauthenticated("no user is signed in")
        acting_as = user.email if session.is_impersonated else ""
        cookie = session_cookie(browser.cookie, session, self._clock, acting_as=acting_as)
        return pb.GetSessionResponse(session=_session(session, user), cookie=cookie)

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
