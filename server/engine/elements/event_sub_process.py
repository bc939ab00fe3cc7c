"""Event sub-process: runs inside the scope that caught its start event, instead of or beside the rest of the scope."""

from server.engine.elements.container import Container
from server.engine.step import Step, Visit
from server.engine.work import Enter


class EventSubProcess(Container):
    """Begins at its start event, which was triggered already."""

    def activated(self, step: Step, visit: Visit) -> None:
        start = visit.element.event_start
        assert start is not None, "lint demands a start event"  # noqa: S101  # narrows the type
        step.defer(visit.process_instance, Enter(visit.instance.key, start.id))
