"""Terminations of a modification: the elements that its instructions name, and scopes that become empty."""

from collections import Counter

from server.bpmn.executable import ElementType
from server.engine import multi_instance
from server.engine.handlers.modification_plan import ModificationPlan
from server.engine.keys import Key
from server.engine.lifecycle import ACTIVATED, TERMINATING
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.step import Step

# Throwing events wait for compensation handlers, and continue without the terminated ones.
THROWING = frozenset({ElementType.INTERMEDIATE_THROW_EVENT, ElementType.END_EVENT})


def terminations(plan: ModificationPlan, step: Step, instance: ProcessInstance) -> tuple[Key, ...]:
    """The keys of the outermost element instances to terminate, in order; raises Rejected."""
    elements = instance.elements
    ending = {key: None for key in plan.terminated if elements[key].state is not TERMINATING}
    most = step.state.limits.terminations
    if len(ending) > most:
        raise plan.refused(f"it would terminate more than {most} element instances at once")
    left = [*ending]
    ended: Counter[Key] = Counter()
    while left:
        scope_key = elements[left.pop()].scope_key
        if scope_key is None:
            continue
        ended[scope_key] += 1
        scope = elements[scope_key]
        is_left = len(instance.inside.get(scope_key, ())) == ended[scope_key]
        if is_left and scope_key not in ending and _ends_empty(step, instance, scope):
            ending[scope_key] = None
            left.append(scope_key)
    if instance.head.key in ending and instance.head.caller is not None:
        raise plan.refused(
            "nothing would be left in it, and a call activity started it: modify process instance"
            f" {instance.head.caller.process_instance_key} instead",
        )
    return tuple(key for key in ending if elements[key].scope_key not in ending)


def _ends_empty(step: Step, instance: ProcessInstance, scope: ElementInstance) -> bool:
    """Whether nothing more happens in a scope after its element instances have ended."""
    if scope.state is not ACTIVATED or scope.flows or scope.is_being_emptied or scope.type in THROWING:
        return False
    if _goes_on(step, instance, scope):
        return False
    loop = scope.loop
    if loop is None or loop.created == loop.items:
        return True
    return not loop.is_done and multi_instance.is_sequential(step.visit(instance, scope))


def _goes_on(step: Step, instance: ProcessInstance, scope: ElementInstance) -> bool:
    """Whether a boundary event in the scope follows an element instance that is being terminated."""
    if scope.children == len(instance.inside.get(scope.key, ())):
        return False
    process = step.process_of(instance)
    return any(
        process.elements[element.interruption.element_id].type is ElementType.BOUNDARY_EVENT
        for element in instance.elements.values()
        if element.scope_key == scope.key
        and element.state is TERMINATING
        and element.interruption is not None
        and not element.interruption.is_finished
    )
