import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from joserfc import jwt

from identity.access.sessions.logout_config import LogoutConfig
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS, BackChannelLogout
from identity.delivery.retry_queue import RetryQueue
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.protocol.logout.back_channel import BackChannel
from identity.protocol.logout.logout_token import LogoutTokens
from server.platform.errors import Unavailable
from tests.identity.browsers import ISSUER, NOON, Provider, app
from tests.waits import until

URI = "https://app.example.com/back-channel"
CONFIG = LogoutConfig(attempts=3)


@dataclass
class Receiver:
    """A relying party that accepts logout tokens, or refuses them."""

    takes: bool = True
    received: list[tuple[str, str]] = field(default_factory=list)

    async def deliver(self, uri: str, logout_token: str) -> bool:
        await asyncio.sleep(0)
        self.received.append((uri, logout_token))
        return self.takes


@dataclass
class Outage:
    """Signing keys that are unavailable."""

    async def key_set(self, _tenant_id: object, /) -> object:
        raise Unavailable("the keys are away")


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    await provider.register(app(backchannel_logout_uri=URI), app(id="silent"))
    return provider


def channel(
    provider: Provider, receiver: Receiver, keys: object | None = None
) -> RetryQueue[BackChannelLogout]:
    tokens = LogoutTokens(
        keys or provider.keys,  # type: ignore[arg-type]
        provider.subjects,
        clock=provider.clock,
        randomness=provider.randomness,
    )
    return RetryQueue(
        "back-channel logout",
        provider.store.of(BACK_CHANNEL_LOGOUTS),
        BackChannel(provider.clients, tokens, delivery=receiver, events=provider.events),
        clock=provider.clock,
        randomness=provider.randomness,
        policy=CONFIG,
    )


async def enqueue(provider: Provider, *, client_id: str = "app", number: int = 1) -> None:
    queue = provider.store.of(BACK_CHANNEL_LOGOUTS)
    for _ in range(number):
        logout = BackChannelLogout(
            tenant_id=provider.tenant.tenant_id,
            id=provider.randomness.alphanumeric(8),
            client_id=client_id,
            user_id="alice",
            sid="sid-1",
            attempts=0,
            next_at=NOON,
        )
        await queue.insert(logout)


async def queued(provider: Provider) -> Iterable[BackChannelLogout]:
    return await provider.store.of(BACK_CHANNEL_LOGOUTS).find(provider.tenant.tenant_id, "due", "due")


async def test_a_logout_token_says_what_the_standard_asks_for(provider: Provider) -> None:
    receiver = Receiver()
    await enqueue(provider)

    await channel(provider, receiver).run_due(provider.tenant)

    [(uri, logout_token)] = receiver.received
    token = jwt.decode(logout_token, provider.keys.signing_key.public_key, algorithms=["ES256"])
    at = int(NOON.timestamp())
    assert uri == URI
    assert token.header == {"alg": "ES256", "kid": "kid-1", "typ": "logout+jwt"}
    assert token.claims == {
        "iss": ISSUER,
        "sub": "alice",
        "aud": "app",
        "iat": at,
        "exp": at + 30,
        "jti": token.claims["jti"],
        "sid": "sid-1",
        "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
    }


async def test_what_was_taken_is_not_sent_again(provider: Provider) -> None:
    receiver = Receiver()
    await enqueue(provider)
    sender = channel(provider, receiver)

    await sender.run_due(provider.tenant)
    provider.clock.advance(timedelta(days=1))
    await sender.run_due(provider.tenant)

    assert len(receiver.received) == 1
    assert await queued(provider) == []


async def test_what_was_not_taken_is_sent_again_after_a_minute_or_more(provider: Provider) -> None:
    receiver = Receiver(takes=False)
    await enqueue(provider)
    sender = channel(provider, receiver)

    attempts = []
    for seconds in (0, 59, 32):
        provider.clock.advance(timedelta(seconds=seconds))
        await sender.run_due(provider.tenant)
        attempts.append(len(receiver.received))

    assert attempts == [1, 1, 2]


async def test_every_attempt_has_a_token_of_its_own(provider: Provider) -> None:
    receiver = Receiver(takes=False)
    await enqueue(provider)
    sender = channel(provider, receiver)

    for _ in range(2):
        await sender.run_due(provider.tenant)
        provider.clock.advance(timedelta(seconds=91))

    first, second = (logout_token for _, logout_token in receiver.received)
    assert first != second


async def test_after_the_last_attempt_it_is_given_up(provider: Provider) -> None:
    receiver = Receiver(takes=False)
    await enqueue(provider)
    sender = channel(provider, receiver)

    for _ in range(5):
        await sender.run_due(provider.tenant)
        provider.clock.advance(timedelta(seconds=91))

    assert len(receiver.received) == 3
    assert await queued(provider) == []
    (told,) = await provider.store.of(EVENTS).page(provider.tenant.tenant_id)
    assert (told.type, told.data, told.client_id) == (EventType.BACK_CHANNEL_LOGOUT_FAILED, 3, "app")


@pytest.mark.parametrize("client_id", ["silent", "nobody"])
async def test_who_does_not_want_to_know_any_more_is_forgotten(provider: Provider, client_id: str) -> None:
    receiver = Receiver()
    await enqueue(provider, client_id=client_id)

    await channel(provider, receiver).run_due(provider.tenant)

    assert (receiver.received, await queued(provider)) == ([], [])


async def test_of_several_senders_one_sends(provider: Provider) -> None:
    receiver = Receiver()
    await enqueue(provider, number=10)
    senders = [channel(provider, receiver) for _ in range(4)]

    await asyncio.gather(*(sender.run_due(provider.tenant) for sender in senders))

    assert len(receiver.received) == 10


async def test_an_outage_of_ours_only_delays(provider: Provider) -> None:
    receiver = Receiver()
    await enqueue(provider)

    await channel(provider, receiver, Outage()).run_due(provider.tenant)
    provider.clock.advance(timedelta(seconds=91))
    await channel(provider, receiver).run_due(provider.tenant)

    assert len(receiver.received) == 1


async def test_the_loop_serves_every_tenant_until_it_is_ended(provider: Provider) -> None:
    receiver = Receiver()
    await enqueue(provider)
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await enqueue(provider)
        await asyncio.sleep(0)

    def tenants() -> Iterable[Tenant]:
        return [provider.tenants.find("acme"), provider.tenant]

    loop = asyncio.ensure_future(channel(provider, receiver).run(tenants, pause))
    await until(lambda: len(receiver.received) >= 3)
    loop.cancel()

    with pytest.raises(asyncio.CancelledError):
        await loop
    assert set(pauses) == {5}
