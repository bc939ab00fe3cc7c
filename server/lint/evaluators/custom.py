"""Checks that are one of a kind."""

from collections.abc import Callable, Iterator, Mapping

from server.bpmn.graph import Graph
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation

_CONDITIONED_GATEWAYS = frozenset({"exclusiveGateway", "inclusiveGateway"})


def custom(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Run the coded checks named in `value`."""
    if subject.scope is not None:
        for name in rule.value:
            yield from _CHECKS[name](subject, subject.scope)


def _conditioned(subject: Subject, scope: Graph) -> Iterator[Violation]:
    flow = subject.markup
    source = scope.nodes.get(flow.attributes.get("sourceRef", ""))
    if source is None or source.tag not in _CONDITIONED_GATEWAYS or len(scope.leaving(source.id)) == 1:
        return
    is_default = source.markup.attributes.get("default") == subject.element_id
    if not is_default and flow.first("conditionExpression") is None:
        yield Violation(f"found neither behind {source.id}")


def _joins_or_forks(subject: Subject, scope: Graph) -> Iterator[Violation]:
    if len(scope.entering(subject.element_id)) > 1 and len(scope.leaving(subject.element_id)) > 1:
        yield Violation("found several incoming and several outgoing flows")


_CHECKS: Mapping[str, Callable[[Subject, Graph], Iterator[Violation]]] = {
    "xor-or-conditioned": _conditioned,
    "not both": _joins_or_forks,
}
