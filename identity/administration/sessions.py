"""Sessions: list and end, by administrators for all users and by each user for their own."""

from collections.abc import Sequence
from typing import Protocol

from identity.access.callers import Actor
from identity.access.sessions.session import Session
from identity.access.sign_out import SignOut
from identity.directory.user import User, UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import NotFound
from server.platform.records import Records, every

MOST_OF_A_USER = 1000


class SessionTermination(Protocol):
    async def end(self, tenant: Tenant, session: Session) -> None: ...


class SessionAdministration:
    def __init__(
        self,
        sessions: Records[Session],
        users: Records[User],
        *,
        termination: SessionTermination,
        sign_out: SignOut,
        events: Events,
    ) -> None:
        self._sessions = sessions
        self._users = users
        self._termination = termination
        self._sign_out = sign_out
        self._events = events

    async def page(
        self, tenant: Tenant, *, is_signed_in: bool, after: str, most: int
    ) -> tuple[Sequence[Session], str]:
        """Return a page of sessions with or without a signed-in user, and the id before the next page, if any."""
        found: list[Session] = []
        async for session in every(self._sessions, tenant.tenant_id, after=after):
            is_listed = (session.authentication is not None) == is_signed_in
            if is_listed and not session.is_refused(tenant.not_before):
                found.append(session)
            if len(found) == most:
                return found, session.id
        return found, ""

    async def of_user(self, tenant: Tenant, user_id: UserId) -> Sequence[Session]:
        found = await self._sessions.find(tenant.tenant_id, "user_id", user_id, most=MOST_OF_A_USER)
        return [session for session in found if not session.is_refused(tenant.not_before)]

    async def find(self, tenant: Tenant, sid: str) -> Session:
        """Raises NotFound."""
        found = await self._sessions.find(tenant.tenant_id, "sid", sid, most=1)
        if not found:
            raise NotFound("there is no such session")
        return found[0]

    async def find_of_user(self, tenant: Tenant, user_id: UserId, sid: str) -> Session:
        """Raises NotFound, also for a session of another user."""
        session = await self.find(tenant, sid)
        if session.user_id != user_id:
            raise NotFound("there is no such session")
        return session

    async def end(self, tenant: Tenant, session: Session, actor: Actor) -> None:
        await self._termination.end(tenant, session)
        await self._events.emit(
            tenant.tenant_id,
            EventType.DELETED,
            ip=actor.peer_address or None,
            text=f"session {session.sid}",
            user_id=session.user_id or None,
            session=session.sid,
            actor=actor,
        )

    async def end_of_user(self, tenant: Tenant, user_id: UserId, actor: Actor) -> None:
        """End all sessions of a user except the one that calls; raises NotFound."""
        user = await self._users.get(tenant.tenant_id, user_id)
        if user is None:
            raise NotFound("there is no such user")
        await self._sign_out.everywhere(tenant, user_id, but=actor.session)
        await self._events.emit(
            tenant.tenant_id,
            EventType.FORCED_LOGOUT,
            ip=actor.peer_address or None,
            text=user.email,
            user_id=user_id,
            actor=actor,
        )
