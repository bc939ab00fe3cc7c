"""Subscriptions of element instances, as records of their process instance."""

from datetime import datetime

import msgspec

from server.engine.keys import Key


class Subscription(msgspec.Struct, frozen=True, gc=False, tag_field="subscription", tag=True):
    """Base of all subscriptions: `element_id` is the catching event, which the element instance is or has attached."""

    key: Key
    element_instance_key: Key
    element_id: str


class TimerSubscription(Subscription, frozen=True):
    """`repetitions` is how often it fires yet, -1 without an end; then again after each `interval`, a duration or a cron expression."""

    due: datetime
    repetitions: int = 1
    interval: str = ""


class MessageSubscription(Subscription, frozen=True):
    """The home partition of the correlation key knows it, too; `is_moving` until it knows the process of a migration."""

    message_name: str
    correlation_key: str
    is_moving: bool = False


class SignalSubscription(Subscription, frozen=True):
    """The partition of the process instance finds it by its tenant and this name."""

    signal_name: str


class ConditionalSubscription(Subscription, frozen=True):
    """The condition is evaluated when one of these variables is created or updated, as `variable_events` say."""

    variable_names: tuple[str, ...]
    variable_events: tuple[str, ...]


AnySubscription = TimerSubscription | MessageSubscription | SignalSubscription | ConditionalSubscription
