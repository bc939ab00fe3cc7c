"""When a timer is due."""

from datetime import datetime

import msgspec

from server import feel
from server.bpmn import timer_values
from server.bpmn.executable import TimerKind, TimerTrigger
from server.bpmn.timer_values import UNENDING, MalformedTimer
from server.engine.expressions import value_of
from server.engine.incidents import ErrorType, Incident
from server.engine.keys import Key
from server.engine.scopes import VariableScope
from server.engine.subscriptions import TimerSubscription
from server.feel.temporal.writing import written


def open_timer(
    key: Key,
    element_instance_key: Key,
    element_id: str,
    *,
    trigger: TimerTrigger,
    scope: VariableScope,
    now: datetime,
) -> TimerSubscription:
    """The subscription that the trigger asks for; raises Incident."""
    value = value_of(trigger.value, scope)
    try:
        if trigger.kind is TimerKind.DATE:
            return TimerSubscription(key, element_instance_key, element_id, _date(value))
        if trigger.kind is TimerKind.DURATION:
            due = timer_values.duration(_text(value)).after(now)
            return TimerSubscription(key, element_instance_key, element_id, due)
        cycle = timer_values.cycle(_text(value))
    except MalformedTimer as error:
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, f"The timer of '{element_id}': {error}") from error
    interval = _text(value).rpartition("/")[2]
    due = cycle.interval.after(now) if cycle.start is None else max(cycle.start, now)
    return TimerSubscription(key, element_instance_key, element_id, due, cycle.repetitions, interval)


def following(timer: TimerSubscription) -> TimerSubscription | None:
    """The subscription after the timer fired, if it fires again; never later for having fired late."""
    if timer.repetitions == 1:
        return None
    left = timer.repetitions if timer.repetitions == UNENDING else timer.repetitions - 1
    due = timer_values.duration(timer.interval).after(timer.due)
    return msgspec.structs.replace(timer, due=due, repetitions=left)


def _date(value: feel.Value) -> datetime:
    return (
        timer_values.instant(value) if isinstance(value, feel.DateTime) else timer_values.date(_text(value))
    )


def _text(value: feel.Value) -> str:
    """Durations of FEEL as ISO 8601 writes them."""
    if isinstance(value, feel.DaysDuration | feel.MonthsDuration):
        return written(value)
    if not isinstance(value, str):
        raise MalformedTimer("expected a text of ISO 8601, or a date and time or a duration of FEEL")
    return value.strip()
