"""Moves element instances through their life cycle; what is special about an element is in its behaviour.

activate ─► input mappings ─► behaviour.activate ─► ACTIVATED ─► behaviour.activated ─► (waits, or)
complete ─► behaviour.outgoing ─► output mappings ─► COMPLETED ─► its flows are taken ─► activate
terminate ─► children first ─► behaviour.terminate ─► TERMINATED

An `Incident` raised on the way leaves the element in ACTIVATING or COMPLETING; `retry` takes the same way again.
"""

from functools import partial

from server.bpmn.executable import Element, Flow
from server.engine import events, mappings
from server.engine.behaviour import Behaviour
from server.engine.elements import BEHAVIOURS
from server.engine.incidents import ErrorType, Incident
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.state import ElementInstance, ProcessInstance
from server.engine.step import MAX_ACTIVATIONS, Step, Visit


def start(step: Step, process_instance: ProcessInstance) -> None:
    """Let a new process instance run from its none start event."""
    root = process_instance.elements[process_instance.head.key]
    visit = step.visit(process_instance, root)
    step.emit(events.ElementActivated(process_instance.head, root.key))
    process = step.state.definition_of(process_instance).process
    assert process.none_start is not None, "checked by the handler"  # noqa: S101  # narrows the type
    _enter(step, visit.process_instance, root, process.none_start, ())


def _arrive(step: Step, process_instance: ProcessInstance, scope_key: Key, flow: Flow) -> None:
    """A flow was taken: its target is activated, once every flow that it joins has been taken."""
    scope = process_instance.elements[scope_key]
    joined = _behaviour(flow.target).joins(flow, scope)
    if joined:
        _enter(step, process_instance, scope, flow.target, joined)


def _enter(
    step: Step,
    process_instance: ProcessInstance,
    scope: ElementInstance,
    element: Element,
    joined: tuple[str, ...],
) -> None:
    key = step.next_key()
    step.emit(
        events.ElementActivating(
            process_instance.head, key, scope.key, element.id, element.name, element.type, joined
        )
    )
    step.activations += 1
    activate(step, Visit(process_instance, element, process_instance.elements[key]))


def activate(step: Step, visit: Visit) -> None:
    behaviour = _behaviour(visit.element)
    try:
        _check_progress(step)
        mappings.apply_inputs(step, visit)
        behaviour.activate(step, visit)
    except Incident as incident:
        step.raise_incident(visit, incident)
        return
    step.emit(events.ElementActivated(visit.process_instance.head, visit.instance.key))
    if behaviour.completes_at_once:
        complete(step, visit)


def _check_progress(step: Step) -> None:
    if step.activations > MAX_ACTIVATIONS:
        raise Incident(
            ErrorType.UNKNOWN, f"Expected a wait state within {MAX_ACTIVATIONS} elements, found none"
        )


def complete(step: Step, visit: Visit) -> None:
    behaviour = _behaviour(visit.element)
    head, instance = visit.process_instance.head, visit.instance
    if instance.state is ElementState.ACTIVATED:
        step.emit(events.ElementCompleting(head, instance.key))
    try:
        # The last that may fail is the first that changes something: trying again changes nothing twice.
        flows = behaviour.outgoing(step, visit)
        mappings.apply_outputs(step, visit)
    except Incident as incident:
        step.raise_incident(visit, incident)
        return
    step.emit(events.ElementCompleted(head, instance.key))
    if instance.scope_key is not None:
        _leave(step, visit, instance.scope_key, flows)


def _leave(step: Step, visit: Visit, scope_key: Key, flows: tuple[Flow, ...]) -> None:
    process_instance = visit.process_instance
    for flow in flows:
        step.take(visit, flow)
        step.defer(partial(_arrive, step, process_instance, scope_key, flow))
    if not flows:
        step.defer(partial(_complete_when_empty, step, process_instance, scope_key))


def _complete_when_empty(step: Step, process_instance: ProcessInstance, scope_key: Key) -> None:
    scope = process_instance.elements.get(scope_key)
    if scope is not None and scope.state is ElementState.ACTIVATED and not scope.children and not scope.flows:
        complete(step, step.visit(process_instance, scope))


def terminate(step: Step, process_instance: ProcessInstance, instance: ElementInstance) -> None:
    """End an element instance from outside, what it contains first."""
    head = process_instance.head
    step.emit(events.ElementTerminating(head, instance.key))
    for child in [child for child in process_instance.elements.values() if child.scope_key == instance.key]:
        terminate(step, process_instance, child)
    visit = step.visit(process_instance, instance)
    _behaviour(visit.element).terminate(step, visit)
    if instance.incident_key is not None:
        step.resolve_incident(process_instance, instance.incident_key)
    step.emit(events.ElementTerminated(head, instance.key))


def retry(step: Step, visit: Visit) -> None:
    """Take the way again on which an incident was raised."""
    if visit.instance.state is ElementState.ACTIVATING:
        activate(step, visit)
    elif visit.instance.state is ElementState.COMPLETING:
        complete(step, visit)


def _behaviour(element: Element) -> Behaviour:
    return BEHAVIOURS[element.type]
