"""The nodes and flows of one flow scope as a graph.

It is built from models that are not checked yet: dangling flows are left out, and of nodes with the same id
the first counts.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import dropwhile
from typing import TypeVar

from server.bpmn.model import (
    AdHocSubProcess,
    CatchEvent,
    FlowElementsContainer,
    FlowNode,
    SequenceFlow,
    ThrowEvent,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph: nodes by id, their incoming and outgoing flows in document order, link targets and compensation handlers.

    `links` has catching link events by name, `handlers` has compensation handlers by boundary event, and
    `hosts` the ids to which boundary events are attached. In an ad-hoc scope, a path may begin and end at any
    node.
    """

    nodes: Mapping[str, FlowNode]
    incoming: Mapping[str, tuple[SequenceFlow, ...]]
    outgoing: Mapping[str, tuple[SequenceFlow, ...]]
    links: Mapping[str, str] = field(default_factory=dict)
    handlers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()
    is_ad_hoc: bool = False

    @classmethod
    def of(cls, container: FlowElementsContainer) -> "Graph":
        nodes: dict[str, FlowNode] = {}
        for node in container.flow_nodes():
            nodes.setdefault(node.id, node)
        flows = [f for f in container.sequence_flows() if f.source_ref in nodes and f.target_ref in nodes]
        return cls(
            nodes,
            _grouped((flow.target_ref, flow) for flow in flows),
            _grouped((flow.source_ref, flow) for flow in flows),
            {
                node.link_name: node.id
                for node in nodes.values()
                if isinstance(node, CatchEvent) and node.link_name is not None
            },
            _grouped(
                (source, target)
                for source, target in container.associations()
                if target in nodes and nodes[target].is_for_compensation
            ),
            frozenset(
                node.markup.attributes.get("attachedToRef", "")
                for node in nodes.values()
                if node.tag == "boundaryEvent"
            ),
            isinstance(container, AdHocSubProcess),
        )

    def entering(self, node_id: str) -> tuple[SequenceFlow, ...]:
        return self.incoming.get(node_id, ())

    def leaving(self, node_id: str) -> tuple[SequenceFlow, ...]:
        return self.outgoing.get(node_id, ())

    def successors(self, node_id: str) -> Iterator[str]:
        """The ids of the nodes that the node's flows, link or compensation association lead to."""
        yield from (flow.target_ref for flow in self.leaving(node_id))
        yield from self.handlers.get(node_id, ())
        node = self.nodes.get(node_id)
        if isinstance(node, ThrowEvent) and node.link_name is not None:
            yield from filter(None, [self.links.get(node.link_name)])

    def reachable(self, roots: Iterable[str]) -> frozenset[str]:
        """The roots, and every node that a path leads to from one of them."""
        found: set[str] = set()
        waiting = list(roots)
        while waiting:
            node_id = waiting.pop()
            if node_id not in found:
                found.add(node_id)
                waiting.extend(self.successors(node_id))
        return frozenset(found)

    def cycle(self, through: Iterable[str]) -> tuple[str, ...]:
        """The nodes of one cycle inside `through`, in the order of the flow; empty when there is none.

        It depends on nothing but the order of the nodes and flows: a browser finds the same one.
        """
        inner = {node: list(self.successors(node)) for node in through}
        leading: defaultdict[str, list[str]] = defaultdict(list)
        for node, targets in inner.items():
            inner[node] = [target for target in targets if target in inner]
            for target in inner[node]:
                leading[target].append(node)
        left = {node: len(targets) for node, targets in inner.items()}
        ends = [node for node, number in left.items() if not number]
        # From each node that stays, a path leads to a cycle.
        while ends:
            end = ends.pop()
            del left[end]
            for node in leading[end]:
                left[node] -= 1
                if not left[node]:
                    ends.append(node)
        path: dict[str, None] = {}
        found = next(iter(left), None)
        while found is not None and found not in path:
            path[found] = None
            found = next(target for target in inner[found] if target in left)
        return tuple(dropwhile(lambda each: each != found, path))


def _grouped(pairs: Iterable[tuple[str, T]]) -> Mapping[str, tuple[T, ...]]:
    groups: defaultdict[str, list[T]] = defaultdict(list)
    for node_id, found in pairs:
        groups[node_id].append(found)
    return {node_id: tuple(found) for node_id, found in groups.items()}
