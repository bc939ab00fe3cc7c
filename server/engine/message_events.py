"""Events of messages and subscriptions in the home partition of their correlation key."""

from datetime import datetime

from server.engine.events import Event
from server.engine.keys import Key


class MessagePublished(Event, frozen=True):
    """`variables` are JSON texts. One that expires at once is gone when it is correlated."""

    key: Key
    tenant_id: str
    name: str
    correlation_key: str
    message_id: str
    variables: dict[str, str]
    expires_at: datetime
    is_expired: bool


class MessageSent(Event, frozen=True):
    """It is on its way to a subscription, whose process gets it once."""

    key: Key
    subscription_key: Key


class ProcessBegun(Event, frozen=True):
    """The message begins an instance of the process, which gets it in no other way."""

    key: Key
    process_definition_id: str


class MessageSettled(Event, frozen=True):
    """The outcome of a delivery: the process instance took it, or waits for it no longer.

    `number` is the new place in the line of a subscription that took it.
    """

    key: Key
    subscription_key: Key
    is_taken: bool
    number: Key


class MessageTakenBack(Event, frozen=True):
    """It is not on its way to the subscription any more, which keeps its place in the line."""

    key: Key
    subscription_key: Key


class MessagePostponed(Event, frozen=True):
    """The command did enough: the message is correlated further in a later turn."""

    key: Key
    tenant_id: str
    at: datetime


class MessageResumed(Event, frozen=True):
    """It is being correlated further now; it is buffered until `expires_at`, unless it `is_expired`."""

    key: Key
    tenant_id: str
    expires_at: datetime
    is_expired: bool


class MessageExpired(Event, frozen=True):
    """Its time to live is over."""

    key: Key


class MessageRemoved(Event, frozen=True):
    """Nothing can come of it any more."""

    key: Key


class HomeSubscriptionOpened(Event, frozen=True):
    """Replaces what was known of the subscription."""

    key: Key
    tenant_id: str
    process_instance_key: Key
    process_definition_id: str
    message_name: str
    correlation_key: str
    number: Key


class HomeSubscriptionClosed(Event, frozen=True):
    key: Key
