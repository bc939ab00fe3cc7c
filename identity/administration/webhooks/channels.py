"""Sends an event to the receiver of a webhook, in the format of the webhook.

A chat room gets one line of text. Parts of it come from people without an account, such as names of users, so nothing
in it is markup, a link with another text, or a mention of everybody in the room.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from identity.administration.webhooks.signatures import WebhookSecrets, signed_headers
from identity.administration.webhooks.webhook import Webhook, WebhookFormat
from identity.delivery.http.sender import Sender
from identity.foundation.events.event import Event

MOST_CHARACTERS = 1000
"""Length of a line."""


class Receivers(Sender, Protocol):
    async def put(self, url: str, body: bytes, headers: Mapping[str, str], /) -> int:
        """Return the HTTP status, 0 without a response."""
        ...


class Channels:
    def __init__(self, secrets: WebhookSecrets, receivers: Receivers) -> None:
        self._secrets = secrets
        self._receivers = receivers

    async def send(self, webhook: Webhook, event: Event, at: datetime) -> int:
        """Return the HTTP status of the receiver, 0 without a response."""
        if webhook.format is WebhookFormat.SLACK:
            return await self._receivers.post(webhook.url, _slack_body(event), {})
        if webhook.format is WebhookFormat.MATRIX:
            headers = {"Authorization": f"Bearer {self._secrets.open_token(webhook)}"}
            # The id of the event is the id of the transaction, so a room shows a repeated message once.
            return await self._receivers.put(f"{webhook.url}/{event.id}", _matrix_body(event), headers)
        body = msgspec.json.encode(_message(event))
        signed = signed_headers(event.id, at, body, self._secrets.open(webhook, at))
        return await self._receivers.post(webhook.url, body, signed)


def line_of(event: Event) -> str:
    """Return an event as one line for people, in English as names of events are."""
    details = (
        event.text,
        None if event.data is None else f"number {event.data}",
        event.client_id and f"client {event.client_id}",
        event.user_id and f"user {event.user_id}",
        event.actor and f"by {event.actor.name or event.actor.id}",
        event.ip and f"from {event.ip}",
    )
    told = ", ".join(each for each in details if each)
    line = f"[{event.level}] {event.type} in {event.tenant_id}" + (f": {told}" if told else "")
    when = f" ({event.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC)"
    return " ".join(line.split())[: MOST_CHARACTERS - len(when)] + when


def _slack_body(event: Event) -> bytes:
    # Slack reads these three characters as markup: links, and mentions like <!channel>.
    text = line_of(event).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return msgspec.json.encode({"text": text, "unfurl_links": False, "unfurl_media": False, "mrkdwn": False})


def _matrix_body(event: Event) -> bytes:
    # Matrix 1.7 §11.37.1: with `m.mentions`, clients look for mentions there and not in the text.
    return msgspec.json.encode({"msgtype": "m.notice", "body": line_of(event), "m.mentions": {}})


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
