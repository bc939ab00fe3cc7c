"""Moves element instances through their life cycle; behaviours contain the logic of each element type.

activate ─► input mappings ─► start listeners ─► subscriptions ─► behaviour.activate ─► ACTIVATED ─► (waits, or)
complete ─► behaviour.outgoing ─► output mappings ─► end listeners ─► COMPLETED ─► its flows are taken ─► activate
terminate ─► children first ─► behaviour.terminate ─► (waits, or) TERMINATED
empty ─► children terminated ─► an event sub-process begins, or the scope completes

An `Incident` on the way, a fault, or the job of a listener leaves the element in ACTIVATING or COMPLETING; `proceed`
continues from there. Work that follows from a step is deferred to the `agenda`, which runs it item by item.
"""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Final, cast

from server.bpmn.executable import Element, ElementType, ErrorTrigger, Flow, JobDefinition, Termination
from server.engine import (
    ad_hoc,
    broadcasts,
    catch_events,
    compensation,
    events,
    mappings,
    multi_instance,
    task_listeners,
    throw_events,
)
from server.engine.catch_events import Caught
from server.engine.elements import BEHAVIOURS
from server.engine.incidents import ErrorType, Incident
from server.engine.inclusive_joins import ready_join
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.jobs import create_job
from server.engine.keys import Key
from server.engine.lifecycle import ACTIVATED, ACTIVATING, COMPLETING, TERMINATING
from server.engine.message_commands import BeginNext
from server.engine.process_instance import ElementInstance, Interruption, ProcessInstance
from server.engine.scopes import propagate, set_all_local
from server.engine.signals import PendingSignal
from server.engine.step import Step, Visit
from server.engine.throw_events import Signal
from server.engine.variables import Variables
from server.engine.work import (
    ActivateElements,
    Arrive,
    Catch,
    Compensate,
    Complete,
    CompleteWhenEmpty,
    CreateInstance,
    Enter,
    Join,
    Return,
    TerminateChildren,
    TerminateEarlier,
    TerminateInstances,
)

# Looking up a member of an enumeration costs more than comparing with a constant.
_START_EVENT: Final = ElementType.START_EVENT
_EVENT_BASED_GATEWAY: Final = ElementType.EVENT_BASED_GATEWAY

TERMINATED_AT_ONCE: Final = 16
"""Most element instances of a scope that are terminated before other pending work runs."""

ACTIVATED_AT_ONCE: Final = 16
"""Most elements of an ad-hoc sub-process that are activated before other pending work runs."""


def start(step: Step, process_instance: ProcessInstance) -> None:
    """Start a new process instance."""
    activate(step, step.visit(process_instance, process_instance.elements[process_instance.head.key]))


# Work


def arrive(step: Step, process_instance: ProcessInstance, scope: ElementInstance, work: Arrive) -> None:
    if not _can_be_entered(scope):
        return
    flow = step.process_of(process_instance).flows[work.flow_id]
    joined = BEHAVIOURS[flow.target.type].joins(flow, scope)
    if joined:
        activate(step, _entered(step, process_instance, scope, flow.target, joined))


def enter(step: Step, process_instance: ProcessInstance, scope: ElementInstance, work: Enter) -> None:
    if not _can_be_entered(scope):
        return
    element = step.process_of(process_instance).elements[work.element_id]
    if scope.caught is None:
        activate(step, _entered(step, process_instance, scope, element))
    else:
        _activate_caught(step, process_instance, scope, element, scope.caught.variables)


def _can_be_entered(scope: ElementInstance) -> bool:
    """Whether flows and events take effect in the scope; once interrupted, it accepts only the interrupting event."""
    return scope.state is ACTIVATED and scope.interruption is None


def join(step: Step, process_instance: ProcessInstance, scope: ElementInstance, work: Join) -> None:
    """Activate one ready inclusive gateway, and check again later: its path may keep another gateway waiting."""
    process = step.state.definition_of(process_instance).process
    ready = ready_join(process, process_instance, scope) if _can_be_entered(scope) else None
    if ready is not None:
        activate(step, _entered(step, process_instance, scope, ready.gateway, ready.flow_ids))
        step.defer(process_instance, work)


def complete_when_empty(
    step: Step, process_instance: ProcessInstance, scope: ElementInstance, _: CompleteWhenEmpty
) -> None:
    if scope.state is not ACTIVATED or scope.flows or scope.is_being_emptied:
        return
    if scope.children:
        _end_remaining(step, process_instance, scope)
        return
    visit = step.visit(process_instance, scope)
    if BEHAVIOURS[scope.type].emptied(step, visit):
        step.begin_element()
        complete(step, visit)


def _end_remaining(step: Step, process_instance: ProcessInstance, scope: ElementInstance) -> None:
    """Terminate the active children of a scope whose completion condition is true."""
    if not scope.ends_remaining:
        return
    for key in list(islice(process_instance.inside.get(scope.key, ()), TERMINATED_AT_ONCE)):
        terminate(step, process_instance, process_instance.elements[key])
    if process_instance.inside.get(scope.key):
        step.defer(process_instance, CompleteWhenEmpty(scope.key))


def create_instance(
    step: Step, process_instance: ProcessInstance, body: ElementInstance, work: CreateInstance
) -> None:
    """Activate the next instance of a multi-instance body; a parallel body continues with the others."""
    visit, progress = step.visit(process_instance, body), body.loop
    if progress is None or visit.element.loop is None or visit.element.inner is None:
        return
    if body.state is not ACTIVATED or progress.is_done or progress.created == progress.items:
        return
    inner = _entered(step, process_instance, body, visit.element.inner)
    multi_instance.set_variables(step, inner)
    if not visit.element.loop.is_sequential:
        step.defer(process_instance, work)
    activate(step, inner)


def complete_passed(
    step: Step, process_instance: ProcessInstance, instance: ElementInstance, _: Complete
) -> None:
    if instance.state is ACTIVATED:
        complete(step, step.visit(process_instance, instance))


def compensate(
    step: Step, process_instance: ProcessInstance, throw: ElementInstance, work: Compensate
) -> None:
    """Enter the compensation boundary event of the next activity, which leads to its handler; the others follow."""
    activity_id = next(iter(throw.compensable), None)
    if throw.state is not ACTIVATED or activity_id is None:
        return
    boundary = cast("Element", step.process_of(process_instance).elements[activity_id].compensation)
    step.emit(events.CompensationInvoked(process_instance.head, throw.key, activity_id))
    step.defer(process_instance, work)
    activate(step, _entered(step, process_instance, throw, boundary))


def activate_elements(
    step: Step, process_instance: ProcessInstance, scope: ElementInstance, work: ActivateElements
) -> None:
    """Activate some elements of an ad-hoc sub-process, each in an inner instance; the others follow."""
    if not _can_be_entered(scope) or scope.ends_remaining:
        return
    element = step.visit(process_instance, scope).element
    inner_instance = cast("Element", element.inner_instance)
    number = 0
    for activation in work.activations[:ACTIVATED_AT_ONCE]:
        inner = _entered(step, process_instance, scope, inner_instance, begins_at=activation.element_id)
        ad_hoc.set_variables(step, inner, element, activation.variables)
        activate(step, inner)
        number += 1
        if step.has_done_enough:
            break
    others = work.activations[number:]
    if others:
        step.defer(process_instance, ActivateElements(scope.key, others))


def terminate_earlier(
    step: Step, process_instance: ProcessInstance, scope: ElementInstance, work: TerminateEarlier
) -> None:
    """Terminate some of the earlier children of an ad-hoc sub-process; the others follow."""
    if scope.state is not ACTIVATED or scope.is_being_emptied:
        return
    inside = (key for key in process_instance.inside.get(scope.key, ()) if key <= work.last_key)
    keys = list(islice(inside, TERMINATED_AT_ONCE))
    for key in keys:
        terminate(step, process_instance, process_instance.elements[key])
    if keys:
        step.defer(process_instance, work)


def terminate_children(
    step: Step, process_instance: ProcessInstance, scope: ElementInstance, work: TerminateChildren
) -> None:
    """Terminate some children; the others follow when the descendants of the first ones are gone."""
    if scope.state is not TERMINATING and not scope.is_being_emptied:
        return
    # Several at a time: finding the first key of a dictionary takes longer the more keys were removed before
    # it.
    child_keys = list(islice(process_instance.inside.get(scope.key, ()), TERMINATED_AT_ONCE))
    if child_keys:
        step.prefer(process_instance, work)
        for key in child_keys:
            terminate(step, process_instance, process_instance.elements[key])
            if step.has_done_enough:
                return
    elif not scope.children:
        _go_on_empty(step, process_instance, scope)


# Activation


def _entered(
    step: Step,
    process_instance: ProcessInstance,
    scope: ElementInstance,
    element: Element,
    joined: tuple[str, ...] = (),
    *,
    begins_at: str = "",
) -> Visit:
    key = step.next_key()
    step.emit(
        events.ElementActivating(
            process_instance.head, key, scope.key, element.id, element.name, element.type, joined, begins_at
        )
    )
    step.activations += 1
    step.begin_element()
    return Visit(process_instance, element, process_instance.elements[key])


def announce(
    step: Step,
    process_instance: ProcessInstance,
    scope: ElementInstance,
    element: Element,
    *,
    begins_at: str = "",
) -> Visit:
    """Create an element instance that is activated later."""
    return _entered(step, process_instance, scope, element, begins_at=begins_at)


def open_flow_scope(step: Step, visit: Visit) -> None:
    """Activate an announced scope without its mappings, listeners and start event. Raises Incident."""
    catch_events.subscribe(step, visit, visit.element.catches)
    step.emit(events.ElementActivated(visit.process_instance.head, visit.instance.key))


def enter_caught(
    step: Step, process_instance: ProcessInstance, host: ElementInstance, catch: Element, variables: Variables
) -> None:
    """Enter the event that an element instance caught, with the variables of its trigger, unless its scope is ending."""
    scope = process_instance.elements[cast("Key", host.scope_key)]
    if _can_be_entered(scope):
        _activate_caught(step, process_instance, scope, catch, variables)


def _activate_caught(
    step: Step,
    process_instance: ProcessInstance,
    scope: ElementInstance,
    catch: Element,
    variables: Variables,
    *,
    joined: tuple[str, ...] = (),
) -> None:
    visit = _entered(step, process_instance, scope, catch, joined)
    merge = set_all_local if catch.output_mappings or _keeps_variables(catch) else propagate
    merge(step, process_instance, visit.instance.key, variables)
    activate(step, visit)


def _keeps_variables(catch: Element) -> bool:
    """Whether the variables of the trigger stay local to the event, as only for an error boundary event."""
    return catch.type is ElementType.BOUNDARY_EVENT and isinstance(catch.trigger, ErrorTrigger)


def enter_event_sub_process(
    step: Step,
    process_instance: ProcessInstance,
    scope: ElementInstance,
    start: Element,
    variables: Variables,
) -> None:
    """Start the event sub-process of this start event, with the variables of its trigger."""
    visit = _entered(step, process_instance, scope, cast("Element", start.flow_scope))
    step.emit(events.EventCaught(process_instance.head, visit.instance.key, start.id, dict(variables)))
    activate(step, visit)


def activate(step: Step, visit: Visit, *, is_tried_again: bool = False) -> None:
    """Activate an element instance, unless a scope around it is ending: then it waits for its termination."""
    if step.state.calls.ending and step.state.calls.ends_above(visit.process_instance, visit.instance):
        return
    try:
        if step.contains_faults:
            entry = step.contained(partial(_prepare, step, visit, is_tried_again=is_tried_again))
        else:
            entry = _prepare(step, visit, is_tried_again=is_tried_again)
    except Incident as incident:
        step.raise_incident(visit, incident)
        return
    if entry is None:
        return
    is_met, thrown = entry
    behaviour = BEHAVIOURS[visit.element.type]
    step.emit(events.ElementActivated(visit.process_instance.head, visit.instance.key))
    behaviour.activated(step, visit)
    if thrown is not None and _throw(step, visit, thrown):
        return
    if is_met:
        # The boundary event is triggered first.
        _complete_later(step, visit)
    elif not behaviour.waits(visit):
        complete(step, visit)


def _prepare(step: Step, visit: Visit, *, is_tried_again: bool) -> tuple[bool, Caught | Signal | None] | None:
    """Do everything before the activation that may fail; None when a listener comes first. Raises Incident.

    Returns whether an event that the element waits for has happened already, and what the element throws.
    """
    element, instance = visit.element, visit.instance
    _check_progress(step)
    if element.ad_hoc is not None and not instance.progress:
        ad_hoc.describe(step, visit)
    if element.input_mappings and not instance.progress:
        mappings.apply_inputs(step, visit, is_tried_again=is_tried_again)
        _note_mappings(step, visit)
    if element.start_listeners and not _have_listened(
        step, visit, element.start_listeners, ListenerEventType.START
    ):
        return None
    is_met = bool(element.catches) and instance.caught is None and _subscribe(step, visit)
    BEHAVIOURS[element.type].activate(step, visit)
    return is_met, throw_events.thrown(step, visit) if element.result is not None else None


def _complete_later(step: Step, visit: Visit) -> None:
    if not BEHAVIOURS[visit.element.type].waits(visit):
        step.defer(visit.process_instance, Complete(visit.instance.key))


def _throw(step: Step, visit: Visit, thrown: Caught | Signal) -> bool:
    """Throw the result of a throwing event, and return whether this interrupts the event itself."""
    process_instance = visit.process_instance
    if isinstance(thrown, Signal):
        own = process_instance.variables.get(visit.instance.key, {})
        variables = {name: variable.value for name, variable in own.items()}
        broadcasts.throw(step, PendingSignal(process_instance.head.tenant_id, thrown.name, variables))
        return False
    step.prefer(thrown.process_instance, Catch(thrown.host.key, thrown.catch.id))
    return thrown.catch.is_interrupting


def _check_progress(step: Step) -> None:
    most = step.state.limits.activations
    if step.activations > most:
        raise Incident(ErrorType.UNKNOWN, f"Expected a wait state within {most} elements, found none")


def _subscribe(step: Step, visit: Visit) -> bool:
    """Open the subscriptions of an activity, and return whether one waits for a condition that is already true."""
    instance = visit.instance
    subscribed = len(visit.element.start_listeners) + 2
    if instance.progress >= subscribed:
        return False
    is_met = catch_events.subscribe(step, visit, visit.element.catches)
    step.emit(events.ElementProgressed(visit.process_instance.head, instance.key, subscribed))
    return is_met


def _note_mappings(step: Step, visit: Visit) -> None:
    """Record applied mappings that must not be applied again after a failure of a later step.

    They are mappings that change a variable that they read, or that a step follows that may fail.
    """
    if visit.element.is_repeated or _begins_with_events(visit.element):
        step.emit(events.ElementProgressed(visit.process_instance.head, visit.instance.key, 1))


def _begins_with_events(element: Element) -> bool:
    """Whether the element is the start event of a scope with events to subscribe to."""
    around = element.flow_scope
    return element.type is _START_EVENT and around is not None and bool(around.catches)


def _have_listened(
    step: Step, visit: Visit, listeners: Sequence[JobDefinition], event_type: ListenerEventType
) -> bool:
    """Whether all listeners have completed; if not, create the job of the next one."""
    instance = visit.instance
    if instance.progress > len(listeners):
        return True
    if not instance.progress:
        step.emit(events.ElementProgressed(visit.process_instance.head, instance.key, 1))
    create_job(step, visit, listeners[instance.progress - 1], JobKind.EXECUTION_LISTENER, event_type)
    return False


# Completion


def complete(step: Step, visit: Visit) -> None:
    if visit.instance.state is ACTIVATED:
        step.emit(events.ElementCompleting(visit.process_instance.head, visit.instance.key))
    try:
        if step.contains_faults:
            flows = step.contained(partial(_conclude, step, visit))
        else:
            flows = _conclude(step, visit)
    except Incident as incident:
        step.raise_incident(visit, incident)
        return
    if flows is not None:
        BEHAVIOURS[visit.element.type].complete(step, visit)
        _end_completion(step, visit, flows)


def _conclude(step: Step, visit: Visit) -> tuple[Flow, ...] | None:
    """Do everything before the completion that may fail; None when a listener comes first. Raises Incident.

    Returns the flows to take. The last step that may fail is the first that changes something, so a retry changes
    nothing twice.
    """
    element, instance = visit.element, visit.instance
    around = element.flow_scope
    flows = BEHAVIOURS[element.type].outgoing(step, visit)
    if element.ad_hoc is not None and not instance.progress:
        ad_hoc.propagate_outputs(step, visit)
    if element.output_mappings or element.type is _START_EVENT:
        _map_outputs(step, visit)
    if element.end_listeners and not _have_listened(
        step, visit, element.end_listeners, ListenerEventType.END
    ):
        return None
    if instance.loop_counter:
        multi_instance.complete_item(step, visit)
    elif around is not None and around.ad_hoc is not None:
        ad_hoc.complete_inside(step, visit)
    return flows


def _map_outputs(step: Step, visit: Visit) -> None:
    """Apply the output mappings; after a triggered start event, subscribe its scope to its events. Raises Incident."""
    element, process_instance, instance = visit.element, visit.process_instance, visit.instance
    if element.output_mappings and not instance.progress:
        mappings.apply_outputs(step, visit)
        _note_mappings(step, visit)
    if _begins_with_events(element):
        scope = process_instance.elements[cast("Key", instance.scope_key)]
        _subscribe_around(step, step.visit(process_instance, scope))


def _subscribe_around(step: Step, visit: Visit) -> None:
    """Subscribe the scope of a triggered start event; other scopes subscribed when they were activated."""
    process_instance, scope = visit.process_instance, visit.instance
    # An earlier version subscribed all scopes at their activation.
    if scope.caught is None or scope.progress or scope.key in process_instance.waiting:
        return
    catch_events.subscribe(step, visit, visit.element.catches)
    step.emit(events.ElementProgressed(process_instance.head, scope.key, 1))


def _end_completion(step: Step, visit: Visit, flows: tuple[Flow, ...]) -> None:
    element, process_instance, instance = visit.element, visit.process_instance, visit.instance
    if process_instance.waiting:
        catch_events.unsubscribe(step, process_instance, instance)
    if instance.scope_key is None:
        _complete_process(step, process_instance)
        return
    if element.compensation is not None or instance.compensable:
        compensation.note_completion(step, visit)
    is_last = bool(process_instance.terminates_after) and _is_last(process_instance, instance)
    if is_last or element.link is not None or isinstance(element.result, Termination):
        flows = ()
    flow_ids = tuple([flow.id for flow in flows]) if flows else ()
    step.emit(events.ElementCompleted(process_instance.head, instance.key, flow_ids))
    if is_last:
        _terminate_all(step, process_instance)
        return
    if isinstance(element.result, Termination):
        _terminate_others(step, process_instance, process_instance.elements[instance.scope_key], element)
    else:
        _leave(step, visit, instance.scope_key, flows)


def _is_last(process_instance: ProcessInstance, ended: ElementInstance) -> bool:
    """Whether the process instance was created to end after this element.

    An instance of a multi-instance activity does not count as the element.
    """
    return (
        ended.element_id in process_instance.terminates_after
        and not ended.loop_counter
        and process_instance.elements[process_instance.head.key].state is not TERMINATING
    )


def _terminate_all(step: Step, process_instance: ProcessInstance) -> None:
    root_key = process_instance.head.key
    step.prefer(process_instance, TerminateInstances(root_key, (root_key,)))


def _complete_process(step: Step, process_instance: ProcessInstance) -> None:
    """Complete a process instance; a called one ends together with its call activity."""
    key = process_instance.head.key
    if process_instance.head.caller is not None:
        step.prefer(process_instance, Return(key))
        return
    step.emit(events.ElementCompleted(process_instance.head, key))
    make_room(step, process_instance.message_start)


def _terminate_others(
    step: Step, process_instance: ProcessInstance, scope: ElementInstance, end: Element
) -> None:
    if _can_be_entered(scope):
        step.emit(events.ElementInterrupted(process_instance.head, scope.key, end.id, {}))
        empty(step, process_instance, scope)


def _leave(step: Step, visit: Visit, scope_key: Key, flows: tuple[Flow, ...]) -> None:
    process_instance, element = visit.process_instance, visit.element
    scope = process_instance.elements[scope_key]
    if element.link is not None:
        if _can_be_entered(scope):
            activate(step, _entered(step, process_instance, scope, element.link))
    elif element.type is _EVENT_BASED_GATEWAY:
        _leave_to_caught(step, visit, scope, flows)
    else:
        for flow in flows:
            step.take(visit, flow)
            step.defer(process_instance, Arrive(scope_key, flow.id))
        # With siblings, the last of them checks the scope.
        if not flows and (not scope.children or scope.ends_remaining):
            step.defer(process_instance, CompleteWhenEmpty(scope_key))
    if element.flow_scope is not None and element.flow_scope.inclusive_joins:
        step.defer(process_instance, Join(scope_key))


def _leave_to_caught(step: Step, visit: Visit, scope: ElementInstance, flows: tuple[Flow, ...]) -> None:
    """Enter the event that an event-based gateway caught."""
    caught = visit.instance.caught
    for flow in flows:
        step.take(visit, flow)
        if caught is not None and _can_be_entered(scope):
            _activate_caught(
                step, visit.process_instance, scope, flow.target, caught.variables, joined=(flow.id,)
            )


def _look_at_joins(step: Step, visit: Visit, scope_key: Key) -> None:
    around = visit.element.flow_scope
    if around is not None and around.inclusive_joins:
        step.defer(visit.process_instance, Join(scope_key))


def make_room(step: Step, message_start: tuple[str, str, str] | None) -> None:
    """Let the next message with this correlation key start its process, after the end of the previous instance."""
    if message_start is not None:
        step.received.append(BeginNext(*message_start))


# Termination


def terminate(step: Step, process_instance: ProcessInstance, instance: ElementInstance) -> None:
    """Terminate an element instance, its children first."""
    step.begin_element()
    step.emit(events.ElementTerminating(process_instance.head, instance.key))
    if process_instance.waiting:
        catch_events.unsubscribe(step, process_instance, instance)
    if instance.job_key is not None:
        step.emit(events.JobCanceled(process_instance.head, instance.job_key))
    if instance.user_task_key is not None:
        user_task = process_instance.user_tasks[instance.user_task_key]
        task_listeners.cancel(step, step.visit(process_instance, instance), user_task)
    if instance.children:
        step.prefer(process_instance, TerminateChildren(instance.key))
    else:
        end_termination(step, process_instance, instance)


def end_termination(step: Step, process_instance: ProcessInstance, instance: ElementInstance) -> None:
    """Terminate an element instance without children, unless its behaviour must wait."""
    visit = step.visit(process_instance, instance)
    if not BEHAVIOURS[visit.element.type].terminate(step, visit):
        return
    if instance.incident_key is not None:
        step.resolve_incident(process_instance, instance.incident_key)
    if instance.scope_key is None and process_instance.head.caller is not None:
        step.prefer(process_instance, Return(instance.key))
        return
    step.emit(events.ElementTerminated(process_instance.head, instance.key))
    if instance.scope_key is None:
        make_room(step, process_instance.message_start)
        return
    if _is_last(process_instance, instance):
        _terminate_all(step, process_instance)
        return
    _terminated_inside(step, process_instance, process_instance.elements[instance.scope_key], instance)
    _look_at_joins(step, visit, instance.scope_key)


def _terminated_inside(
    step: Step, process_instance: ProcessInstance, scope: ElementInstance, ended: ElementInstance
) -> None:
    """Continue with the event that interrupted the element instance, or check whether the scope is complete."""
    if scope.state is TERMINATING or scope.is_being_emptied:
        if not scope.children:
            _go_on_empty(step, process_instance, scope)
        return
    interruption = ended.interruption
    if interruption is not None and not interruption.is_finished:
        catch = step.process_of(process_instance).elements[interruption.element_id]
        if catch.type is ElementType.BOUNDARY_EVENT:
            enter_caught(step, process_instance, ended, catch, interruption.variables)
            return
    step.defer(process_instance, CompleteWhenEmpty(scope.key))


# Interruption


def empty(step: Step, process_instance: ProcessInstance, scope: ElementInstance) -> None:
    """Terminate everything in an interrupted scope, then continue with the interrupting event."""
    catches = step.visit(process_instance, scope).element.catches
    begins = [catch for catch in catches if catch.type is ElementType.START_EVENT]
    if begins:
        catch_events.unsubscribe_from(step, process_instance, scope, begins)
    ad_hoc.cancel_job(step, process_instance, scope)
    if scope.children:
        step.prefer(process_instance, TerminateChildren(scope.key))
    else:
        _go_on_empty(step, process_instance, scope)


def _go_on_empty(step: Step, process_instance: ProcessInstance, scope: ElementInstance) -> None:
    """Continue after the last child of a scope that is being terminated or emptied has ended."""
    if not scope.is_being_emptied:
        end_termination(step, process_instance, scope)
        return
    interruption = cast("Interruption", scope.interruption)
    event = step.process_of(process_instance).elements[interruption.element_id]
    step.emit(events.InterruptionFinished(process_instance.head, scope.key))
    if event.type is ElementType.START_EVENT:
        enter_event_sub_process(step, process_instance, scope, event, interruption.variables)
    else:
        step.begin_element()
        complete(step, step.visit(process_instance, scope))


# After a wait


def proceed(step: Step, visit: Visit) -> None:
    """Continue the element after an incident or the job of a listener."""
    if visit.instance.state is ACTIVATING:
        activate(step, visit, is_tried_again=True)
    elif visit.instance.state is COMPLETING:
        complete(step, visit)
