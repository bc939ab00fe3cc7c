"""Events of messages and subscriptions in the home partition of their correlation key."""

from datetime import datetime

from server.engine.events import Event
from server.engine.keys import Key


class MessagePublished(Event, frozen=True):
    """A message was published; `variables` are JSON texts. A message that `is_expired` is removed after its correlation."""

    key: Key
    tenant_id: str
    name: str
    correlation_key: str
    message_id: str
    variables: dict[str, str]
    expires_at: datetime
    is_expired: bool


class MessageSent(Event, frozen=True):
    """The message was sent to a subscription; its process receives the message once."""

    key: Key
    subscription_key: Key


class ProcessBegun(Event, frozen=True):
    """The message starts an instance of the process, which then receives it in no other way."""

    key: Key
    process_definition_id: str


class MessageSettled(Event, frozen=True):
    """The outcome of a delivery: the process instance took the message, or no longer waits for it.

    `number` is the new queue position of a subscription that took it.
    """

    key: Key
    subscription_key: Key
    is_taken: bool
    number: Key


class MessageTakenBack(Event, frozen=True):
    """The delivery to the subscription was undone; the subscription keeps its queue position."""

    key: Key
    subscription_key: Key


class MessagePostponed(Event, frozen=True):
    """The command did enough; the correlation of the message continues in a later turn."""

    key: Key
    tenant_id: str
    at: datetime


class MessageResumed(Event, frozen=True):
    """The correlation of the message continues; it is buffered until `expires_at`, unless it `is_expired`."""

    key: Key
    tenant_id: str
    expires_at: datetime
    is_expired: bool


class MessageExpired(Event, frozen=True):
    """The time to live of the message is over."""

    key: Key


class MessageRemoved(Event, frozen=True):
    """The message was removed, because it can have no more effect."""

    key: Key


class HomeSubscriptionOpened(Event, frozen=True):
    """A subscription was opened, or replaced the earlier one with its key."""

    key: Key
    tenant_id: str
    process_instance_key: Key
    process_definition_id: str
    message_name: str
    correlation_key: str
    number: Key


class HomeSubscriptionClosed(Event, frozen=True):
    key: Key
