"""Compensation: the completed activities with a handler, and the handlers that a throwing event invokes.

A scope counts completed activities by element id, so memory does not grow with their number. A completing
sub-process without a handler adds its counts to its parent scope. Handlers run inside the throwing event.
"""

from collections.abc import Iterator

from server.bpmn.executable import Element, ElementType, ExecutableProcess, ThrownCompensation
from server.engine import events
from server.engine.incidents import ErrorType, Incident
from server.engine.process_instance import ElementInstance
from server.engine.step import Step, Visit


def note_completion(step: Step, visit: Visit) -> None:
    """Count a completed element instance for compensation, or else the completed activities inside it."""
    element, instance = visit.element, visit.instance
    if instance.scope_key is None or element.is_for_compensation:
        return
    counts = {element.id: 1} if element.compensation is not None else dict(instance.compensable)
    if counts:
        step.emit(events.ActivitiesCompleted(visit.process_instance.head, instance.scope_key, counts))


def trigger(step: Step, visit: Visit, thrown: ThrownCompensation) -> None:
    """Compensate the activities of the throwing event; raises Incident when they are too many."""
    process_instance, scope = visit.process_instance, _compensated_scope(visit)
    process = step.process_of(process_instance)
    activity_ids = tuple(
        activity_id
        for activity_id in scope.compensable
        if thrown.activity_id is None or thrown.activity_id in ids_around(process, activity_id)
    )
    number = sum(scope.compensable[activity_id] for activity_id in activity_ids)
    most = step.state.limits.compensations
    if number > most:
        message = f"Expected at most {most} completed activities to compensate, found {number}"
        raise Incident(ErrorType.UNKNOWN, message)
    if activity_ids:
        head = process_instance.head
        step.emit(events.CompensationTriggered(head, visit.instance.key, scope.key, activity_ids))


def _compensated_scope(visit: Visit) -> ElementInstance:
    """The scope of the throwing event; an event sub-process compensates the scope around it."""
    scope = _scope_of(visit, visit.instance)
    return _scope_of(visit, scope) if scope.type is ElementType.EVENT_SUB_PROCESS else scope


def _scope_of(visit: Visit, instance: ElementInstance) -> ElementInstance:
    assert instance.scope_key is not None, "it stands in a scope"  # noqa: S101  # narrows the type
    return visit.process_instance.elements[instance.scope_key]


def ids_around(process: ExecutableProcess, activity_id: str) -> Iterator[str]:
    """The ids of the activity and of its enclosing elements, innermost first."""
    element: Element | None = process.elements[activity_id]
    while element is not None:
        yield element.id
        element = element.flow_scope
