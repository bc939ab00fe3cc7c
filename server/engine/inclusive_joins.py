"""Activation of inclusive gateways with several incoming flows.

Such a gateway is activated once one of its flows was taken and no element in the scope can still reach one of
the others (BPMN 2.0.2 §13.4.3).
"""

from functools import reduce
from operator import or_
from typing import NamedTuple

from server.bpmn.executable import Element, ElementType, ExecutableProcess
from server.engine.process_instance import ElementInstance, ProcessInstance


class ReadyJoin(NamedTuple):
    """A gateway that can be activated, with the flows whose arrivals it consumes."""

    gateway: Element
    flow_ids: tuple[str, ...]


def ready_join(
    process: ExecutableProcess, process_instance: ProcessInstance, scope: ElementInstance
) -> ReadyJoin | None:
    """The first gateway of the scope that can be activated.

    The cost depends on the size of the process, not on the number of element instances.
    """
    element, arrived = process.of(scope.element_id, scope.type), scope.joins
    waiting = [
        (join, tuple(flow_id for flow_id in join.leading if flow_id in arrived))
        for join in element.inclusive_joins
    ]
    waiting = [(join, taken) for join, taken in waiting if taken]
    if not waiting:
        return None
    active = _active(element, scope, process_instance)
    for join, taken in waiting:
        if not any(bits & active for flow_id, bits in join.leading.items() if flow_id not in arrived):
            return ReadyJoin(join.gateway, taken)
    if _nothing_moves(process, scope):
        # Gateways that wait for each other would wait forever.
        join, taken = waiting[0]
        return ReadyJoin(join.gateway, taken)
    return None


def _active(element: Element, scope: ElementInstance, process_instance: ProcessInstance) -> int:
    """The bits of elements with an instance, and of taken flows that have not arrived at their end."""
    bits = element.bits
    ids = (*process_instance.standing_in(scope.key), *scope.joins)
    return reduce(or_, (bits.get(id_, 0) for id_ in ids), 0)


def _nothing_moves(process: ExecutableProcess, scope: ElementInstance) -> bool:
    """Whether the scope has nothing left but arrivals at gateways that wait for others."""
    targets = {process.flows[flow_id].target for flow_id in scope.joins}
    return not scope.children and all(_waits(target, scope) for target in targets)


def _waits(target: Element, scope: ElementInstance) -> bool:
    if target.type is ElementType.PARALLEL_GATEWAY:
        return not all(flow.id in scope.joins for flow in target.incoming)
    return target.type is ElementType.INCLUSIVE_GATEWAY and len(target.incoming) > 1
