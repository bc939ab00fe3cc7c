"""Evaluates conditions again when variables change that they refer to.

A change costs nothing where no condition refers to its variable: `ProcessInstance.conditions` has the subscriptions by
scope and name. They are evaluated one by one in the order of their keys, so scopes come before what is inside them.
"""

from heapq import merge

import msgspec

from server.bpmn.executable import ConditionTrigger
from server.engine import triggers
from server.engine.expressions import is_met
from server.engine.incidents import Incident
from server.engine.keys import Key
from server.engine.lifecycle import COMPLETING
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.scopes import VariableScope, find
from server.engine.step import Step
from server.engine.subscriptions import ConditionalSubscription
from server.engine.work import CheckConditions, Meet, VariableChange


def note_changes(step: Step) -> None:
    """Evaluate what the changes so far concern, before all other work."""
    by_instance: dict[Key, tuple[ProcessInstance, dict[VariableChange, None]]] = {}
    for process_instance, change in step.changes:
        by_instance.setdefault(process_instance.head.key, (process_instance, {}))[1][change] = None
    step.changes.clear()
    for key, (process_instance, changes) in by_instance.items():
        step.prefer(process_instance, CheckConditions(key, tuple(changes), step.state.last_key))


def check(step: Step, process_instance: ProcessInstance, _: ElementInstance, work: CheckConditions) -> None:
    """Evaluate the next condition, and the others when all that it triggers is done."""
    key = _next(process_instance, work)
    if key is None:
        return
    step.begin_element()
    step.prefer(process_instance, msgspec.structs.replace(work, last_key=key))
    subscription = process_instance.subscriptions[key]
    if (
        isinstance(subscription, ConditionalSubscription)
        and _is_concerned(process_instance, subscription, work)
        and _holds(step, process_instance, subscription)
    ):
        triggers.take(step, process_instance, subscription, {})


def meet(step: Step, process_instance: ProcessInstance, _: ElementInstance, work: Meet) -> None:
    """Does nothing when another event came first."""
    subscription = process_instance.subscriptions.get(work.subscription_key)
    if subscription is not None:
        triggers.take(step, process_instance, subscription, {})


def _next(process_instance: ProcessInstance, work: CheckConditions) -> Key | None:
    """The key of the next subscription; one that is opened after the change was evaluated then."""
    known = process_instance.conditions
    lines = [known[place] for change in work.changes if (place := (change.scope_key, change.name)) in known]
    key = next(merge(*(line.after(work.last_key) for line in lines)), None)
    return key if key is not None and key <= work.until else None


def _is_concerned(
    process_instance: ProcessInstance, subscription: ConditionalSubscription, work: CheckConditions
) -> bool:
    """Whether what waits sees one of the changes, and has not begun to be left."""
    host_key = subscription.element_instance_key
    if process_instance.elements[host_key].state is COMPLETING:
        return False
    for change in work.changes:
        kind = "create" if change.is_created else "update"
        if change.name in subscription.variable_names and kind in subscription.variable_events:
            found = find(process_instance, host_key, change.name)
            if found is not None and found[0] == change.scope_key:
                return True
    return False


def _holds(step: Step, process_instance: ProcessInstance, subscription: ConditionalSubscription) -> bool:
    """A condition that fails now does not hold."""
    host = process_instance.elements[subscription.element_instance_key]
    trigger = step.process_of(process_instance).of(subscription.element_id, host.type).trigger
    if not isinstance(trigger, ConditionTrigger):
        return False
    try:
        return is_met(trigger.condition, VariableScope(step, process_instance, scope_key=host.key))
    except Incident:
        return False
