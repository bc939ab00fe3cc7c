"""Intermediate catch event: waits for its own trigger, unless it is triggered before it is entered."""

from server.bpmn.executable import Element, ElementType
from server.engine import catch_events
from server.engine.behaviour import Behaviour
from server.engine.step import Step, Visit


class IntermediateCatchEvent(Behaviour):
    is_migratable = True

    def activate(self, step: Step, visit: Visit) -> None:
        if not _is_triggered(visit.element):
            catch_events.subscribe(step, visit, (visit.element,))

    def waits(self, visit: Visit) -> bool:
        return not _is_triggered(visit.element)


def _is_triggered(event: Element) -> bool:
    """Whether the event is triggered before it is entered: the target of a link, or an event behind an event-based gateway."""
    return event.trigger is None or any(
        flow.source.type is ElementType.EVENT_BASED_GATEWAY for flow in event.incoming
    )
