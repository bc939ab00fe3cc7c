"""Checks of the paths through a process."""

from collections.abc import Callable, Iterator, Mapping

from server.bpmn.graph import Graph
from server.bpmn.model import CatchEvent, EventSubProcess, FlowNode, ThrowEvent
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation

# Elements that complete in the same step in which they are activated.
_WAITLESS = frozenset({
    "callActivity",
    "exclusiveGateway",
    "inclusiveGateway",
    "intermediateThrowEvent",
    "manualTask",
    "parallelGateway",
    "startEvent",
    "task",
})  # fmt: skip


def graph(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Check the scope's graph for the properties in `value`."""
    if subject.scope is not None:
        for name in rule.value:
            yield from _PROPERTIES[name](subject.scope)


def _cycle_without_wait_state(scope: Graph) -> Iterator[Violation]:
    cycle = scope.cycle(
        frozenset(node_id for node_id, node in scope.nodes.items() if _goes_on(node) or _is_link(node))
    )
    if cycle:
        yield Violation(f"found a loop through {', '.join(sorted(cycle))}")


def _unreachable(scope: Graph) -> Iterator[Violation]:
    entries = (
        node_id
        for node_id, node in scope.nodes.items()
        if node.tag in {"startEvent", "boundaryEvent"}
        or isinstance(node, EventSubProcess)
        or _is_link(node)
        or (scope.is_ad_hoc and not scope.entering(node_id))
    )
    reached = scope.reachable(entries)
    for node_id, node in scope.nodes.items():
        if node_id not in reached:
            yield Violation(f"no path leads to {node_id}", node.markup)


def _goes_on(node: FlowNode) -> bool:
    """Whether a node completes at once; a sent message waits for a job worker."""
    is_sent = isinstance(node, ThrowEvent) and "message" in node.event_definitions
    return node.tag in _WAITLESS and not is_sent


def _is_link(node: FlowNode) -> bool:
    return isinstance(node, CatchEvent) and node.link_name is not None


_PROPERTIES: Mapping[str, Callable[[Graph], Iterator[Violation]]] = {
    "no cycle without wait state": _cycle_without_wait_state,
    "reachable from a start or boundary event": _unreachable,
}
