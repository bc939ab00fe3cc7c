"""The engine's only entry point.

process(state, command, now) returns the events and the answer, and changes the state by the events. A command
that is rejected or fails with a fault leaves the state unchanged.
"""

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from server.engine import agenda, faults
from server.engine.answers import DONE, Answer
from server.engine.batch_commands import ContinueBatchOperation, ProcessBatchItems
from server.engine.commands import Command
from server.engine.events import Event
from server.engine.handlers import HANDLERS
from server.engine.keys import Key
from server.engine.pages import DocumentId
from server.engine.rejection import Rejected
from server.engine.requesters import Requester
from server.engine.state import NotLoaded, State
from server.engine.step import Step
from server.engine.tenants import expect_present

# The number of batch operation items that a command processes: at first, and after each fault.
_MOST_ITEMS: Final = (sys.maxsize, 1, 0)


class Outcome(msgspec.Struct, frozen=True):
    """The result of a command.

    `changed` are the keys of the changed records, by document; `faults` are errors whose changes were undone,
    for the log.
    """

    events: list[Event]
    answer: Answer
    changed: dict[DocumentId, set[Key]]
    faults: tuple[Exception, ...] = ()


def process(
    state: State,
    command: Command,
    now: datetime,
    stopwatch: Callable[[], float] | None = None,
    requester: Requester | None = None,
    *,
    is_due: bool = False,
) -> Outcome:
    """Handle a command. Raises Rejected, NotLoaded, and otherwise only faults.

    `stopwatch` returns seconds, for work that is charged by time. `requester` is the caller, for commands
    whose effect ends in a later command.

    After a fault the command is handled again: a fault in an element's step becomes an incident there. If that
    does not help a command that `is_due`, which has no caller, the incident is at the element that it is for. A
    fault of an item of a batch operation fails that item alone: the command is handled again with its first
    item only, and then without executing that item.
    """
    expect_present(state, command)
    step = Step(state, now, stopwatch, requester)
    if not isinstance(command, ContinueBatchOperation | ProcessBatchItems):
        try:
            return _handled(state, command, step)
        except (Rejected, NotLoaded):
            raise
        except Exception:  # noqa: BLE001  # the same fault again, if it cannot be contained
            step = Step(state, now, stopwatch, requester)
        return _contained(state, command, step, is_due=is_due)
    earlier: list[Exception] = []
    for most_items in _MOST_ITEMS[:-1]:
        step.most_items = most_items
        try:
            return _handled(state, command, step, earlier)
        except (Rejected, NotLoaded):
            raise
        except Exception as fault:  # noqa: BLE001  # logged with the outcome
            earlier.append(fault)
        step = Step(state, now, stopwatch, requester)
    step.most_items = _MOST_ITEMS[-1]
    return _handled(state, command, step, earlier)


def _contained(state: State, command: Command, step: Step, *, is_due: bool) -> Outcome:
    """Handle a command again after a fault. Raises the fault if it is in no element's step and has a caller."""
    step.contains_faults = True
    try:
        return _handled(state, command, step)
    except (Rejected, NotLoaded):
        raise
    except Exception as fault:
        place = faults.place_of(state, command) if is_due else None
        if place is None:
            raise
        step = Step(state, step.now)
        state.begin()
        faults.report(step, *place, fault)
        state.journal.close()
        return Outcome(step.events, DONE, state.journal.changed, (fault,))


def _handled(state: State, command: Command, step: Step, earlier: Sequence[Exception] = ()) -> Outcome:
    """Handle a command with all of its pending work; any exception undoes all changes."""
    state.begin(is_thorough=step.contains_faults)
    try:
        answer = HANDLERS[type(command)](command, step)
        agenda.run(step)
    except BaseException:
        state.journal.roll_back()
        raise
    state.journal.close()
    return Outcome(step.events, answer, state.journal.changed, (*earlier, *step.faults))
