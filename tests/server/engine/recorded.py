"""Records the commands of a random history with their answers, so that another scenario can repeat them."""

from datetime import timedelta
from typing import Self

from hypothesis import reject

from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.rejection import Rejected
from tests.server.engine.scenario import Scenario

Outcome = Answer | str


class Recorded(Scenario):
    """Keeps what was done, and what came of it.

    Histories in which time brings commands about several process instances at once are rejected: those that have to be
    loaded come after the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[Command | timedelta, Outcome]] = []
        self._touched: set[frozenset[int]] = set()

    def execute(self, command: Command) -> Answer:
        try:
            answer = super().execute(command)
            self._touched.add(
                frozenset(event.instance.key for event in self.last_events if hasattr(event, "instance"))
            )
        except Rejected as refusal:
            self.steps.append((command, refusal.reason))
            raise
        self.steps.append((command, answer))
        return answer

    def advance(self, by: timedelta) -> Self:
        """Scheduled commands are part of the step that moves the clock."""
        before = len(self.steps)
        self._touched.clear()
        super().advance(by)
        if len(self._touched - {frozenset()}) > 1:
            reject()
        self.steps[before:] = [(by, "")]
        return self


def done(step: Command | timedelta, scenario: Scenario) -> Outcome:
    if isinstance(step, timedelta):
        scenario.advance(step)
        return ""
    try:
        return scenario.execute(step)
    except Rejected as refusal:
        return refusal.reason
