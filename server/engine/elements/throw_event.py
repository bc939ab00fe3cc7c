"""Throwing events: intermediate throw events and end events.

What they throw is in `throw_events`, where a link leads in its element. An end event has no outgoing flow, so its scope
looks whether anything is left.
"""

from server.engine.elements.service_task import JobWorkerTask
from server.engine.step import Step, Visit


class ThrowEvent(JobWorkerTask):
    """Passes through, unless a job worker sends its message."""

    is_migratable = False

    def activate(self, step: Step, visit: Visit) -> None:
        if visit.element.job is not None:
            super().activate(step, visit)

    def waits(self, visit: Visit) -> bool:
        return visit.element.job is not None
