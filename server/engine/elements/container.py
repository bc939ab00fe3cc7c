"""Processes and embedded sub-processes, which wait for the elements inside them.

They start at their none start event; a process that a trigger started begins at the triggered start event.
"""

from server.engine.behaviour import Behaviour
from server.engine.step import Step, Visit
from server.engine.work import Enter


class Container(Behaviour):
    """Completes when nothing is active inside it."""

    is_migratable = True

    def activated(self, step: Step, visit: Visit) -> None:
        caught = visit.instance.caught
        if caught is not None:
            step.defer(visit.process_instance, Enter(visit.instance.key, caught.element_id))
            return
        start = visit.element.none_start
        assert start is not None, "lint demands a start event"  # noqa: S101  # narrows the type
        step.defer(visit.process_instance, Enter(visit.instance.key, start.id))

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True
