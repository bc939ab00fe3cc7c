"""Delivery of security events to webhooks: in the order of the events, at least once, each webhook independently."""

from dataclasses import replace
from datetime import timedelta

import msgspec

from identity.administration.webhooks.signatures import WebhookSecrets, signed_headers
from identity.administration.webhooks.webhook import MOST_OF_TENANT, WEBHOOKS, Delivery, Webhook
from identity.delivery.http.sender import Sender
from identity.delivery.subscribers import VISIT, Places, Subscribers
from identity.foundation.events.event import Event
from identity.foundation.events.events import Events
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import RecordStore

_PAGE = 100
_SLOW = timedelta(seconds=2)
_PLACES = Places(ordinary=150, slow=50)
_GONE = 410


class Deliveries(Subscribers[Webhook]):
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
        super().__init__(
            WEBHOOKS,
            store,
            most_of_tenant=MOST_OF_TENANT,
            places=_PLACES,
            events=events,
            clock=clock,
            randomness=randomness,
        )
        self._secrets = secrets
        self._sender = sender

    async def _visit(self, _tenant: Tenant, webhook: Webhook, /) -> None:
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

    def _title(self, webhook: Webhook, /) -> str:
        return f"webhook {webhook.name}"

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
        if not delivery.is_delivered:
            return await self._failed(told, is_gone=status == _GONE)
        return await self._claimed(replace(told, position=event.id, attempts=0, failing_since=None))


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
