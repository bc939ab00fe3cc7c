"""Throwing events: intermediate throw events and end events.

`throw_events` has the kinds of results; the element of a link event has its target. An end event has no
outgoing flow, so its scope checks whether anything is left to do.
"""

from server.bpmn.executable import ThrownCompensation
from server.engine import compensation
from server.engine.elements.service_task import JobWorkerTask
from server.engine.step import Step, Visit
from server.engine.work import Compensate


class ThrowEvent(JobWorkerTask):
    """Passes through, unless a job worker sends its message, or compensation handlers run inside it."""

    is_migratable = False

    def activate(self, step: Step, visit: Visit) -> None:
        if visit.element.job is not None:
            super().activate(step, visit)
        elif isinstance(visit.element.result, ThrownCompensation):
            compensation.trigger(step, visit, visit.element.result)

    def activated(self, step: Step, visit: Visit) -> None:
        if visit.instance.compensable:
            step.defer(visit.process_instance, Compensate(visit.instance.key))

    def waits(self, visit: Visit) -> bool:
        return visit.element.job is not None or bool(visit.instance.compensable)

    def emptied(self, step: Step, visit: Visit) -> bool:  # noqa: ARG002  # it looks at itself
        return not visit.instance.compensable
