"""The engine's one function.

process(state, command, now) gives the events and the answer, with the state moved on by those events. A command that
is rejected changed nothing; one that ends in a fault of ours leaves every process instance as it was.
"""

from datetime import datetime
from typing import NamedTuple

from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.events import Event
from server.engine.handlers import HANDLERS
from server.engine.state import State
from server.engine.step import Step


class Outcome(NamedTuple):
    events: list[Event]
    answer: Answer


def process(state: State, command: Command, now: datetime) -> Outcome:
    """Raises Rejected, and nothing else but faults."""
    step = Step(state, now)
    try:
        answer = HANDLERS[type(command)](command, step)
        step.run()
    except BaseException:
        step.roll_back()
        raise
    return Outcome(step.events, answer)
