"""Applies the catalogue to a model, and formats the refusal."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter

from server.bpmn.extensions import PREFIX
from server.bpmn.model import Definitions
from server.bpmn.reader import BpmnReadError
from server.dmn import Decisions, DmnModelError, DmnReadError, Problem, ProblemKind
from server.forms import Form, FormReadError
from server.lint.catalogue import RULES
from server.lint.evaluators import EVALUATORS
from server.lint.rule import Family, Rule, Severity
from server.lint.rules import bpmn_structure, dmn, forms
from server.lint.subject import Subject, decision_subjects, form_subjects, subjects
from server.lint.violation import Violation
from server.xml import Markup

MOST_TOLD = 50
"""Most findings of one resource in a refusal."""

_CACHED_TYPES = 256
"""More than the combinations of element types, of which there are some dozens."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule by an element.

    The element id is empty and the line is 0 if the file has none. `refuses` comes from the rule: the
    deployment fails.
    """

    rule_id: str
    severity: Severity
    element_id: str
    message: str
    line: int
    refuses: bool


def lint(definitions: Definitions) -> tuple[Finding, ...]:
    """Return all findings in a BPMN file, in document order."""
    return tuple(finding for subject in subjects(definitions) for finding in _findings(subject))


def lint_decisions(root: Markup, compiled: Callable[[], Decisions]) -> tuple[Finding, ...]:
    """Return all findings in a decision model; `compiled` compiles it, or raises DmnModelError."""
    try:
        problems = compiled().problems
    except DmnModelError as error:
        problems = error.problems
    found = tuple(_decision_findings(root))
    known = {(finding.rule_id, finding.element_id) for finding in found}
    return (*found, *(_told(each) for each in problems if (each.kind, each.element_id) not in known))


def lint_unread_decisions(root: Markup, error: DmnReadError) -> tuple[Finding, ...]:
    """Return all findings in a file whose elements form no valid model; a rule's finding replaces the reader's error."""
    found = tuple(_decision_findings(root))
    return found if refusals(found) else (*found, unreadable(error))


def lint_form(form: Form) -> tuple[Finding, ...]:
    """Return all findings in a form, without lines."""
    return tuple(finding for subject in form_subjects(form) for finding in _findings(subject))


def unreadable_form(error: FormReadError) -> Finding:
    """Return the finding for a form that the reader refused."""
    return broken(forms.READABLE, str(error))


def broken(rule: Rule, detail: str, element_id: str = "") -> Finding:
    """Return a finding of a rule without evaluator, at no line."""
    return Finding(rule.id, rule.severity, element_id, f"{rule.message}: {detail}", 0, rule.refuses)


def unreadable(error: BpmnReadError | DmnReadError) -> Finding:
    """Return the finding for a file that the reader refused."""
    rule = dmn.READABLE if isinstance(error, DmnReadError) else bpmn_structure.READABLE
    return Finding(rule.id, rule.severity, "", f"{rule.message}: {error}", error.line, rule.refuses)


def refusals(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that prevent a deployment."""
    return tuple(finding for finding in findings if finding.refuses)


def describe(findings: Iterable[Finding], resource_name: str) -> str:
    """Format the refusal of a resource: elements with the rules that they break, up to MOST_TOLD findings."""
    refusing = sorted(refusals(findings), key=attrgetter("line", "element_id"))
    lines = [f"'{resource_name}':"]
    for (line, element_id), group in groupby(refusing[:MOST_TOLD], key=attrgetter("line", "element_id")):
        place = f" (line {line})" if line else ""
        lines.append(f"- Element: {element_id or 'without id'}{place}")
        lines += [f"    {worded(finding)}" for finding in group]
    if len(refusing) > MOST_TOLD:
        lines.append(f"- and {len(refusing) - MOST_TOLD} more")
    return "\n".join(lines)


def worded(finding: Finding) -> str:
    """Format a finding, ending with the rule's id."""
    return f"- ERROR: {finding.message} [{finding.rule_id}]"


def _decision_findings(root: Markup) -> Iterator[Finding]:
    return (finding for subject in decision_subjects(root) for finding in _findings(subject))


def _findings(subject: Subject) -> Iterator[Finding]:
    for rule in _rules_about(subject.types):
        for violation in EVALUATORS[rule.evaluator](subject, rule):
            yield _finding(subject, rule, violation)


@lru_cache(_CACHED_TYPES)
def _rules_about(types: frozenset[str]) -> tuple[Rule, ...]:
    return tuple(
        rule for rule in _EVALUATED if types.intersection(rule.applies_to) or _is_whole_model(types, rule)
    )


def _is_whole_model(types: frozenset[str], rule: Rule) -> bool:
    return not rule.applies_to and f"{rule.family}:Definitions" in types


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


def _told(problem: Problem) -> Finding:
    rule = _COMPILED[problem.kind]
    message = f"{rule.message}: {problem.message}"
    return Finding(rule.id, rule.severity, problem.element_id, message, problem.line, rule.refuses)


# Findings of this module come from the decision compiler and from evaluators; the preparation of a deployment
# checks the other rules.
_PREPARED = frozenset({Family.RESOURCE, Family.DEPLOYMENT})
_COMPILED = {ProblemKind(rule.id): rule for rule in RULES if rule.id in set(ProblemKind)}
_EVALUATED = tuple(
    rule for rule in RULES if rule.id not in dmn.COMPILED_ALONE and rule.family not in _PREPARED
)
