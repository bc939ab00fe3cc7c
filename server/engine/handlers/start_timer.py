"""Timers that begin process instances: those of the latest version of each process."""

import msgspec

from server.bpmn.executable import ExecutableProcess, TimerTrigger
from server.engine import start_timer_events as happened
from server.engine.answers import DONE, Done
from server.engine.commands import TriggerStartTimer
from server.engine.definitions import Definition
from server.engine.instantiation import begin_at
from server.engine.start_evaluation import NoVariables, refused
from server.engine.start_timers import StartTimer
from server.engine.step import Step
from server.engine.timers import following, open_timer


def close(step: Step, tenant_id: str, process_definition_id: str) -> None:
    """Let the timers of a process begin nothing any more."""
    for timer in list(step.state.start_timers.of((tenant_id, process_definition_id))):
        step.emit(happened.StartTimerClosed(timer.key))


def renew(step: Step, definition: Definition, process: ExecutableProcess, scope: NoVariables) -> None:
    """Set the timers of the version that is the latest now in place of those before; raises Rejected."""
    close(step, definition.tenant_id, definition.process_definition_id)
    for start in process.root.starts:
        trigger = start.trigger
        if not isinstance(trigger, TimerTrigger):
            continue
        key = step.next_key()
        with refused(process, start):
            set_ = open_timer(key, definition.key, start.id, trigger=trigger, scope=scope, now=step.now)
        opened = StartTimer(
            key,
            definition.tenant_id,
            definition.process_definition_id,
            definition.key,
            start.id,
            set_.due,
            set_.repetitions,
            set_.interval,
        )
        step.emit(happened.StartTimerOpened(opened))


def trigger(command: TriggerStartTimer, step: Step) -> Done:
    """Does nothing when the timer was closed, or is due at another time, meanwhile."""
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
