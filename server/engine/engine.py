"""The engine's one function.

process(state, command, now) gives the events and the answer, with the state moved on by those events. A command that
is rejected, or ends in a fault of ours, leaves the state as it was.
"""

from collections.abc import Callable
from datetime import datetime

import msgspec

from server.engine import agenda
from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.events import Event
from server.engine.handlers import HANDLERS
from server.engine.keys import Key
from server.engine.pages import DocumentId
from server.engine.requesters import Requester
from server.engine.state import State
from server.engine.step import Step


class Outcome(msgspec.Struct, frozen=True):
    """`changed` are the keys of the records that changed, by document."""

    events: list[Event]
    answer: Answer
    changed: dict[DocumentId, set[Key]]


def process(
    state: State,
    command: Command,
    now: datetime,
    stopwatch: Callable[[], float] | None = None,
    requester: Requester | None = None,
) -> Outcome:
    """Raises Rejected, and nothing else but faults.

    `stopwatch` tells seconds, for what has to be charged by time; `requester` is the caller, for what comes to its end
    in a later command.
    """
    step = Step(state, now, stopwatch, requester)
    state.begin()
    try:
        answer = HANDLERS[type(command)](command, step)
        agenda.run(step)
    except BaseException:
        state.journal.roll_back()
        raise
    state.journal.close()
    return Outcome(step.events, answer, state.journal.changed)
