"""Receive task: waits for its message."""

from server.engine import catch_events
from server.engine.behaviour import Behaviour
from server.engine.step import Step, Visit


class ReceiveTask(Behaviour):
    is_migratable = True

    def activate(self, step: Step, visit: Visit) -> None:
        catch_events.subscribe(step, visit, (visit.element,))

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True
