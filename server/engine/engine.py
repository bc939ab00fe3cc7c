"""The engine's one function.

process(state, command, now) gives the events and the answer, with the state moved on by those events. A command that
is rejected, or ends in a fault of ours, leaves the state as it was.
"""

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Final

import msgspec

from server.engine import agenda
from server.engine.answers import Answer
from server.engine.commands import Command, ContinueBatchOperation, ProcessBatchItems
from server.engine.events import Event
from server.engine.handlers import HANDLERS
from server.engine.keys import Key
from server.engine.pages import DocumentId
from server.engine.rejection import Rejected
from server.engine.requesters import Requester
from server.engine.state import NotLoaded, State
from server.engine.step import Step

# How many items of a batch operation a command processes, at first and after each fault.
_MOST_ITEMS: Final = (sys.maxsize, 1, 0)


class Outcome(msgspec.Struct, frozen=True):
    """`changed` are the keys of the records that changed, by document; `faults` were taken back, and are to be logged."""

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
) -> Outcome:
    """Raises Rejected, and nothing else but faults.

    `stopwatch` tells seconds, for what has to be charged by time; `requester` is the caller, for what comes to its end
    in a later command. A fault of an item of a batch operation ends that item alone: the command is handled again with
    its first item, and once more without carrying that one out.
    """
    step = Step(state, now, stopwatch, requester)
    if not isinstance(command, ContinueBatchOperation | ProcessBatchItems):
        return _handled(state, command, step, ())
    faults: list[Exception] = []
    for most_items in _MOST_ITEMS[:-1]:
        step.most_items = most_items
        try:
            return _handled(state, command, step, tuple(faults))
        except (Rejected, NotLoaded):
            raise
        except Exception as fault:  # noqa: BLE001  # logged with the outcome
            faults.append(fault)
        step = Step(state, now, stopwatch, requester)
    step.most_items = _MOST_ITEMS[-1]
    return _handled(state, command, step, tuple(faults))


def _handled(state: State, command: Command, step: Step, faults: tuple[Exception, ...]) -> Outcome:
    """All of the command, or nothing when it raises."""
    state.begin()
    try:
        answer = HANDLERS[type(command)](command, step)
        agenda.run(step)
    except BaseException:
        state.journal.roll_back()
        raise
    state.journal.close()
    return Outcome(step.events, answer, state.journal.changed, faults)
