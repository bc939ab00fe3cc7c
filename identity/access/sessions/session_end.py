"""Ends a session, revokes its tokens and queues logout tokens for its relying parties.

The session ends first, so that no new tokens are issued in it. The queue of logout tokens is durable. With a session
of a support person, those sessions end in which that person acts as another user; their tokens end always.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from identity.access.sessions.logout_config import LogoutConfig
from identity.access.sessions.logout_records import BackChannelLogout
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions
from identity.directory.client import Client, ClientId
from identity.directory.user import UserId
from identity.foundation.events.event import EventActor
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import Records

_ID_LENGTH = 32


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class TokenSets(Protocol):
    async def remove_of_session(self, tenant: Tenant, sid: str) -> None: ...


class SessionTermination:
    def __init__(
        self,
        sessions: Sessions,
        clients: Clients,
        token_sets: TokenSets,
        *,
        queue: Records[BackChannelLogout],
        clock: Clock,
        randomness: Randomness,
        config: LogoutConfig,
        events: Events,
    ) -> None:
        self._sessions = sessions
        self._clients = clients
        self._token_sets = token_sets
        self._queue = queue
        self._clock = clock
        self._randomness = randomness
        self._config = config
        self._events = events

    async def end(self, tenant: Tenant, session: Session) -> None:
        await self._sessions.end(session)
        await self._aftermath(tenant, session)
        await self._end_acting(tenant, session)

    async def end_all(self, tenant: Tenant, user_id: UserId, *, but: str = "") -> Sequence[Session]:
        """End every session of a user but the one with this `sid`, and return those that this call ended."""
        ended = await self._sessions.end_all(tenant, user_id, but=but)
        for session in ended:
            await self._aftermath(tenant, session)
        return ended

    async def outlast(self, tenant: Tenant, user_id: UserId, sid: str, *, not_before: datetime) -> None:
        """Keep the session with this `sid` when its user gets this `not_before`."""
        await self._sessions.outlast(tenant, user_id, sid, not_before=not_before)

    async def remove(self, tenant: Tenant, session: Session) -> None:
        """Remove a session that is refused already; an interrupted removal can be repeated.

        The record is removed last, so relying parties get at least one logout token.
        """
        await self._end_acting(tenant, session)
        await self._aftermath(tenant, session)
        await self._sessions.end(session)

    async def _end_acting(self, tenant: Tenant, session: Session) -> None:
        """End the sessions in which the user of this session acts as others."""
        for acting in await self._sessions.by_support(tenant, session.user_id):
            if acting.impersonator_sid == session.sid:
                await self._sessions.end(acting)
                await self._aftermath(tenant, acting)

    async def _aftermath(self, tenant: Tenant, session: Session) -> None:
        if self._config.token_revoke_on_logout or session.is_impersonated:
            await self._token_sets.remove_of_session(tenant, session.sid)
        for client_id in session.clients:
            await self._tell(tenant, client_id, session)
        if session.is_impersonated:
            await self._report(tenant, session)

    async def _report(self, tenant: Tenant, session: Session) -> None:
        await self._events.emit(
            tenant.tenant_id,
            EventType.IMPERSONATION_ENDED,
            user_id=session.user_id,
            session=session.sid,
            actor=impersonator_of(session),
        )

    async def _tell(self, tenant: Tenant, client_id: ClientId, session: Session) -> None:
        client = await self._clients.find(tenant, client_id)
        if client is None or not client.backchannel_logout_uri:
            return
        await self._queue.insert(
            BackChannelLogout(
                tenant_id=tenant.tenant_id,
                id=self._randomness.alphanumeric(_ID_LENGTH),
                client_id=client_id,
                user_id=session.user_id,
                sid=session.sid,
                attempts=0,
                next_at=self._clock.now(),
            )
        )


def impersonator_of(session: Session) -> EventActor:
    """Return the support person of a session as the actor of events."""
    return EventActor("user", session.impersonator_id, session.impersonator_name)
