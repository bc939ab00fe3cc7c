"""Tells relying parties that a session has ended, until they have taken it.

What is to be told is a record; whoever raises its number of attempts sends it, so that of several processes one does. One
that dies before it has an answer is succeeded by the next attempt.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from identity.clients.client import Client
from identity.events.events import Events
from identity.events.kinds import EventType
from identity.logout.config import LogoutConfig
from identity.logout.delivery import Delivery
from identity.logout.logout_token import LogoutTokens
from identity.logout.records import BackChannelLogout
from identity.randomness import Randomness
from identity.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Changed, Records

logger = logging.getLogger(__name__)

_LEAST_BACK_OFF_SECS = 60
_BACK_OFF_SPREAD_SECS = 31
_MOST_QUEUED = 10_000


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class BackChannel:
    def __init__(
        self,
        queue: Records[BackChannelLogout],
        clients: Clients,
        tokens: LogoutTokens,
        delivery: Delivery,
        *,
        clock: Clock,
        randomness: Randomness,
        config: LogoutConfig,
        events: Events,
    ) -> None:
        self._queue = queue
        self._clients = clients
        self._tokens = tokens
        self._delivery = delivery
        self._clock = clock
        self._randomness = randomness
        self._config = config
        self._events = events

    async def run(
        self,
        tenants: Callable[[], Iterable[Tenant]],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Deliver what is due, for as long as the caller lets it."""
        while True:
            for tenant in tenants():
                try:
                    await self.deliver_due(tenant)
                except Unavailable:
                    logger.warning("back-channel logout waits", extra={"tenant_id": tenant.tenant_id})
            await pause(self._config.poll_interval_secs)

    async def deliver_due(self, tenant: Tenant) -> None:
        """Try once what is due now; returns when every answer is there or late."""
        now = self._clock.now()
        queued = await self._queue.find(tenant.tenant_id, "due", "due", most=_MOST_QUEUED)
        due = sorted(
            (logout for logout in queued if logout.next_at <= now), key=lambda logout: logout.next_at
        )
        async with asyncio.TaskGroup() as deliveries:
            for logout in due[: self._config.most_at_a_time]:
                deliveries.create_task(self._attempt(tenant, logout))

    async def _attempt(self, tenant: Tenant, logout: BackChannelLogout) -> None:
        back_off = timedelta(seconds=self._back_off_secs())
        claimed = replace(logout, attempts=logout.attempts + 1, next_at=self._clock.now() + back_off)
        try:
            await self._tell(tenant, await self._queue.replace(claimed))
        except Changed:
            # Another process sends it.
            return
        except Unavailable:
            # Its next attempt is noted, so it is only late.
            logger.warning("back-channel logout waits", extra={"tenant_id": tenant.tenant_id})

    async def _tell(self, tenant: Tenant, logout: BackChannelLogout) -> None:
        if await self._is_told(tenant, logout):
            await self._queue.take(tenant.tenant_id, logout.id)
        elif logout.attempts >= self._config.attempts:
            await self._give_up(logout)

    async def _is_told(self, tenant: Tenant, logout: BackChannelLogout) -> bool:
        client = await self._clients.find(tenant, logout.client_id)
        if client is None or not client.backchannel_logout_uri:
            # Nobody is there any more who would want to know.
            return True
        logout_token = await self._tokens.issue(tenant, client, logout)
        return await self._delivery.deliver(client.backchannel_logout_uri, logout_token)

    async def _give_up(self, logout: BackChannelLogout) -> None:
        await self._queue.take(logout.tenant_id, logout.id)
        logger.error(
            "back-channel logout failed",
            extra={
                "tenant_id": logout.tenant_id,
                "client_id": logout.client_id,
                "attempts": logout.attempts,
            },
        )
        await self._events.emit(
            logout.tenant_id,
            EventType.BACK_CHANNEL_LOGOUT_FAILED,
            data=logout.attempts,
            text=f"{logout.client_id} / {logout.user_id}",
            user_id=logout.user_id,
            client_id=logout.client_id,
        )

    def _back_off_secs(self) -> int:
        # Spread, so that those who failed together do not come back together.
        return _LEAST_BACK_OFF_SECS + self._randomness.octets(1)[0] % _BACK_OFF_SPREAD_SECS
