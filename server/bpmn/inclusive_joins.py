"""Computes which elements and flows of a scope lead to the incoming flows of its inclusive gateways.

A set of elements and flows is an integer with one bit for each, so testing whether an active one leads to a
flow costs about the same in every process.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from server.bpmn.executable import Element, ElementType, InclusiveJoin


def inclusive_joins(elements: Sequence[Element]) -> tuple[tuple[InclusiveJoin, ...], Mapping[str, int]]:
    """The joining inclusive gateways of a scope, and the bits of its elements and flows; empty if there are none."""
    joining = [
        element
        for element in elements
        if element.type is ElementType.INCLUSIVE_GATEWAY and len(element.incoming) > 1
    ]
    if not joining:
        return (), {}
    bits: dict[str, int] = {}
    for element in elements:
        for id_ in (element.id, *(flow.id for flow in element.incoming)):
            bits[id_] = 1 << len(bits)
    before = _steps_before(elements)
    joins = tuple(
        InclusiveJoin(
            gateway, {flow.id: _leading(flow.source, gateway, before, bits) for flow in gateway.incoming}
        )
        for gateway in joining
    )
    return joins, bits


def _steps_before(elements: Sequence[Element]) -> Mapping[Element, Sequence[Element]]:
    """For each element, the elements that lead to it without a sequence flow: by a boundary event or a link."""
    before: defaultdict[Element, list[Element]] = defaultdict(list)
    for element in elements:
        if element.link is not None:
            before[element.link].append(element)
        for catch in element.catches:
            if catch.type is ElementType.BOUNDARY_EVENT:
                before[catch].append(element)
    return before


def _leading(
    source: Element, gateway: Element, before: Mapping[Element, Sequence[Element]], bits: Mapping[str, int]
) -> int:
    """Bits of the elements and flows that lead to the source of a flow into the gateway."""
    found: set[Element] = set()
    waiting = [source]
    leading = 0
    while waiting:
        element = waiting.pop()
        if element in found:
            continue
        found.add(element)
        leading |= bits[element.id]
        if element is gateway:
            continue
        for flow_id, earlier in _entries(element, before):
            if flow_id is not None:
                leading |= bits[flow_id]
            waiting.append(earlier)
    return leading


def _entries(
    element: Element, before: Mapping[Element, Sequence[Element]]
) -> Iterator[tuple[str | None, Element]]:
    """The elements that lead to this one, each with its sequence flow, or None without one."""
    for flow in element.incoming:
        yield flow.id, flow.source
    for earlier in before.get(element, ()):
        yield None, earlier
