"""Due times of timers."""

from datetime import datetime

from server.bpmn import timer_values
from server.bpmn.executable import TimerKind, TimerTrigger
from server.bpmn.timer_values import UNENDING, MalformedTimer
from server.engine.expressions import value_of
from server.engine.incidents import ErrorType, Incident
from server.engine.keys import Key
from server.engine.scopes import VariableScope
from server.engine.subscriptions import TimerSubscription


def open_timer(
    key: Key,
    element_instance_key: Key,
    element_id: str,
    *,
    trigger: TimerTrigger,
    scope: VariableScope,
    now: datetime,
) -> TimerSubscription:
    """The subscription for the trigger; raises Incident."""
    value = value_of(trigger.value, scope)
    try:
        if trigger.kind is TimerKind.DATE:
            return TimerSubscription(key, element_instance_key, element_id, timer_values.date_of(value))
        if trigger.kind is TimerKind.DURATION:
            due = timer_values.duration(timer_values.text_of(value)).after(now)
            return TimerSubscription(key, element_instance_key, element_id, due)
        cycle = timer_values.cycle(timer_values.text_of(value))
    except MalformedTimer as error:
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, f"The timer of '{element_id}': {error}") from error
    due = cycle.after(now) if cycle.start is None else max(cycle.start, now)
    return TimerSubscription(key, element_instance_key, element_id, due, cycle.repetitions, cycle.interval)


def following(
    due: datetime, repetitions: int, interval: str, *, now: datetime
) -> tuple[datetime, int] | None:
    """The next due time and remaining repetitions of a timer that fires now; None after the last firing.

    A timer that fires late keeps its schedule. When it is late by more than an interval, it fires once for
    all missed times, and counts from now.
    """
    if repetitions == 1:
        return None
    left = repetitions if repetitions == UNENDING else repetitions - 1
    pause = timer_values.interval(interval)
    regular = pause.after(due)
    return (regular if regular >= now else pause.after(now)), left
