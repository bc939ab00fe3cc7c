"""Subscriptions of element instances, as records of their process instance."""

from datetime import datetime

import msgspec

from server.engine.keys import Key


class Subscription(msgspec.Struct, frozen=True, gc=False, tag_field="subscription", tag=True):
    """Base of all subscriptions; `element_id` is the catch event, which is the element itself or attached to it."""

    key: Key
    element_instance_key: Key
    element_id: str


class TimerSubscription(Subscription, frozen=True):
    """A timer.

    `repetitions` is the number of remaining firings, -1 for no end. `interval` is the time between them: a
    duration or a cron expression.
    """

    due: datetime
    repetitions: int = 1
    interval: str = ""


class MessageSubscription(Subscription, frozen=True):
    """A message subscription, which the home partition of the correlation key knows, too.

    `is_moving` is true until the home partition knows the process id after a migration.
    """

    message_name: str
    correlation_key: str
    is_moving: bool = False


class SignalSubscription(Subscription, frozen=True):
    """A signal subscription, which the partition finds by tenant and signal name."""

    signal_name: str


class ConditionalSubscription(Subscription, frozen=True):
    """A condition, evaluated when one of these variables is created or updated, as `variable_events` specify."""

    variable_names: tuple[str, ...]
    variable_events: tuple[str, ...]


AnySubscription = TimerSubscription | MessageSubscription | SignalSubscription | ConditionalSubscription
