"""A timer is due: the element instance that waits for it catches the event."""

import msgspec

from server.engine import events, triggers
from server.engine.answers import DONE, Done
from server.engine.commands import TriggerTimer
from server.engine.step import Step
from server.engine.subscriptions import TimerSubscription
from server.engine.timers import following


def trigger(command: TriggerTimer, step: Step) -> Done:
    """Does nothing when the timer was closed, or is due at another time, meanwhile."""
    instance = step.state.owner_of(command.subscription_key)
    timer = instance.subscriptions.get(command.subscription_key) if instance is not None else None
    if instance is None or not isinstance(timer, TimerSubscription) or timer.due != command.due:
        return DONE
    again = following(timer.due, timer.repetitions, timer.interval, now=step.now)
    if again is None:
        step.emit(events.SubscriptionClosed(instance.head, timer.key))
    else:
        due, repetitions = again
        next_one = msgspec.structs.replace(timer, due=due, repetitions=repetitions)
        step.emit(events.SubscriptionOpened(instance.head, next_one))
    triggers.trigger(step, instance, instance.elements[timer.element_instance_key], timer.element_id, {})
    return DONE
