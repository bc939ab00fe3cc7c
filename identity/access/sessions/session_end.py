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
        for acting in await self._sessions.by_support(tenant, session.user_id):
            if acting.impersonator_sid == session.sid:
                await self._sessions.end(acting)
                await self._aftermath(tenant, acting)

    async def end_all(self, tenant: Tenant, user_id: UserId, *, but: str = "") -> Sequence[Session]:
        """End every session of a user but the one with this `sid`, and return those that this call ended."""
        ended = await self._sessions.end_all(tenant, user_id, but=but)
        for session in ended:
            await self._aftermath(tenant, session)
        return ended

    async def outlast(self, tenant: Tenant, user_id: UserId, sid: str, *, not_before: datetime) -> None:
        """Keep the session with this `sid` when its user gets this `not_before`."""
        await self._sessions.outlast(tenant, user_id, sid, not_before=not_before)

    async def announce(self, tenant: Tenant, refused: Sequence[Session]) -> None:
        """Queue the logout tokens of sessions that are refused already; an interrupted call can be repeated."""
        told = [(session, client_id) for session in refused for client_id in session.clients]
        clients = {
            client_id: await self._is_notified(tenant, client_id)
            for client_id in sorted({client_id for _, client_id in told})
        }
        await self._queue.insert_all(
            [self._logout(session, client_id) for session, client_id in told if clients[client_id]]
        )
        for session in refused:
            if session.is_impersonated:
                await self._report(tenant, session)

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
        if await self._is_notified(tenant, client_id):
            await self._queue.insert(self._logout(session, client_id))

    async def _is_notified(self, tenant: Tenant, client_id: ClientId) -> bool:
        client = await self._clients.find(tenant, client_id)
        return client is not None and bool(client.backchannel_logout_uri)

    def _logout(self, session: Session, client_id: ClientId) -> BackChannelLogout:
        return BackChannelLogout(
            tenant_id=session.tenant_id,
            id=self._randomness.alphanumeric(_ID_LENGTH),
            client_id=client_id,
            user_id=session.user_id,
            sid=session.sid,
            attempts=0,
            next_at=self._clock.now(),
        )


def impersonator_of(session: Session) -> EventActor:
    """Return the support person of a session as the actor of events."""
    return EventActor("user", session.impersonator_id, session.impersonator_name)
