"""Events are delivered to webhooks in their order, at least once, and no tenant waits for another."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from identity.administration.webhooks.administration import WebhookAdministration, WebhookFields
from identity.administration.webhooks.channels import Channels
from identity.administration.webhooks.deliveries import Deliveries
from identity.administration.webhooks.digests import Digests
from identity.administration.webhooks.signatures import WebhookSecrets, signed_headers
from identity.administration.webhooks.webhook import MOST_OF_TENANT, Webhook
from identity.crypto.keys.master_keys import MasterKeys
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.sender import HttpSender
from identity.delivery.subscribers import DISABLED_AFTER, LOOKED_AT_EVERY
from identity.directory.user import USERS
from identity.directory.users import Users
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.events.news import SETTLES_IN
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.administration.administration import ROOT as ADMINISTRATOR
from tests.identity.browsers import NOON, CountedRandomness
from tests.identity.mailbox import Mailbox
from tests.waits import ticks, until

URL = "https://receiver.example.com/hook"
TENANTS = Tenants("https://id.example.com", TenantId("default"), (TenantId("acme"), TenantId("umbrella")))
ACME, UMBRELLA = TENANTS.find("acme"), TENANTS.find("umbrella")
FIELDS = WebhookFields(name="hook", url=URL, types=(), level=Level.NOTICE, is_enabled=True)


@dataclass
class Receiver:
    """Receivers by their addresses: one answers with a status after some time, or never."""

    clock: VirtualClock
    statuses: dict[str, int] = field(default_factory=dict)
    takes: dict[str, timedelta] = field(default_factory=dict)
    hanging: set[str] = field(default_factory=set)
    received: list[tuple[str, Mapping[str, str], Any]] = field(default_factory=list)
    attempts: int = 0

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], /) -> int:
        return await self._answer(url, body, headers)

    async def put(self, url: str, body: bytes, headers: Mapping[str, str], /) -> int:
        return await self._answer(url, body, headers)

    async def _answer(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        self.attempts += 1
        if url in self.hanging:
            await asyncio.Event().wait()
        self.clock.advance(self.takes.get(url, timedelta()))
        status = self.statuses.get(url, 200)
        if status == 200:
            self.received.append((url, headers, json.loads(body)))
        return status

    def texts(self, url: str = URL) -> list[str]:
        return [body["data"]["text"] for at, _, body in self.received if at == url]


@dataclass
class World:
    store: RecordStore
    clock: VirtualClock

    def __post_init__(self) -> None:
        self.receiver = Receiver(self.clock)
        randomness = CountedRandomness()
        keys = MasterKeys({"one": b"1" * 32}, "one", randomness=randomness)
        self.secrets = WebhookSecrets(self.store, keys)
        sources: dict[str, Any] = {"clock": self.clock, "randomness": randomness}
        self.events = Events(self.store, EventsConfig().levels, **sources)
        self.mailbox = Mailbox(self.clock)
        self.users = Users(self.store.of(USERS))
        self.administration = self.administrator(has_mail=True)
        self.deliveries = self.process()
        self.events.listen(self.deliveries.news)

    def administrator(self, *, has_mail: bool) -> WebhookAdministration:
        return WebhookAdministration(
            self.store,
            self.secrets,
            Destinations(),
            events=self.events,
            clock=self.clock,
            randomness=CountedRandomness(),
            has_mail=has_mail,
        )

    def process(self) -> Deliveries:
        return Deliveries(
            self.store,
            Channels(self.secrets, self.receiver),
            Digests(self.users, self.mailbox),
            events=self.events,
            clock=self.clock,
            randomness=CountedRandomness(),
        )

    async def create(self, tenant: Tenant = ACME, **fields: Any) -> tuple[Webhook, str]:
        return await self.administration.create(tenant, replace(FIELDS, **fields), ADMINISTRATOR)

    async def happens(self, *texts: str, tenant: Tenant = ACME) -> None:
        for text in texts:
            self.clock.advance(timedelta(milliseconds=1))
            await self.events.emit(tenant.tenant_id, EventType.FORCED_LOGOUT, text=text)

    async def passes(self, period: timedelta, *, step: timedelta = timedelta(seconds=20)) -> None:
        """Let time pass, and deliver what is due at each step."""
        end = self.clock.now() + period
        while self.clock.now() < end:
            self.clock.advance(step)
            await self.visits()

    async def visits(self) -> None:
        for tenant, webhook in await self.due():
            await self.deliveries.visit(tenant, webhook)

    async def due(self) -> Sequence[tuple[Tenant, Webhook]]:
        return await self.deliveries.due(lambda: (ACME, UMBRELLA))

    async def webhook(self, webhook: Webhook) -> Webhook:
        return await self.administration.get(ACME, webhook.id)


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "webhooks"))


@pytest.fixture(params=["memory", "postgres"])
def database(request: pytest.FixtureRequest) -> str | None:
    """The DSN of a database for the records, None when they are in memory."""
    return None if request.param == "memory" else request.getfixturevalue("dsn")


@pytest.fixture
async def world(database: str | None) -> AsyncIterator[World]:
    clock = VirtualClock(pinned=NOON)
    if database is None:
        yield World(MemoryRecordStore(clock), clock)
        return
    async with open_pool(database, 2) as pool:
        await pool.execute("TRUNCATE identity.webhook, identity.event")
        yield World(PostgresRecordStore(PooledDatabase(pool), clock), clock)


async def test_a_receiver_that_is_down_for_an_hour_misses_nothing_and_the_order_stays(world: World) -> None:
    webhook, _ = await world.create()
    await world.create(UMBRELLA, url="https://other.example.com/")
    world.receiver.statuses[URL] = 503

    texts = [f"event {number}" for number in range(30)]
    for text in texts:
        await world.happens(text)
        await world.happens(f"other {text}", tenant=UMBRELLA)
        await world.passes(timedelta(minutes=2))
    assert world.receiver.texts() == []
    assert len(world.receiver.texts("https://other.example.com/")) == 30
    assert (await world.webhook(webhook)).attempts > 3

    del world.receiver.statuses[URL]
    await world.passes(timedelta(minutes=90))

    assert texts == world.receiver.texts()
    after = await world.webhook(webhook)
    assert (after.attempts, after.failing_since) == (0, None)
    assert all(delivery.is_delivered for delivery in after.deliveries)


async def test_a_message_is_signed_as_the_standard_says(world: World) -> None:
    _, secret = await world.create()
    await world.happens("event")

    await world.passes(SETTLES_IN * 2)

    [(_, headers, body)] = world.receiver.received
    [event] = [
        event
        for event in await world.store.of(EVENTS).page(ACME.tenant_id)
        if event.type is EventType.FORCED_LOGOUT
    ]
    assert headers["webhook-id"] == event.id
    assert body["type"] == "ForcedLogout"
    assert body["data"]["text"] == "event"
    assert body["data"]["tenant_id"] == "acme"
    assert (
        expected_signature(secret, headers, json.dumps(body, separators=(",", ":")))
        == headers["webhook-signature"]
    )


def expected_signature(secret: str, headers: Mapping[str, str], body: str) -> str:
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}"
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, content.encode(), hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def test_the_example_of_the_standard_has_its_signature() -> None:
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    at = NOON.fromtimestamp(1614265330, NOON.tzinfo)

    headers = signed_headers("msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}', [key])

    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


async def test_both_secrets_sign_for_a_day_after_a_rotation(world: World) -> None:
    webhook, old = await world.create()
    _, new = await world.administration.rotate(ACME, webhook.id, ADMINISTRATOR)

    await world.happens("first")
    await world.passes(SETTLES_IN * 2)
    world.clock.advance(timedelta(days=1))
    await world.happens("second")
    await world.passes(SETTLES_IN * 2)

    for (_, headers, body), secrets in zip(world.receiver.received, ([new, old], [new]), strict=True):
        text = json.dumps(body, separators=(",", ":"))
        signatures = " ".join(expected_signature(secret, headers, text) for secret in secrets)
        assert signatures == headers["webhook-signature"]


async def test_only_events_that_the_webhook_names_are_delivered(world: World) -> None:
    await world.create(types=("UserPasswordReset",), level=Level.INFO)
    await world.create(name="critical", url="https://critical.example.com/", level=Level.CRITICAL)
    await world.happens("passed over")
    await world.events.emit(ACME.tenant_id, EventType.USER_PASSWORD_RESET, text="wanted")

    await world.passes(SETTLES_IN * 3)

    assert [body["data"]["text"] for _, _, body in world.receiver.received] == ["wanted"]


async def test_a_webhook_that_fails_for_days_is_disabled_and_goes_on_when_enabled(world: World) -> None:
    webhook, _ = await world.create()
    world.receiver.statuses[URL] = 500
    await world.happens("event")

    await world.passes(DISABLED_AFTER + timedelta(hours=3), step=timedelta(minutes=30))

    after = await world.webhook(webhook)
    assert not after.is_enabled
    assert (after.deliveries[0].status, after.deliveries[0].is_delivered) == (500, False)
    assert await disabling(world) == [Level.CRITICAL]
    attempts = world.receiver.attempts
    await world.passes(timedelta(hours=3), step=timedelta(minutes=30))
    assert attempts == world.receiver.attempts

    del world.receiver.statuses[URL]
    await world.administration.change(ACME, webhook.id, FIELDS, ADMINISTRATOR)
    await world.passes(timedelta(minutes=5))
    assert "event" in world.receiver.texts()


async def test_a_receiver_that_is_gone_disables_its_webhook_at_once(world: World) -> None:
    webhook, _ = await world.create()
    world.receiver.statuses[URL] = 410
    await world.happens("event")

    await world.passes(timedelta(minutes=5))

    assert not (await world.webhook(webhook)).is_enabled
    assert await disabling(world) == [Level.CRITICAL]


async def disabling(world: World) -> list[Level]:
    events: list[Event] = list(await world.store.of(EVENTS).page(ACME.tenant_id, most=1000))
    return [event.level for event in events if event.text and "disabled" in event.text]


async def test_a_slow_receiver_holds_no_other_tenant() -> None:
    clock = VirtualClock(pinned=NOON)
    world = World(MemoryRecordStore(clock), clock)
    for number in range(MOST_OF_TENANT):
        await world.create(name=f"hook {number}", url=f"{URL}/{number}")
        world.receiver.hanging.add(f"{URL}/{number}")
    await world.create(UMBRELLA, url="https://other.example.com/")

    async def pause(seconds: float) -> None:
        clock.advance(timedelta(seconds=seconds))
        await ticks(20)

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(world.deliveries.run(lambda: (ACME, UMBRELLA), pause))
        for number in range(5):
            await world.happens(f"a{number}")
            await world.happens(f"u{number}", tenant=UMBRELLA)
            await until(lambda n=number: world.receiver.texts("https://other.example.com/")[n:])  # type: ignore[misc]
        running.cancel()

    assert world.receiver.texts("https://other.example.com/") == ["u0", "u1", "u2", "u3", "u4"]
    assert world.receiver.attempts == MOST_OF_TENANT + 5


async def test_a_rare_event_is_not_late_among_many_that_the_webhook_does_not_want(world: World) -> None:
    await world.create(types=("UserPasswordReset",))
    for _ in range(1500):
        await world.happens("sign-out")
    await world.events.emit(ACME.tenant_id, EventType.USER_PASSWORD_RESET, text="reset")
    world.clock.advance(SETTLES_IN * 2)

    await world.visits()

    assert world.receiver.texts() == ["reset"]


async def test_a_fast_receiver_gets_more_than_a_page_of_events_in_one_visit(world: World) -> None:
    await world.create()
    await world.happens(*map(str, range(250)))
    world.clock.advance(SETTLES_IN * 2)

    await world.visits()

    assert world.receiver.texts() == [str(number) for number in range(250)]


async def test_a_slow_receiver_leaves_its_place_after_each_event(world: World) -> None:
    await world.create()
    await world.happens("one", "two", "three")
    world.clock.advance(SETTLES_IN * 2)
    world.receiver.takes[URL] = timedelta(seconds=3)

    delivered = []
    for _ in range(3):
        await world.visits()
        delivered.append(len(world.receiver.received))

    assert delivered == [1, 2, 3]


async def test_two_processes_deliver_each_event_once(world: World) -> None:
    webhook, _ = await world.create()
    await world.happens(*(f"event {number}" for number in range(10)))
    world.clock.advance(SETTLES_IN * 2)
    found = await world.webhook(webhook)
    other = world.process()

    await asyncio.gather(world.deliveries.visit(ACME, found), other.visit(ACME, found))

    assert [f"event {number}" for number in range(10)] == world.receiver.texts()


async def test_a_webhook_without_events_is_looked_at_every_five_minutes(world: World) -> None:
    await world.create()
    await world.passes(SETTLES_IN * 2)
    looks = 0

    for _ in range(3600 // 2):
        world.clock.advance(timedelta(seconds=2))
        for tenant, webhook in await world.due():
            looks += 1
            await world.deliveries.visit(tenant, webhook)

    assert looks == 12


async def test_events_without_a_pause_are_delivered_before_a_minute_is_over(world: World) -> None:
    await world.create()

    late = []
    for number in range(120):
        await world.happens(str(number))
        await world.passes(timedelta(seconds=1), step=timedelta(seconds=1))
        late.append(number - len(world.receiver.texts()))

    assert max(late) < 60


async def test_an_event_of_a_process_that_has_ended_is_delivered_by_another(world: World) -> None:
    await world.create()
    await world.passes(timedelta(minutes=1))
    ended = Events(world.store, EventsConfig().levels, clock=world.clock, randomness=CountedRandomness())
    await ended.emit(ACME.tenant_id, EventType.FORCED_LOGOUT, text="event")

    await world.passes(LOOKED_AT_EVERY + SETTLES_IN)

    assert world.receiver.texts() == ["event"]


async def test_a_webhook_that_another_process_delivers_to_is_not_taken(world: World) -> None:
    webhook, _ = await world.create()
    await world.happens("event")
    world.clock.advance(SETTLES_IN * 2)
    world.receiver.hanging.add(URL)

    async with asyncio.TaskGroup() as tasks:
        delivering = tasks.create_task(world.deliveries.visit(ACME, await world.webhook(webhook)))
        await until(lambda: world.receiver.attempts)
        found = await world.due()
        delivering.cancel()

    assert found == []


@pytest.mark.parametrize(
    "url",
    [
        "http://receiver.example.com/",
        "https://10.0.0.1/",
        "https://127.0.0.1/",
        "http://localhost:8080/",
        "https://[::ffff:169.254.169.254]/",
        "https://169.254.169.254/latest",
        "ftp://receiver.example.com/",
        "not an address",
    ],
)
async def test_addresses_that_the_server_must_not_connect_to_are_refused(url: str) -> None:
    clock = VirtualClock(pinned=NOON)
    world = World(MemoryRecordStore(clock), clock)

    with pytest.raises(InvalidArgument, match="url"):
        await world.create(url=url)

    async with HttpSender(Destinations()) as sender:
        assert url.startswith("http://receiver") or await sender.post(url, b"", {}) == 0


async def test_webhooks_have_bounds_and_names_of_their_own(world: World) -> None:
    await world.create()
    with pytest.raises(AlreadyExists):
        await world.create()
    with pytest.raises(InvalidArgument, match="types"):
        await world.create(name="other", types=("NoSuchEvent",))
    for number in range(MOST_OF_TENANT - 1):
        await world.create(name=f"hook {number}")
    with pytest.raises(InvalidState):
        await world.create(name="one too many")
