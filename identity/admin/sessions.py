"""Sessions of everybody: seen and ended by administrators, and one's own by each person."""

from collections.abc import Sequence
from typing import Protocol

from identity.admin.callers import Actor
from identity.admin.signing_out import SigningOut
from identity.directory.user import User, UserId
from identity.events.events import Events
from identity.events.kinds import EventType
from identity.sessions.session import Session
from identity.tenants import Tenant
from server.platform.errors import NotFound
from server.platform.records import Records

MOST_OF_A_USER = 1000
_PAGE = 100
_MOST_PAGES = 10_000


class SessionEnding(Protocol):
    async def end(self, tenant: Tenant, session: Session) -> None: ...


class SessionAdministration:
    def __init__(
        self,
        sessions: Records[Session],
        users: Records[User],
        *,
        ending: SessionEnding,
        signing_out: SigningOut,
        events: Events,
    ) -> None:
        self._sessions = sessions
        self._users = users
        self._ending = ending
        self._signing_out = signing_out
        self._events = events

    async def page(
        self, tenant: Tenant, *, is_signed_in: bool, after: str, most: int
    ) -> tuple[Sequence[Session], str]:
        """Return sessions with somebody signed in, or those without, and behind which id the next ones are, if any."""
        found: list[Session] = []
        for _ in range(_MOST_PAGES):
            page = await self._sessions.page(tenant.tenant_id, after=after, most=most - len(found))
            if not page:
                return found, ""
            after = page[-1].id
            found += [session for session in page if (session.authentication is not None) == is_signed_in]
            if len(found) >= most:
                break
        return found, after

    async def of_user(self, tenant: Tenant, user_id: UserId) -> Sequence[Session]:
        return await self._sessions.find(tenant.tenant_id, "user_id", user_id, most=MOST_OF_A_USER)

    async def find(self, tenant: Tenant, sid: str) -> Session:
        """Raises NotFound."""
        found = await self._sessions.find(tenant.tenant_id, "sid", sid, most=1)
        if not found:
            raise NotFound("there is no such session")
        return found[0]

    async def end(self, tenant: Tenant, session: Session, actor: Actor) -> None:
        await self._ending.end(tenant, session)
        await self._events.emit(
            tenant.tenant_id,
            EventType.DELETED,
            text=f"session {session.sid}",
            user_id=session.user_id or None,
            actor=actor,
        )

    async def end_of_user(self, tenant: Tenant, user_id: UserId, actor: Actor) -> None:
        """Sign a person out everywhere; raises NotFound."""
        user = await self._users.get(tenant.tenant_id, user_id)
        if user is None:
            raise NotFound("there is no such user")
        await self._signing_out.everywhere(tenant, user_id)
        await self._events.emit(
            tenant.tenant_id, EventType.FORCED_LOGOUT, text=user.email, user_id=user_id, actor=actor
        )

    async def end_all(self, tenant: Tenant, actor: Actor) -> None:
        """End every session and take every person's tokens back; can be repeated when it was interrupted."""
        await self._end_all_sessions(tenant)
        last = ""
        for _ in range(_MOST_PAGES):
            page = await self._users.page(tenant.tenant_id, after=last, most=_PAGE)
            if not page:
                break
            last = page[-1].id
            for user in page:
                await self._signing_out.everywhere(tenant, user.user_id)
        await self._events.emit(tenant.tenant_id, EventType.FORCED_LOGOUT, text="everybody", actor=actor)

    async def _end_all_sessions(self, tenant: Tenant) -> None:
        last = ""
        for _ in range(_MOST_PAGES):
            page = await self._sessions.page(tenant.tenant_id, after=last, most=_PAGE)
            if not page:
                return
            last = page[-1].id
            for session in page:
                await self._ending.end(tenant, session)
