"""Apply the catalogue to a model and put the refusal into words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from server.bpmn.extensions import PREFIX
from server.bpmn.model import Definitions
from server.bpmn.reader import BpmnReadError
from server.lint.catalogue import RULES
from server.lint.evaluators import EVALUATORS
from server.lint.rule import Rule, Severity
from server.lint.rules.bpmn_structure import READABLE
from server.lint.subject import Subject, subjects
from server.lint.violation import Violation


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that an element breaks.

    The element id is empty where the file gives none; `refuses` is the rule's: the deployment fails.
    """

    rule_id: str
    severity: Severity
    element_id: str
    message: str
    line: int
    refuses: bool


def lint(definitions: Definitions) -> tuple[Finding, ...]:
    """Everything that the file breaks, in the order of the document."""
    return tuple(finding for subject in subjects(definitions) for finding in _findings(subject))


def unreadable(error: BpmnReadError) -> Finding:
    """Say of a file that the reader refused what a rule would say of it."""
    return Finding(
        READABLE.id, READABLE.severity, "", f"{READABLE.message}: {error}", error.line, READABLE.refuses
    )


def refusals(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Keep what refuses a deployment."""
    return tuple(finding for finding in findings if finding.refuses)


def describe(findings: Iterable[Finding], resource_name: str) -> str:
    """Word the refusal of a resource: each element with the rules that it breaks."""
    refusing = sorted(refusals(findings), key=attrgetter("line", "element_id"))
    lines = [f"'{resource_name}':"]
    for (line, element_id), group in groupby(refusing, key=attrgetter("line", "element_id")):
        lines.append(f"- Element: {element_id or 'without id'} (line {line})")
        lines += [f"    - ERROR: {finding.message} [{finding.rule_id}]" for finding in group]
    return "\n".join(lines)


def _findings(subject: Subject) -> Iterator[Finding]:
    for rule in RULES:
        if subject.types.intersection(rule.applies_to) or _is_whole_model(subject, rule):
            for violation in EVALUATORS[rule.evaluator](subject, rule):
                yield _finding(subject, rule, violation)


def _is_whole_model(subject: Subject, rule: Rule) -> bool:
    return not rule.applies_to and "bpmn:Definitions" in subject.types


def _finding(subject: Subject, rule: Rule, violation: Violation) -> Finding:
    at = violation.at or subject.markup
    is_part = at is subject.markup or at.tag.startswith(PREFIX)
    element_id = "" if is_part else at.attributes.get("id", "")
    return Finding(
        rule.id,
        rule.severity,
        element_id or subject.element_id,
        f"{rule.message}: {violation.detail}",
        at.line,
        rule.refuses,
    )
