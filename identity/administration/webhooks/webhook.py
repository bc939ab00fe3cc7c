"""A webhook: a tenant's subscription to security events, and its position among them."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from identity.crypto.keys.master_keys import Sealed
from identity.delivery.subscribers import Subscriber
from identity.foundation.events.event import Event
from identity.foundation.events.kinds import Level
from server.platform.records import Kind

MOST_OF_TENANT = 10
DIGEST_HOURS = 24
MOST_DELIVERIES = 50
"""Number of deliveries whose outcome a webhook stores."""


class WebhookFormat(StrEnum):
    """Signed messages, lines of text in a chat room, or one mail about many events."""

    STANDARD = "standard"
    SLACK = "slack"
    MATRIX = "matrix"
    EMAIL = "email"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The outcome of the last attempt to deliver an event; `status` is that of HTTP, 0 without a response.

    The delivery of a digest names its last event, and has the type `Digest`.
    """

    event_id: str
    type: str
    at: datetime
    attempts: int
    status: int
    is_delivered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(Subscriber):
    """`types` are names of event types, empty for all; events below `level` are passed over.

    `previous_secret` signs besides `secret` until `previous_until`. `deliveries` are the outcomes of the last ones,
    newest first. `token` authenticates the provider at a server of Matrix. A digest is mailed to a `mailto` address every
    `digest_hours`.
    """

    name: str
    url: str
    format: WebhookFormat = WebhookFormat.STANDARD
    token: Sealed | None = field(default=None, repr=False)
    digest_hours: int = DIGEST_HOURS
    types: tuple[str, ...] = ()
    level: Level = Level.INFO
    secret: Sealed = field(repr=False)
    previous_secret: Sealed | None = field(default=None, repr=False)
    previous_until: datetime | None = None
    created_at: datetime
    deliveries: tuple[Delivery, ...] = ()

    @property
    def next_attempt(self) -> datetime | None:
        return self.next_at if self.is_enabled else None

    @property
    def is_signed(self) -> bool:
        return self.format is WebhookFormat.STANDARD

    @property
    def is_digest(self) -> bool:
        return self.format is WebhookFormat.EMAIL

    @property
    def digest_period(self) -> timedelta:
        return timedelta(hours=self.digest_hours)

    def admits(self, event: Event) -> bool:
        return event.level.severity >= self.level.severity and (not self.types or event.type in self.types)

    def is_free(self, now: datetime) -> bool:
        """Whether new events can be handled now; those of a digest wait for their time."""
        return not self.is_digest and Subscriber.is_free(self, now)

    def with_delivery(self, delivery: Delivery) -> "Webhook":
        """Return the webhook with this outcome, which replaces an earlier one of the same event."""
        others = [each for each in self.deliveries if each.event_id != delivery.event_id]
        return replace(self, deliveries=(delivery, *others)[:MOST_DELIVERIES])


WEBHOOKS = Kind(Webhook, "webhook", unique=("name",), scheduled="next_at", owners=())
