"""Triggers timers when they are due, or before that in a test run: the waiting element instance catches the event."""

import msgspec

from server.engine import events, triggers
from server.engine.answers import DONE, Done
from server.engine.process_instance import ProcessInstance
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step
from server.engine.subscriptions import TimerSubscription
from server.engine.test_runs import TAG, is_test_run
from server.engine.timer_commands import FireTimer, TriggerTimer
from server.engine.timers import following


def trigger(command: TriggerTimer, step: Step) -> Done:
    """Trigger the timer; does nothing when it was closed or its due time has changed."""
    instance = step.state.owner_of(command.subscription_key)
    timer = instance.subscriptions.get(command.subscription_key) if instance is not None else None
    if instance is None or not isinstance(timer, TimerSubscription) or timer.due != command.due:
        return DONE
    _catch(timer, step, instance)
    return DONE


def fire(command: FireTimer, step: Step) -> Done:
    key = command.process_instance_key
    instance = step.state.instance(key)
    if instance is None or instance.head.tenant_id != command.tenant_id:
        raise Rejected(RejectionType.NOT_FOUND, f"no active process instance with key {key}")
    if not is_test_run(instance, step.state):
        raise Rejected(
            RejectionType.INVALID_STATE,
            f"process instance {key} is not a test run: only instances with the tag '{TAG}' have timers that fire early",
        )
    timer = instance.subscriptions.get(command.timer_key)
    if not isinstance(timer, TimerSubscription):
        raise Rejected(
            RejectionType.NOT_FOUND,
            f"process instance {key} waits for no timer with key {command.timer_key}",
        )
    _catch(timer, step, instance)
    return DONE


def _catch(timer: TimerSubscription, step: Step, instance: ProcessInstance) -> None:
    again = following(timer.due, timer.repetitions, timer.interval, now=step.now)
    if again is None:
        step.emit(events.SubscriptionClosed(instance.head, timer.key))
    else:
        due, repetitions = again
        next_one = msgspec.structs.replace(timer, due=due, repetitions=repetitions)
        step.emit(events.SubscriptionOpened(instance.head, next_one))
    triggers.trigger(step, instance, instance.elements[timer.element_instance_key], timer.element_id, {})
