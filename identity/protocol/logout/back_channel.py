"""Sends logout tokens to the relying parties of an ended session."""

import logging
from typing import Protocol

from identity.access.sessions.logout_records import BackChannelLogout
from identity.directory.client import Client
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.protocol.logout.delivery import Delivery
from identity.protocol.logout.logout_token import LogoutTokens

logger = logging.getLogger(__name__)


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class BackChannel:
    """Handles tasks of the logout token queue."""

    def __init__(self, clients: Clients, tokens: LogoutTokens, *, delivery: Delivery, events: Events) -> None:
        self._clients = clients
        self._tokens = tokens
        self._delivery = delivery
        self._events = events

    async def handle(self, tenant: Tenant, logout: BackChannelLogout) -> bool:
        client = await self._clients.find(tenant, logout.client_id)
        if client is None or not client.backchannel_logout_uri:
            # The client was deleted, or no longer has a back-channel logout URI.
            return True
        logout_token = await self._tokens.issue(tenant, client, logout)
        return await self._delivery.deliver(client.backchannel_logout_uri, logout_token)

    async def give_up(self, logout: BackChannelLogout) -> None:
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
