"""Clients in ping mode are notified that their user has decided: CIBA Core 1.0 §10.2."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from identity.delivery.retry_queue import RetryQueue
from identity.foundation.errors import InvalidRequest
from identity.foundation.vocabulary import TokenDeliveryMode
from identity.protocol.backchannel.notifications import (
    BACKCHANNEL_NOTIFICATIONS,
    BackchannelNotifier,
    NotificationPolicy,
)
from tests.identity.protocol.backchannel.bank import Bank
from tests.identity.protocol.provider import TENANT

ENDPOINT = "https://bank.example.com/ping"
TOKEN = "8d67dc78-7faa-4d41-aabd-67707b374255"


@dataclass
class Receiver:
    """An endpoint of a client, which answers with these statuses in turn, the last one again and again."""

    statuses: list[int] = field(default_factory=lambda: [204])
    received: list[tuple[str, Any, str]] = field(default_factory=list)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], /) -> int:
        self.received.append((url, json.loads(body), headers["Authorization"]))
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@dataclass
class Ping:
    bank: Bank
    receiver: Receiver = field(default_factory=Receiver)

    def __post_init__(self) -> None:
        provider = self.bank.provider
        self.queue = RetryQueue(
            "backchannel notification",
            provider.records.of(BACKCHANNEL_NOTIFICATIONS),
            BackchannelNotifier(provider.clients, self.bank.safe, self.receiver, provider.clock),
            clock=provider.clock,
            randomness=provider.randomness,
            policy=NotificationPolicy(),
        )

    async def run(self) -> None:
        await self.queue.run_due(TENANT)

    async def later(self) -> None:
        """Run tasks once the next attempt is due."""
        self.bank.provider.clock.advance(timedelta(seconds=100))
        await self.run()


@pytest.fixture
async def ping(bank: Bank) -> Ping:
    await bank.provider.change_client(
        backchannel_token_delivery_mode=TokenDeliveryMode.PING,
        backchannel_client_notification_endpoint=ENDPOINT,
    )
    return Ping(bank)


@pytest.mark.parametrize("is_accepted", [True, False])
async def test_a_decision_is_notified_with_the_token_of_the_client(ping: Ping, *, is_accepted: bool) -> None:
    started = await ping.bank.start(client_notification_token=TOKEN)
    await ping.run()
    assert ping.receiver.received == []

    await ping.bank.decide(started, is_accepted=is_accepted)
    await ping.run()
    await ping.later()

    assert ping.receiver.received == [(ENDPOINT, {"auth_req_id": started.auth_req_id}, f"Bearer {TOKEN}")]


async def test_a_notified_client_redeems_the_request(ping: Ping) -> None:
    started = await ping.bank.start(client_notification_token=TOKEN)

    await ping.bank.decide(started)

    assert (await ping.bank.poll(started)).id_token


async def test_neither_the_token_nor_the_auth_req_id_is_kept_in_the_clear(ping: Ping) -> None:
    started = await ping.bank.start(client_notification_token=TOKEN)
    requests = await ping.bank.kept()
    await ping.bank.decide(started)
    queued = repr(await ping.bank.provider.records.of(BACKCHANNEL_NOTIFICATIONS).page(TENANT.tenant_id))

    assert ENDPOINT not in queued
    for secret in (TOKEN, started.auth_req_id):
        assert secret not in requests + queued


@pytest.mark.parametrize("token", [None, "", "a b", "a\r\nX: y", "a" * 1025, "=a"])
async def test_a_client_in_ping_mode_sends_a_bearer_token(ping: Ping, token: str | None) -> None:
    with pytest.raises(InvalidRequest, match="client_notification_token"):
        await ping.bank.start(client_notification_token=token)


async def test_a_client_in_poll_mode_is_not_notified(bank: Bank) -> None:
    ping = Ping(bank)

    await bank.decide(await bank.start(client_notification_token=TOKEN))
    await ping.run()

    assert ping.receiver.received == []


@pytest.mark.parametrize("status", [0, 408, 429, 500, 503])
async def test_a_client_that_is_out_of_order_is_notified_again(ping: Ping, status: int) -> None:
    ping.receiver.statuses = [status, 200]
    await ping.bank.decide(await ping.bank.start(client_notification_token=TOKEN))

    await ping.run()
    await ping.run()
    await ping.later()
    await ping.later()

    assert len(ping.receiver.received) == 2


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404])
async def test_a_client_that_refuses_is_not_notified_again(ping: Ping, status: int) -> None:
    ping.receiver.statuses = [status]
    await ping.bank.decide(await ping.bank.start(client_notification_token=TOKEN))

    await ping.run()
    await ping.later()

    assert len(ping.receiver.received) == 1


async def test_an_expired_request_is_not_notified(ping: Ping) -> None:
    ping.receiver.statuses = [503]
    await ping.bank.decide(await ping.bank.start(client_notification_token=TOKEN))
    await ping.run()

    ping.bank.provider.clock.advance(timedelta(seconds=300))
    await ping.run()

    assert len(ping.receiver.received) == 1
    assert await ping.bank.provider.records.of(BACKCHANNEL_NOTIFICATIONS).page(TENANT.tenant_id) == []


@pytest.mark.parametrize(
    "change", [{"is_enabled": False}, {"backchannel_token_delivery_mode": TokenDeliveryMode.POLL}]
)
async def test_a_client_that_changed_meanwhile_is_not_notified(ping: Ping, change: dict[str, Any]) -> None:
    await ping.bank.decide(await ping.bank.start(client_notification_token=TOKEN))
    await ping.bank.provider.change_client(**change)

    await ping.run()

    assert ping.receiver.received == []
