"""Checks of numbers and counts."""

import re
from collections.abc import Iterator

from server.lint.evaluators.expressions import syntax
from server.lint.paths import elements, written
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation
from server.xml import Markup

OUTSIDE_AD_HOC = "outside ad-hoc sub-processes"

_WHOLE = re.compile(r"[+-]?[0-9]{1,10}")


def number_range(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Require an integer within the bounds, or a FEEL expression with a leading `=`."""
    for path in rule.attribute:
        for at, text in written(subject, path):
            if text.startswith("="):
                yield from syntax(path, text[1:], at)
            elif not _WHOLE.fullmatch(text.strip()) or not rule.bounds.hold(int(text)):
                yield Violation(f"expected {rule.bounds} in {path}, found {text or 'nothing'}", at)


def count(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Limit the number of elements of each path; `value` can exempt ad-hoc scopes."""
    if _is_excepted(subject, rule):
        return
    for path in rule.attribute:
        number = sum(1 for _ in elements(subject, path))
        if not rule.bounds.hold(number):
            yield Violation(f"expected {rule.bounds} {path}, found {number}")


def flow_count(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Limit the total number of flows of all paths; compensation elements need none.

    `value` can exempt elements of an ad-hoc scope.
    """
    if (rule.bounds.min and _is_compensation(subject.markup)) or _is_excepted(subject, rule):
        return
    number = sum(1 for path in rule.attribute for _ in elements(subject, path))
    if not rule.bounds.hold(number):
        yield Violation(f"expected {rule.bounds} {' and '.join(rule.attribute)}, found {number}")


def _is_compensation(node: Markup) -> bool:
    """Whether a node is a compensation handler or a compensation boundary event."""
    is_handler = node.attributes.get("isForCompensation", "").strip() in {"true", "1"}
    return is_handler or (node.tag == "boundaryEvent" and node.first("compensateEventDefinition") is not None)


def _is_excepted(subject: Subject, rule: Rule) -> bool:
    return OUTSIDE_AD_HOC in rule.value and subject.scope is not None and subject.scope.is_ad_hoc


def exactly_one_of(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Require exactly one of the element paths."""
    present = [path for path in rule.attribute if any(True for _ in elements(subject, path))]
    if len(present) != 1:
        yield Violation(
            f"expected one of {', '.join(rule.attribute)}, found {' and '.join(present) or 'none'}"
        )
