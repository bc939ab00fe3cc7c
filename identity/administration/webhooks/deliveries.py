"""Delivery of security events to webhooks: in the order of the events, at least once, each webhook independently."""

from dataclasses import replace
from datetime import timedelta

from identity.administration.webhooks.channels import Channels
from identity.administration.webhooks.digests import Digest, Digests
from identity.administration.webhooks.webhook import WEBHOOKS, Delivery, Webhook
from identity.delivery.subscribers import VISIT, Places, Subscribers
from identity.foundation.events.event import Event
from identity.foundation.events.events import Events
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import RecordStore

_PAGE = 100
_PAGE_OF_DIGEST = 1000
_MOST_PAGES_OF_DIGEST = 10
_SLOW = timedelta(seconds=2)
_PLACES = Places(ordinary=150, slow=50)
_GONE = 410


class Deliveries(Subscribers[Webhook]):
    def __init__(
        self,
        store: RecordStore,
        channels: Channels,
        digests: Digests,
        *,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        super().__init__(
            WEBHOOKS,
            store,
            places=_PLACES,
            events=events,
            clock=clock,
            randomness=randomness,
        )
        self._channels = channels
        self._digests = digests

    async def _visit(self, tenant: Tenant, webhook: Webhook, /) -> None:
        if webhook.is_digest:
            await self._mail_digest(tenant, webhook)
            return
        ends_at = self._clock.now() + VISIT
        waiting = await self._waiting(webhook, webhook.admits, most=_PAGE)
        while waiting.events:
            webhook = await self._claimed(webhook)
            for event in waiting.events:
                webhook = await self._delivered(webhook, event)
                if webhook.attempts or not webhook.is_enabled:
                    return
                if self._is_slow(webhook) or self._clock.now() >= ends_at:
                    # Another visit delivers the rest, for a slow receiver in another place.
                    await self._released(webhook, has_more=True)
                    return
            webhook = replace(webhook, position=waiting.position)
            waiting = await self._waiting(webhook, webhook.admits, most=_PAGE)
        await self._released(replace(webhook, position=waiting.position), has_more=waiting.has_more)

    async def _mail_digest(self, tenant: Tenant, webhook: Webhook) -> None:
        """Queue one mail about the events since the last one, none without events; raises Changed."""
        now = self._clock.now()
        webhook = await self._claimed(webhook)
        digest, number, has_more = Digest(), 0, True
        while has_more and number < _MOST_PAGES_OF_DIGEST:
            waiting = await self._waiting(webhook, webhook.admits, most=_PAGE_OF_DIGEST)
            digest.add(waiting.events)
            webhook, number, has_more = (
                replace(webhook, position=waiting.position),
                number + 1,
                waiting.has_more,
            )
        if digest.number:
            await self._digests.post(tenant, webhook, digest)
            webhook = webhook.with_delivery(
                Delivery(
                    event_id=webhook.position,
                    type="Digest",
                    at=now,
                    attempts=1,
                    status=0,
                    is_delivered=True,
                )
            )
        next_at = now + webhook.digest_period
        await self._records.replace(replace(webhook, next_at=next_at, claimed_until=None))

    def _title(self, webhook: Webhook, /) -> str:
        return f"webhook {webhook.name}"

    async def _delivered(self, webhook: Webhook, event: Event) -> Webhook:
        """Return the webhook after an attempt to deliver an event; raises Changed."""
        began = self._clock.now()
        status = await self._channels.send(webhook, event, began)
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
        if not delivery.is_delivered:
            return await self._failed(told, is_gone=status == _GONE)
        return await self._claimed(replace(told, position=event.id, attempts=0, failing_since=None))
