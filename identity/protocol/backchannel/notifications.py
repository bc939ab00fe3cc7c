"""Notifications to clients in ping mode that a user has decided: CIBA Core 1.0 §10.2.

The `auth_req_id` and the notification token of the client are encrypted at rest. A notification lives for an
hour at most, so it is not encrypted again when the master key changes.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Protocol

import msgspec

from identity.access.backchannel import BackchannelRequest
from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from identity.delivery.retry_queue import QueuedTask
from identity.directory.client import Client, ClientId
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import TokenDeliveryMode
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.records import AlreadyThere, Kind, Owner, RecordStore

logger = logging.getLogger(__name__)

_TAKEN = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT})
# Zero stands for no response.
_PASSING = frozenset({0, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationPolicy:
    """Retries of notifications; a client that misses them learns the decision by polling."""

    attempts: int = 10
    poll_interval_secs: int = 2
    most_at_a_time: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class BackchannelNotification(QueuedTask):
    """The `id` is the id of the request, which expires at `until`."""

    client_id: ClientId
    content: Sealed = field(repr=False)
    until: datetime


BACKCHANNEL_NOTIFICATIONS = Kind(
    BackchannelNotification,
    "backchannel_notification",
    indexed=("due",),
    scheduled="next_at",
    owners=(Owner("client", "client_id"),),
)


@dataclass(frozen=True, slots=True)
class Notice:
    auth_req_id: str = field(repr=False)
    token: str = field(repr=False)


class NotificationSafe:
    def __init__(self, master_keys: MasterKeys) -> None:
        self._master_keys = master_keys

    def seal(self, notice: Notice, tenant_id: TenantId, request_id: str) -> Sealed:
        return self._master_keys.seal(msgspec.json.encode(notice), _place(tenant_id, request_id))

    def open(self, notification: BackchannelNotification) -> Notice:
        """Raise LostMasterKey."""
        place = _place(notification.tenant_id, notification.id)
        return msgspec.json.decode(self._master_keys.open(notification.content, place), type=Notice)


class NotificationQueue:
    def __init__(self, records: RecordStore, clock: Clock) -> None:
        self._queue = records.of(BACKCHANNEL_NOTIFICATIONS)
        self._clock = clock

    async def add(self, request: BackchannelRequest) -> None:
        """Notify the client of a decided request, if it wants notifications."""
        if request.notification is None:
            return
        notification = BackchannelNotification(
            tenant_id=request.tenant_id,
            id=request.id,
            expires_at=request.redeemable_until,
            attempts=0,
            next_at=self._clock.now(),
            client_id=request.client_id,
            content=request.notification,
            until=request.redeemable_until,
        )
        try:
            await self._queue.insert(notification)
        except AlreadyThere:
            return


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class Sender(Protocol):
    async def post(self, url: str, body: bytes, headers: Mapping[str, str], /) -> int: ...


class BackchannelNotifier:
    """Handles tasks of the notification queue."""

    def __init__(self, clients: Clients, safe: NotificationSafe, sender: Sender, clock: Clock) -> None:
        self._clients = clients
        self._safe = safe
        self._sender = sender
        self._clock = clock

    async def handle(self, tenant: Tenant, notification: BackchannelNotification) -> bool:
        """Post the `auth_req_id`; a response that another attempt would not change ends the attempts."""
        if self._clock.now() >= notification.until:
            return True
        client = await self._clients.find(tenant, notification.client_id)
        if client is None or not client.is_enabled or not _is_notified(client):
            return True
        notice = self._safe.open(notification)
        status = await self._sender.post(
            client.backchannel_client_notification_endpoint,
            msgspec.json.encode({"auth_req_id": notice.auth_req_id}),
            {"Authorization": f"Bearer {notice.token}"},
        )
        if status in _TAKEN:
            return True
        logger.warning(
            "a client did not accept a notification",
            extra={"tenant_id": tenant.tenant_id, "client_id": client.client_id, "status": status},
        )
        return not (status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR)

    async def give_up(self, notification: BackchannelNotification) -> None:
        logger.error(
            "a client was not notified",
            extra={"tenant_id": notification.tenant_id, "client_id": notification.client_id},
        )


def _is_notified(client: Client) -> bool:
    is_ping = client.backchannel_token_delivery_mode is TokenDeliveryMode.PING
    return is_ping and bool(client.backchannel_client_notification_endpoint)


def _place(tenant_id: TenantId, request_id: str) -> Place:
    return Place("backchannel notification", tenant_id, request_id)
