"""Checks of the BPMN schema and of supported element types."""

from collections.abc import Iterator
from itertools import pairwise

from server.bpmn.model import EVENT_DEFINITION
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation
from server.xml import Markup

# BPMN 2.0 §8.1.1 and §8.2 (tBaseElement, tFlowElement, tFlowNode): child elements before an element's own
# content.
_LEADING_TAGS = (
    "documentation",
    "extensionElements",
    "auditing",
    "monitoring",
    "categoryValueRef",
    "incoming",
    "outgoing",
)
_RANKS = {tag: rank for rank, tag in enumerate(_LEADING_TAGS)}


def schema(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """For `sequence`, require child elements in the schema's order; the reader has checked the rest."""
    if "sequence" not in rule.value:
        return
    for element in (subject.markup, *subject.markup.descendants()):
        yield from _disorder(element)


def supported_type(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Require that the tag, or the kind of the event definition, is in `value`."""
    kind = subject.markup.tag.removesuffix(EVENT_DEFINITION)
    if kind not in rule.value:
        yield Violation(f"found {kind}")


def _disorder(element: Markup) -> Iterator[Violation]:
    for before, after in pairwise(child for child in element.children if ":" not in child.tag):
        if _rank(before) > _rank(after):
            yield Violation(f"found {after.tag} behind {before.tag} in {element.tag}", element)


def _rank(element: Markup) -> int:
    return _RANKS.get(element.tag, len(_RANKS))
