"""Timers of start events, for the latest version of each process."""

from collections.abc import Iterable, Iterator

import msgspec

from server.bpmn.executable import ExecutableProcess, TimerTrigger
from server.engine import start_timer_events as happened
from server.engine.answers import DONE, Done
from server.engine.definitions import Definition
from server.engine.instantiation import begin_at
from server.engine.keys import Key
from server.engine.start_evaluation import NoVariables, refused
from server.engine.start_timers import StartTimer, timers_home
from server.engine.step import Step
from server.engine.timer_commands import SetStartTimers, TriggerStartTimer
from server.engine.timers import following, open_timer


def close_earlier(step: Step, tenant_id: str, process_definition_id: str) -> None:
    """Close the timers of all versions of a process except the latest."""
    latest = step.state.latest(tenant_id, process_definition_id)
    for timer in list(step.state.start_timers.of((tenant_id, process_definition_id))):
        if latest is None or timer.process_definition_key != latest.key:
            step.emit(happened.StartTimerClosed(timer.key))


def renew(step: Step, definition: Definition, process: ExecutableProcess, scope: NoVariables) -> None:
    """Replace the timers of earlier versions by those of the latest version; raises Rejected.

    The home partition sets the timers. Other partitions close theirs when they adopt the version.
    """
    close_earlier(step, definition.tenant_id, definition.process_definition_id)
    timers = tuple(_timers(step, definition, process, scope))
    if not timers:
        return
    home = timers_home(definition.key, step.state.message_homes)
    if home == step.state.partition_id:
        _open(step, timers)
    else:
        step.send(home, SetStartTimers(definition.tenant_id, timers))


def _timers(
    step: Step, definition: Definition, process: ExecutableProcess, scope: NoVariables
) -> Iterator[StartTimer]:
    """The timers of the start events, counted from now; their home partition assigns the keys."""
    for start in process.root.starts:
        trigger = start.trigger
        if not isinstance(trigger, TimerTrigger):
            continue
        with refused(process, start):
            set_ = open_timer(Key(0), definition.key, start.id, trigger=trigger, scope=scope, now=step.now)
        yield StartTimer(
            Key(0),
            definition.tenant_id,
            definition.process_definition_id,
            definition.key,
            start.id,
            set_.due,
            set_.repetitions,
            set_.interval,
        )


def set_timers(command: SetStartTimers, step: Step) -> Done:
    """Set the timers; does nothing when a later version is known, or this one was deleted."""
    first = command.timers[0]
    latest = step.state.latest(first.tenant_id, first.process_definition_id)
    if latest is not None and latest.key == first.process_definition_key:
        for timer in list(step.state.start_timers.of(first.name)):
            step.emit(happened.StartTimerClosed(timer.key))
        _open(step, command.timers)
    return DONE


def _open(step: Step, timers: Iterable[StartTimer]) -> None:
    for timer in timers:
        step.emit(happened.StartTimerOpened(msgspec.structs.replace(timer, key=step.next_key())))


def trigger(command: TriggerStartTimer, step: Step) -> Done:
    """Start a process instance; does nothing when the timer was closed or its due time has changed."""
    timer = step.state.start_timers.timers.get(command.timer_key)
    if timer is None or timer.due != command.due:
        return DONE
    again = following(timer.due, timer.repetitions, timer.interval, now=step.now)
    if again is None:
        step.emit(happened.StartTimerClosed(timer.key))
    else:
        due, repetitions = again
        step.emit(happened.StartTimerOpened(msgspec.structs.replace(timer, due=due, repetitions=repetitions)))
    begin_at(step, timer.start, {})
    return DONE
