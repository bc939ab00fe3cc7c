"""Evaluates conditions again when the variables that they read change.

A change costs nothing if no condition reads its variable: `ProcessInstance.conditions` has the subscriptions
by scope and name. Conditions are evaluated one by one in the order of their keys, so outer scopes come first.
A changed cluster variable is broadcast, and its conditions are evaluated in the order of their keys, too.
"""

from functools import lru_cache
from heapq import merge

import msgspec

from server import feel
from server.bpmn.executable import ConditionTrigger
from server.engine import triggers
from server.engine.cluster_variables import CONTEXT_NAME
from server.engine.expressions import is_met
from server.engine.incidents import Incident
from server.engine.keys import Key
from server.engine.lifecycle import COMPLETING
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.scopes import VariableScope, find
from server.engine.signals import ClusterVariableChange
from server.engine.step import Step
from server.engine.subscriptions import AnySubscription, ConditionalSubscription
from server.engine.work import CheckConditions, Meet, VariableChange


def note_changes(step: Step) -> None:
    """Schedule the conditions that the changes so far concern, before all other work."""
    by_instance: dict[Key, tuple[ProcessInstance, dict[VariableChange, None]]] = {}
    for process_instance, change in step.changes:
        by_instance.setdefault(process_instance.head.key, (process_instance, {}))[1][change] = None
    step.changes.clear()
    for key, (process_instance, changes) in by_instance.items():
        step.prefer(process_instance, CheckConditions(key, tuple(changes), step.state.last_key))


def check(step: Step, process_instance: ProcessInstance, _: ElementInstance, work: CheckConditions) -> None:
    """Evaluate the next condition; the others follow when everything that it triggers is done."""
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
    """Trigger the event of a condition that was true when its subscription opened, unless another event came first."""
    subscription = process_instance.subscriptions.get(work.subscription_key)
    if subscription is not None:
        triggers.take(step, process_instance, subscription, {})


def check_cluster_variables(
    step: Step,
    process_instance: ProcessInstance,
    subscription: AnySubscription,
    change: ClusterVariableChange,
) -> None:
    """Evaluate a condition that may read the changed cluster variable.

    A process variable with the name of the context hides all cluster variables, so the condition cannot read
    them.
    """
    host_key = subscription.element_instance_key
    if (
        not isinstance(subscription, ConditionalSubscription)
        or ("create" if change.is_created else "update") not in subscription.variable_events
        or process_instance.elements[host_key].state is COMPLETING
        or find(process_instance, host_key, CONTEXT_NAME) is not None
    ):
        return
    trigger = _trigger(step, process_instance, subscription)
    if (
        trigger is not None
        and isinstance(trigger.condition, feel.Expression)
        and _reads(step, process_instance, trigger.condition.text, change)
        and _holds(step, process_instance, subscription)
    ):
        triggers.take(step, process_instance, subscription, {})


def _reads(step: Step, process_instance: ProcessInstance, text: str, change: ClusterVariableChange) -> bool:
    """Whether an expression reads the cluster variable; in `env`, a tenant's variable hides the one of all tenants."""
    is_global, own = change.tenant_id is None, step.state.cluster_variables
    places = {"cluster" if is_global else "tenant"}
    if not is_global or own.get(process_instance.head.tenant_id, change.name) is None:
        places.add("env")
    paths = [("vars", place, change.name) for place in places]
    return any(_overlap(read, path) for read in _cluster_paths(text) for path in paths)


def _overlap(read: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether one path is a prefix of the other."""
    return all(first == second for first, second in zip(read, path, strict=False))


@lru_cache(1024)
def _cluster_paths(text: str) -> frozenset[tuple[str, ...]]:
    return feel.written_paths(text, CONTEXT_NAME)


def _next(process_instance: ProcessInstance, work: CheckConditions) -> Key | None:
    """The key of the next subscription. A subscription that was opened after the change has been evaluated then."""
    known = process_instance.conditions
    lines = [known[place] for change in work.changes if (place := (change.scope_key, change.name)) in known]
    key = next(merge(*(line.after(work.last_key) for line in lines)), None)
    return key if key is not None and key <= work.until else None


def _is_concerned(
    process_instance: ProcessInstance, subscription: ConditionalSubscription, work: CheckConditions
) -> bool:
    """Whether the waiting element instance sees one of the changes, and is not completing."""
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
    """Whether the condition is true; an evaluation that fails counts as false."""
    trigger = _trigger(step, process_instance, subscription)
    if trigger is None:
        return False
    scope = VariableScope(step, process_instance, scope_key=subscription.element_instance_key)
    try:
        return is_met(trigger.condition, scope)
    except Incident:
        return False


def _trigger(
    step: Step, process_instance: ProcessInstance, subscription: ConditionalSubscription
) -> ConditionTrigger | None:
    """The condition in the process definition; None when the element waits for another kind of trigger."""
    host = process_instance.elements[subscription.element_instance_key]
    trigger = step.process_of(process_instance).of(subscription.element_id, host.type).trigger
    return trigger if isinstance(trigger, ConditionTrigger) else None
