"""Checks of the paths through a process."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from server.bpmn.graph import Graph
from server.lint.paths import is_at
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation


def graph(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Check the scope's graph for the properties in `value`, from or through the nodes that `attribute` lists."""
    scope = subject.scope
    if scope is not None:
        nodes = [
            node_id
            for node_id, node in scope.nodes.items()
            if any(is_at(node.markup, path) for path in rule.attribute)
        ]
        for name in rule.value:
            yield from _PROPERTIES[name](scope, nodes)


def _no_cycle(scope: Graph, through: Sequence[str]) -> Iterator[Violation]:
    cycle = scope.cycle(through)
    if cycle:
        yield Violation(f"found a loop through {', '.join(sorted(cycle))}")


def _reached(scope: Graph, entries: Sequence[str]) -> Iterator[Violation]:
    """Require a path from an entry; in an ad-hoc scope, each node without incoming flows is an entry."""
    free = [node_id for node_id in scope.nodes if scope.is_ad_hoc and not scope.entering(node_id)]
    reached = scope.reachable([*entries, *free])
    for node_id, node in scope.nodes.items():
        if node_id not in reached:
            yield Violation(f"no path leads to {node_id}", node.markup)


_PROPERTIES: Mapping[str, Callable[[Graph, Sequence[str]], Iterator[Violation]]] = {
    "no cycle": _no_cycle,
    "reachable": _reached,
}
