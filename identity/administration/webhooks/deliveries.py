"""Delivery of security events to webhooks: in the order of the events, at least once, each webhook independently.

The events are already in the store; a webhook's record holds the position of the last delivery, so none is lost while a
receiver or the provider is down. The process that stored an event delivers it; other processes check every few minutes
for events of a process that has ended. A process claims a webhook by its record while it delivers, so only one process
does. Slow or failing receivers share places for which no other receiver waits.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile

import msgspec

from identity.administration.webhooks.signatures import WebhookSecrets, signed_headers
from identity.administration.webhooks.webhook import MOST_OF_TENANT, WEBHOOKS, Delivery, Webhook
from identity.delivery.http.sender import Sender
from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.events.news import News, settled_position
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.back_off import BackOff
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Changed, RecordStore

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0
LOOKED_AT_EVERY = timedelta(minutes=5)
"""For a webhook without events that this process knows."""

DISABLED_AFTER = timedelta(days=5)
NEVER = datetime(9999, 1, 1, tzinfo=UTC)

_BACK_OFF = BackOff(5, 3600, spread=0.5)
_CLAIM = timedelta(seconds=60)
_PAGE = 100
_SLOW = timedelta(seconds=2)
_MOST_AT_A_TIME = 150
_MOST_SLOW = 50
_GONE = 410
_OCTET = 256


class Deliveries:
    def __init__(
        self,
        store: RecordStore,
        secrets: WebhookSecrets,
        sender: Sender,
        *,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._records = store.of(WEBHOOKS)
        self._stored_events = store.of(EVENTS)
        self._secrets = secrets
        self._sender = sender
        self._events = events
        self._clock = clock
        self._randomness = randomness
        self._places = asyncio.Semaphore(_MOST_AT_A_TIME)
        self._slow_places = asyncio.Semaphore(_MOST_SLOW)
        self._slow: set[str] = set()
        self._served: set[str] = set()
        self.news = News()

    async def run(
        self,
        tenants: Callable[[], Iterable[Tenant]],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Deliver events until cancelled."""
        async with asyncio.TaskGroup() as serving:
            while True:
                for webhook in await self.due(tenants):
                    if webhook.id not in self._served:
                        self._served.add(webhook.id)
                        serving.create_task(self._serve(webhook))
                await pause(POLL_SECONDS)

    async def deliver(self, webhook: Webhook) -> None:
        """Deliver the waiting events, until one fails; raises Unavailable."""
        place = self._slow_places if self._is_slow(webhook) else self._places
        async with place:
            events = await self._waiting(webhook)
            try:
                if events:
                    await self._deliver_all(webhook, events)
                else:
                    await self._release(webhook)
            except Changed:
                # An administrator changed the webhook, or another process delivers: the rest comes with the next poll.
                return

    async def due(self, tenants: Callable[[], Iterable[Tenant]]) -> Sequence[Webhook]:
        """Return the webhooks to deliver to: those due for an attempt or a check, and those with new events."""
        now = self._clock.now()
        found: dict[str, Webhook] = {}
        try:
            due = frozenset(await self._records.due_tenants(now))
            for tenant_id in [tenant.tenant_id for tenant in tenants()]:
                if tenant_id in due:
                    waiting = await self._records.due(tenant_id, now, most=MOST_OF_TENANT)
                    found |= {webhook.id: webhook for webhook in waiting}
                if self.news.has(tenant_id, now):
                    all_of_tenant = await self._records.page(tenant_id, most=MOST_OF_TENANT)
                    found |= {webhook.id: webhook for webhook in all_of_tenant if webhook.is_free(now)}
                    self.news.take(tenant_id, now)
        except Unavailable:
            logger.warning("webhooks are delivered later: the store is not available")
            return ()
        return list(found.values())

    async def _serve(self, webhook: Webhook) -> None:
        facts = {"tenant_id": webhook.tenant_id, "webhook_id": webhook.id}
        try:
            await self.deliver(webhook)
        except Unavailable:
            logger.warning("a webhook is delivered later: the store is not available", extra=facts)
        except Exception:
            logger.exception("a webhook was not delivered", extra=facts)
        finally:
            self._served.remove(webhook.id)

    async def _waiting(self, webhook: Webhook) -> Sequence[Event]:
        page = await self._stored_events.page(webhook.tenant_id, after=webhook.position, most=_PAGE)
        end = settled_position(self._clock.now())
        return list(takewhile(lambda event: event.id < end, page))

    async def _deliver_all(self, webhook: Webhook, events: Sequence[Event]) -> None:
        """Deliver in order and store the position after each event; raises Changed."""
        wanted = [event for event in events if webhook.admits(event)]
        if wanted:
            webhook = await self._records.replace(_claimed(webhook, self._clock.now()))
        for event in wanted:
            webhook = await self._delivered(webhook, event)
            if webhook.attempts or not webhook.is_enabled:
                return
        await self._release(replace(webhook, position=events[-1].id), has_more=len(events) == _PAGE)

    async def _release(self, webhook: Webhook, *, has_more: bool = False) -> None:
        """Raises Changed."""
        now = self._clock.now()
        next_at = now if has_more else now + LOOKED_AT_EVERY
        await self._records.replace(replace(webhook, next_at=next_at, claimed_until=None))

    async def _delivered(self, webhook: Webhook, event: Event) -> Webhook:
        """Return the webhook after an attempt to deliver an event; raises Changed."""
        began = self._clock.now()
        body = msgspec.json.encode(_message(event))
        headers = signed_headers(event.id, began, body, self._secrets.open(webhook, began))
        status = await self._sender.post(webhook.url, body, headers)
        now = self._clock.now()
        self._note_speed(webhook, is_slow=now - began > _SLOW)
        delivery = Delivery(
            event_id=event.id,
            type=event.type,
            at=now,
            attempts=webhook.attempts + 1,
            status=status,
            is_delivered=200 <= status < 300,  # noqa: PLR2004  # RFC 9110 §15.3
        )
        told = webhook.with_delivery(delivery)
        if delivery.is_delivered:
            done = replace(told, position=event.id, attempts=0, failing_since=None)
            return await self._records.replace(_claimed(done, now))
        return await self._failed(told, status)

    async def _failed(self, webhook: Webhook, status: int) -> Webhook:
        now = self._clock.now()
        since, attempts = webhook.failing_since or now, webhook.attempts + 1
        webhook = replace(webhook, claimed_until=None)
        if status == _GONE or now - since >= DISABLED_AFTER:
            ended = replace(webhook, is_enabled=False, next_at=NEVER, attempts=attempts, failing_since=since)
            kept = await self._records.replace(ended)
            await self._events.emit(
                webhook.tenant_id,
                EventType.CHANGED,
                level=Level.CRITICAL,
                text=f"webhook {webhook.name} disabled after {attempts} failed attempts",
                data=attempts,
            )
            return kept
        pause = timedelta(seconds=_BACK_OFF.seconds(attempts, self._chance))
        return await self._records.replace(
            replace(webhook, attempts=attempts, failing_since=since, next_at=now + pause)
        )

    def _is_slow(self, webhook: Webhook) -> bool:
        return webhook.attempts > 0 or webhook.id in self._slow

    def _note_speed(self, webhook: Webhook, *, is_slow: bool) -> None:
        if is_slow:
            self._slow.add(webhook.id)
        else:
            self._slow.discard(webhook.id)

    def _chance(self) -> float:
        return self._randomness.octets(1)[0] / _OCTET


def _claimed(webhook: Webhook, now: datetime) -> Webhook:
    return replace(webhook, next_at=now + _CLAIM, claimed_until=now + _CLAIM)


def _message(event: Event) -> dict[str, object]:
    """Return the payload: Standard Webhooks 1.0, with the members of the event that have a value."""
    named = {
        "id": event.id,
        "tenant_id": event.tenant_id,
        "level": event.level,
        "ip": event.ip,
        "data": event.data,
        "text": event.text,
        "user_id": event.user_id,
        "client_id": event.client_id,
        "session": event.session,
        "actor": event.actor,
    }
    data = {name: value for name, value in named.items() if value is not None}
    return {"type": event.type, "timestamp": event.at, "data": data}
