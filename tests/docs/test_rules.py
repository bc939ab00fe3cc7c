"""docs/rules.md: every rule of execution has its number, and names the tests that show it or why it does not hold yet."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import pytest

from server.lint.catalogue import RULES as LINT_RULES
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/rules.md").read_text()

# How many rules each topic has; a new rule goes to the end of its topic.
TOPICS: Mapping[str, int] = {
    "Life cycle of elements": 12,
    "Variables and scopes": 29,
    "Jobs": 17,
    "Incidents": 36,
    "Errors and escalations": 18,
    "Messages": 20,
    "Signals": 9,
    "Timers": 17,
    "Multi-instance activities": 14,
    "Compensation": 11,
    "Gateways, links and terminate end events": 17,
    "Event sub-processes": 5,
    "Ad-hoc sub-processes": 16,
    "Conditional events": 14,
    "User tasks and task listeners": 25,
    "Execution listeners": 7,
    "Migration": 38,
    "Modification": 20,
    "Cancellation and termination": 11,
    "Deployment, versions and deletion": 12,
    "Batch operations": 16,
    "Expressions": 7,
}

# To build one of these, name its tests and remove the line; a new line is a new gap.
NOT_YET: list[str] = []

_TEST = re.compile(r"`(?P<path>tests/[\w/]+\.py)::(?P<name>test_\w+)(\[(?P<case>[\w-]+)\])?`")
_NOT_YET = "not yet"


@dataclass(frozen=True)
class Rule:
    number: str
    text: str
    shown: tuple[str, ...]

    @property
    def is_built(self) -> bool:
        return self.shown != (_NOT_YET,)


def table(heading: str) -> Iterator[list[str]]:
    """The cells of the rows below a heading, without the head."""
    _, _, behind = PAGE.partition(f"\n## {heading}\n")
    section, _, _ = behind.partition("\n## ")
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    for line in lines[1:]:
        yield [cell.strip() for cell in line.strip("|").split(" | ")]


def rules() -> Iterator[Rule]:
    for place, topic in enumerate(TOPICS, start=1):
        for number, text, shown in table(f"{place}. {topic}"):
            yield Rule(number, text, tuple(shown.split("<br>")))


@cache
def functions_of(path: str) -> frozenset[str]:
    file = ROOT / path
    body = ast.parse(file.read_text()).body if file.is_file() else []
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def exists(test: str) -> bool:
    match = _TEST.fullmatch(test)
    if match is None:
        return False
    is_case = match["case"] is None or match["case"] in {rule.id for rule in LINT_RULES}
    return is_case and match["name"] in functions_of(match["path"])


def test_the_page_has_these_topics() -> None:
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)

    assert headings == [*(f"{place}. {topic}" for place, topic in enumerate(TOPICS, start=1)), "Not yet"]


def test_no_number_is_missing() -> None:
    expected = [
        f"{place}.{number}"
        for place, count in enumerate(TOPICS.values(), start=1)
        for number in range(1, count + 1)
    ]

    assert [rule.number for rule in rules()] == expected


@pytest.mark.parametrize("rule", list(rules()), ids=lambda rule: rule.number)
def test_a_rule_names_tests_that_exist_or_does_not_hold_yet(rule: Rule) -> None:
    missing = [test for test in rule.shown if not exists(test)]

    assert missing == ([] if rule.is_built else [_NOT_YET])
    assert len(set(rule.shown)) == len(rule.shown)
    assert rule.text


def test_what_does_not_hold_yet_is_listed_with_its_reason() -> None:
    reasons = dict(table("Not yet"))

    assert [rule.number for rule in rules() if not rule.is_built] == list(reasons) == NOT_YET
    assert all(reasons.values())
