"""Checks that are one of a kind."""

from collections.abc import Callable, Iterator, Mapping

from server.lint.evaluators import tables
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation

_CONDITIONED_GATEWAYS = frozenset({"exclusiveGateway", "inclusiveGateway"})


def custom(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Run the coded checks named in `value`."""
    for name in rule.value:
        yield from _CHECKS[name](subject)


def _conditioned(subject: Subject) -> Iterator[Violation]:
    flow, scope = subject.markup, subject.scope
    source = scope.nodes.get(flow.attributes.get("sourceRef", "")) if scope else None
    if scope is None or source is None or source.tag not in _CONDITIONED_GATEWAYS:
        return
    is_only = len(scope.leaving(source.id)) == 1
    is_default = source.markup.attributes.get("default") == subject.element_id
    if not is_only and not is_default and flow.first("conditionExpression") is None:
        yield Violation(f"found neither behind {source.id}")


def _joins_or_forks(subject: Subject) -> Iterator[Violation]:
    scope, node_id = subject.scope, subject.element_id
    if scope is not None and len(scope.entering(node_id)) > 1 and len(scope.leaving(node_id)) > 1:
        yield Violation("found several incoming and several outgoing flows")


_CHECKS: Mapping[str, Callable[[Subject], Iterator[Violation]]] = {
    "xor-or-conditioned": _conditioned,
    "not both": _joins_or_forks,
    "an entry for each column": tables.entries_of_rules,
    "a cell for each column": tables.cells_of_rows,
    "output values where they order": tables.priorities,
    "no two rules for the same input": tables.overlaps,
}
