"""Checks of presence, uniqueness and references."""

from collections.abc import Callable, Iterator, Mapping

from server.bpmn.model import EventSubProcess
from server.lint.paths import elements, values, written
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation


def required_attribute(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Require every attribute to be present and not blank."""
    for path in rule.attribute:
        for value in values(subject, path):
            if not (value.text or "").strip():
                yield Violation(f"{path} is missing or blank", value.at)


def unique(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Refuse values that occur twice at a path within the subject."""
    for path in rule.attribute:
        seen: set[str] = set()
        for at, text in written(subject, path):
            if text in seen:
                yield Violation(f"found {text} again", at)
            seen.add(text)


def reference(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Require that the referenced target of the kind in `value` exists; bounds with min 1 also require the reference."""
    for path in rule.attribute:
        for value in values(subject, path):
            if value.text is None and rule.bounds.min:
                yield Violation(f"{path} is missing")
            elif value.text is not None and not _exists(subject, rule, value.text):
                yield Violation(f"{path} names {value.text}, which is not there")


def _exists(subject: Subject, rule: Rule, target: str) -> bool:
    return any(_TARGETS[kind](subject, target) for kind in rule.value)


def _is_flow_node(subject: Subject, target: str) -> bool:
    return subject.scope is not None and target in subject.scope.nodes


def _is_own_outgoing_flow(subject: Subject, target: str) -> bool:
    return any(flow.attributes.get("id") == target for flow in elements(subject, "outgoing"))


def _is_activity(subject: Subject, target: str) -> bool:
    node = subject.scope.nodes.get(target) if subject.scope is not None else None
    return (
        node is not None
        and not node.tag.endswith(("Event", "Gateway"))
        and not isinstance(node, EventSubProcess)
    )


def _is_error(subject: Subject, target: str) -> bool:
    return target in subject.roots and subject.roots[target].tag == "error"


def _is_escalation(subject: Subject, target: str) -> bool:
    return target in subject.roots and subject.roots[target].tag == "escalation"


def _is_message(subject: Subject, target: str) -> bool:
    return target in subject.roots and subject.roots[target].tag == "message"


def _is_signal(subject: Subject, target: str) -> bool:
    return target in subject.roots and subject.roots[target].tag == "signal"


_TARGETS: Mapping[str, Callable[[Subject, str], bool]] = {
    "FlowNode of the same scope": _is_flow_node,
    "own outgoing flow": _is_own_outgoing_flow,
    "Activity of the same scope": _is_activity,
    "Error": _is_error,
    "Escalation": _is_escalation,
    "Message": _is_message,
    "Signal": _is_signal,
}
