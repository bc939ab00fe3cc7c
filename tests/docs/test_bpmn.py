"""docs/bpmn.md agrees with the elements that behave, the events that lint allows, and the workflow patterns that run."""

import ast
import re
from collections.abc import Mapping
from itertools import product

import pytest

from server.bpmn.executable import ElementType
from server.bpmn.reader import read
from server.engine.elements import BEHAVIOURS
from server.lint.linter import lint, refusals
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/bpmn.md").read_text()
PATTERNS = ROOT / "tests/server/engine/test_workflow_patterns.py"

# The words of the page where they are not those of the type.
WORDS: Mapping[ElementType, str] = {
    ElementType.SUB_PROCESS: "embedded sub-process",
    ElementType.EVENT_SUB_PROCESS: "event sub-process",
    ElementType.AD_HOC_SUB_PROCESS: "ad-hoc sub-process",
    ElementType.AD_HOC_SUB_PROCESS_INNER_INSTANCE: "inner instance",
    ElementType.MULTI_INSTANCE_BODY: "multi-instance activity",
    ElementType.EVENT_BASED_GATEWAY: "event-based gateway",
}


def table(heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without its head."""
    _, _, behind = PAGE.partition(f"\n## {heading}\n")
    section, _, _ = behind.partition("\n## ")
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.mark.parametrize("element_type", BEHAVIOURS)
def test_every_element_that_behaves_is_on_the_page(element_type: ElementType) -> None:
    assert WORDS.get(element_type, element_type.lower().replace("_", " ")) in PAGE.lower()


# Events

POSITIONS = (
    "start",
    "event sub-process",
    "event sub-process, not interrupting",
    "catch",
    "boundary",
    "boundary, not interrupting",
    "throw",
    "end",
)
ROOTS = """
    <message id="m" name="go"/>
    <message id="k" name="go">
      <extensionElements><zeebe:subscription correlationKey="=key"/></extensionElements>
    </message>
    <signal id="s" name="go"/><error id="e" errorCode="e"/><escalation id="c" escalationCode="c"/>
"""


def definition_of(event: str, position: str) -> str:
    """The event definition, and what its position needs beside it."""
    is_start, throws = position == "start", position in {"throw", "end"}
    timer = "<timeDate>2030-01-01T00:00:00Z</timeDate>"
    job = '<extensionElements><zeebe:taskDefinition type="send"/></extensionElements>'
    return {
        "none": "",
        "message": f'{job if throws else ""}<messageEventDefinition messageRef="{"m" if is_start or throws else "k"}"/>',
        "timer": f"<timerEventDefinition>{timer}</timerEventDefinition>",
        "error": '<errorEventDefinition errorRef="e"/>',
        "signal": '<signalEventDefinition signalRef="s"/>',
        "conditional": "<conditionalEventDefinition><condition>=x > 1</condition></conditionalEventDefinition>",
        "escalation": '<escalationEventDefinition escalationRef="c"/>',
        "compensation": "<compensateEventDefinition/>",
        "terminate": "<terminateEventDefinition/>",
        "link": '<linkEventDefinition name="there"/>',
        "cancel": "<cancelEventDefinition/>",
    }[event]


def model(event: str, position: str) -> bytes:
    """A process that has this event in this position, and is right in everything else."""
    definition = definition_of(event, position)
    start = (
        '<startEvent id="start"/>'
        if position != "start"
        else f'<startEvent id="event">{definition}</startEvent>'
    )
    begin = "event" if position == "start" else "start"
    body = f'{start}<task id="a"/><sequenceFlow id="first" sourceRef="{begin}" targetRef="a"/>'
    interrupts = "false" if position.endswith("not interrupting") else "true"
    is_link = event == "link"
    match position.split(",", maxsplit=1)[0]:
        case "event sub-process":
            body += f"""<subProcess id="scope" triggeredByEvent="true">
              <startEvent id="event" isInterrupting="{interrupts}">{definition}</startEvent><task id="b"/>
              <sequenceFlow id="inner" sourceRef="event" targetRef="b"/></subProcess>"""
        case "catch":
            flow = '<sequenceFlow id="second" sourceRef="a" targetRef="event"/>'
            throw = f"""<intermediateThrowEvent id="throw">{definition}</intermediateThrowEvent>
              <sequenceFlow id="second" sourceRef="a" targetRef="throw"/>"""
            body += f"""<intermediateCatchEvent id="event">{definition}</intermediateCatchEvent><task id="b"/>
              {throw if is_link else flow}<sequenceFlow id="third" sourceRef="event" targetRef="b"/>"""
        case "boundary":
            flow = '<sequenceFlow id="second" sourceRef="event" targetRef="b"/>'
            handled = '<association id="second" sourceRef="event" targetRef="b"/>'
            is_compensation = event == "compensation"
            body += f"""<subProcess id="host"><startEvent id="within"/></subProcess>
              <sequenceFlow id="third" sourceRef="a" targetRef="host"/>
              <boundaryEvent id="event" attachedToRef="host" cancelActivity="{interrupts}">{definition}</boundaryEvent>
              <task id="b" {'isForCompensation="true"' if is_compensation else ""}/>
              {handled if is_compensation else flow}"""
        case "throw":
            catch = f"""<intermediateCatchEvent id="there">{definition}</intermediateCatchEvent><task id="b"/>
              <sequenceFlow id="third" sourceRef="there" targetRef="b"/>"""
            body += f"""<intermediateThrowEvent id="event">{definition}</intermediateThrowEvent>
              <sequenceFlow id="second" sourceRef="a" targetRef="event"/>{catch if is_link else ""}"""
        case "end":
            body += f"""<endEvent id="event">{definition}</endEvent>
              <sequenceFlow id="second" sourceRef="a" targetRef="event"/>"""
    return f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:test"
      xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">{ROOTS}
      <process id="order" isExecutable="true">{body}</process></definitions>""".encode()


def events() -> Mapping[str, Mapping[str, bool]]:
    return {
        event: dict(zip(POSITIONS, map("✓".__eq__, cells), strict=True))
        for event, *cells in table("Events by position")
    }


def test_every_event_definition_of_bpmn_has_a_row() -> None:
    assert len(events()) == len({*events()}) == 11


@pytest.mark.parametrize(("event", "position"), list(product(events(), POSITIONS)))
def test_an_event_is_deployed_where_the_page_says_so(event: str, position: str) -> None:
    broken = refusals(lint(read(model(event, position))))

    assert (not broken) is events()[event][position], broken


# Workflow patterns


def test_every_pattern_has_its_row_in_order() -> None:
    assert [int(row[0]) for row in table("Workflow patterns")] == list(range(1, 44))


def test_a_pattern_names_its_test_or_a_reason() -> None:
    functions = {
        node.name for node in ast.parse(PATTERNS.read_text()).body if isinstance(node, ast.FunctionDef)
    }
    tests = {name for name in functions if name.startswith("test_")}
    named = {name for row in table("Workflow patterns") for name in re.findall(r"`(test_\w+)`", row[3])}

    assert named == tests
    assert all(row[3] for row in table("Workflow patterns"))
