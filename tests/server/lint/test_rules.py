import pytest

from server import forms
from server.bpmn.reader import BpmnReadError, read
from server.dmn import DmnReadError, ProblemKind, decisions_of
from server.dmn.document import parse
from server.dmn.reader import definitions_of
from server.forms import FormReadError
from server.lint.catalogue import RULES
from server.lint.evaluators import EVALUATORS
from server.lint.linter import (
    Finding,
    lint,
    lint_decisions,
    lint_form,
    lint_unread_decisions,
    refusals,
    unreadable,
    unreadable_form,
)
from server.lint.rule import EvaluatorKind, Family, Rule, Severity
from tests.server.lint import decision_cases, deployment_cases, form_cases, rule_cases

CASES = {**rule_cases.CASES, **decision_cases.CASES, **form_cases.CASES}

# The rules that one file alone can break.
MODEL_RULES = [rule for rule in RULES if rule.family not in {Family.RESOURCE, Family.DEPLOYMENT}]

by_id = pytest.mark.parametrize("rule", MODEL_RULES, ids=[rule.id for rule in MODEL_RULES])


def findings_of(xml: bytes, family: Family) -> tuple[Finding, ...]:
    if family is Family.DMN:
        return decision_findings_of(xml)
    if family is Family.FORM:
        return form_findings_of(xml)
    try:
        return lint(read(xml))
    except BpmnReadError as error:
        return (unreadable(error),)


def form_findings_of(content: bytes) -> tuple[Finding, ...]:
    try:
        return lint_form(forms.read(content))
    except FormReadError as error:
        return (unreadable_form(error),)


def decision_findings_of(xml: bytes) -> tuple[Finding, ...]:
    try:
        document = parse(xml)
    except DmnReadError as error:
        return (unreadable(error),)
    try:
        definitions = definitions_of(document)
    except DmnReadError as error:
        return lint_unread_decisions(document.root, error)
    return lint_decisions(document.root, lambda: decisions_of(definitions))


@by_id
def test_the_rule_finds_the_broken_element(rule: Rule) -> None:
    found = [
        finding for finding in findings_of(CASES[rule.id].broken, rule.family) if finding.rule_id == rule.id
    ]

    assert {CASES[rule.id].element_id} == {finding.element_id for finding in found}
    assert all(finding.message.startswith(rule.message) for finding in found)


@by_id
def test_the_rule_accepts_the_mended_twin(rule: Rule) -> None:
    findings = findings_of(CASES[rule.id].mended, rule.family)

    assert rule.id not in {finding.rule_id for finding in findings}


@by_id
def test_a_rule_that_refuses_lets_the_mended_twin_deploy(rule: Rule) -> None:
    case = CASES[rule.id]

    broken, mended = (refusals(findings_of(xml, rule.family)) for xml in (case.broken, case.mended))

    assert rule.refuses is (rule.id in {finding.rule_id for finding in broken})
    assert not rule.refuses or not mended


def test_every_rule_has_a_case() -> None:
    assert {rule.id for rule in MODEL_RULES} == set(CASES)
    assert {rule.id for rule in RULES} == set(CASES) | set(deployment_cases.CASES)


def test_every_problem_of_a_model_of_decisions_has_a_rule() -> None:
    assert set(ProblemKind) <= {rule.id for rule in RULES if rule.family is Family.DMN}


def test_rule_ids_are_unique() -> None:
    assert len(RULES) == len({rule.id for rule in RULES})


def test_every_kind_of_evaluator_has_a_function_and_a_rule() -> None:
    assert set(EvaluatorKind) == set(EVALUATORS) == {rule.evaluator for rule in RULES}


def test_a_warning_never_refuses() -> None:
    assert not [rule.id for rule in RULES if rule.severity is Severity.WARNING and rule.refuses]
