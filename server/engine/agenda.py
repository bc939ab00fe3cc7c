"""Runs the pending work of a command item by item, up to the limit of one command."""

from collections.abc import Callable, Mapping
from typing import Final, cast

from server.engine import broadcasts, calls, conditions, execution, modifications, triggers
from server.engine.handlers import HANDLERS
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.signals import PendingSignal
from server.engine.step import Step
from server.engine.work import (
    ActivateElements,
    ActivateInstances,
    AnyWork,
    Arrive,
    Begin,
    Catch,
    CheckConditions,
    Compensate,
    Complete,
    CompleteWhenEmpty,
    CreateInstance,
    EndCalled,
    Enter,
    Join,
    Meet,
    Return,
    TerminateChildren,
    TerminateEarlier,
    TerminateInstances,
)


def run(step: Step) -> None:
    """Run the pending work and the commands that the partition sent to itself; postpone what exceeds the limit.

    Commands that the partition sent to itself are always handled: past the limit they only record their
    effect and start no work.
    """
    _do_pending(step)
    while step.received:
        command = step.received.popleft()
        HANDLERS[type(command)](command, step)
        _do_pending(step)


def _do_pending(step: Step) -> None:
    while True:
        if step.changes:
            conditions.note_changes(step)
        if step.following:
            command = step.following.popleft()
            HANDLERS[type(command)](command, step)
            continue
        if not step.pending:
            return
        if step.has_done_enough:
            _postpone(step)
            continue
        pending = step.pending.popleft()
        if isinstance(pending, PendingSignal):
            _broadcast(step, pending)
            continue
        process_instance, work = pending
        scope = process_instance.elements.get(work.scope_key)
        if scope is not None and not _is_called_off(step, process_instance, scope, work):
            _WORK[type(work)](step, process_instance, scope, work)


def _is_called_off(
    step: Step, process_instance: ProcessInstance, scope: ElementInstance, work: AnyWork
) -> bool:
    """Whether the work leads to new element instances below a scope that is ending."""
    calls = step.state.calls
    return bool(calls.ending) and type(work) in _ADVANCING and calls.ends_above(process_instance, scope)


def _postpone(step: Step) -> None:
    """Postpone the pending work to a later turn. Broadcasts still begin, and postpone the rest of their own work."""
    for signal in step.postpone():
        _broadcast(step, signal)


def _broadcast(step: Step, signal: PendingSignal) -> None:
    broadcasts.broadcast(step, signal.tenant_id, signal.name, signal.variables)


# Work whose scope need not continue when a scope around it is ending.
_ADVANCING: Final = frozenset(
    {
        ActivateElements,
        ActivateInstances,
        Arrive,
        Begin,
        Catch,
        CheckConditions,
        Compensate,
        Complete,
        CompleteWhenEmpty,
        CreateInstance,
        Enter,
        Join,
        Meet,
    }
)

Worker = Callable[[Step, ProcessInstance, ElementInstance, AnyWork], None]

_WORK: Mapping[type[AnyWork], Worker] = cast(
    "Mapping[type[AnyWork], Worker]",
    {
        Arrive: execution.arrive,
        Enter: execution.enter,
        CompleteWhenEmpty: execution.complete_when_empty,
        CreateInstance: execution.create_instance,
        ActivateElements: execution.activate_elements,
        TerminateEarlier: execution.terminate_earlier,
        TerminateChildren: execution.terminate_children,
        Catch: triggers.catch,
        CheckConditions: conditions.check,
        Compensate: execution.compensate,
        Complete: execution.complete_passed,
        Join: execution.join,
        Meet: conditions.meet,
        Begin: calls.begin,
        EndCalled: calls.end_called,
        Return: calls.return_,
        ActivateInstances: modifications.activate_instances,
        TerminateInstances: modifications.terminate_instances,
    },
)
