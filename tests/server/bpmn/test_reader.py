import pytest

from server.bpmn.model import (
    EndEvent,
    ExclusiveGateway,
    IntermediateCatchEvent,
    SequenceFlow,
    ServiceTask,
    StartEvent,
    Unsupported,
)
from server.bpmn.reader import read

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"

ORDER = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="{BPMN}" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
    xmlns:other="urn:other" id="file">
  <bpmn:collaboration id="pool"><bpmn:participant id="seller" processRef="order" /></bpmn:collaboration>
  <bpmn:process id="order" name="Größe" isExecutable="true">
    <bpmn:laneSet id="lanes"><bpmn:lane id="lane"><bpmn:flowNodeRef>begin</bpmn:flowNodeRef></bpmn:lane></bpmn:laneSet>
    <bpmn:startEvent id="begin" other:colour="red" />
    <other:note>not ours</other:note>
    <bpmn:sequenceFlow id="first" sourceRef="begin" targetRef="decide" />
    <bpmn:exclusiveGateway id="decide" default="second" />
    <bpmn:sequenceFlow id="second" sourceRef="decide" targetRef="done" />
    <bpmn:sequenceFlow id="third" sourceRef="decide" targetRef="done">
      <bpmn:conditionExpression><!-- why -->= total <![CDATA[<]]> 1<!-- so --> </bpmn:conditionExpression>
    </bpmn:sequenceFlow>
    <bpmn:endEvent id="done" />
    <bpmn:dataObject id="paper" />
    <bpmn:textAnnotation id="remark" />
    <bpmn:intermediateCatchEvent id="pause">
      <bpmn:timerEventDefinition id="timer" />
    </bpmn:intermediateCatchEvent>
    <bpmn:startEvent id="alarm"><bpmn:signalEventDefinition id="signal" /></bpmn:startEvent>
    <bpmn:invention id="new" />
  </bpmn:process>
  <bpmn:process id="drawn" />
</bpmn:definitions>
"""


def test_a_process_has_its_flow_elements_in_the_order_of_the_document() -> None:
    process = read(ORDER.encode()).processes[0]

    assert [
        (StartEvent, "begin"),
        (SequenceFlow, "first"),
        (ExclusiveGateway, "decide"),
        (SequenceFlow, "second"),
        (SequenceFlow, "third"),
        (EndEvent, "done"),
        (IntermediateCatchEvent, "pause"),
        (StartEvent, "alarm"),
        (Unsupported, "new"),
    ] == [(type(element), element.id) for element in process.elements]


def test_several_processes_of_one_file_are_read() -> None:
    processes = read(ORDER.encode()).processes

    assert [(p.id, p.is_executable) for p in processes] == [("order", True), ("drawn", False)]


def test_elements_keep_their_line() -> None:
    process = read(ORDER.encode()).processes[0]

    assert [process.line, process.elements[0].line, process.elements[1].line] == [5, 7, 9]


def test_a_condition_is_the_text_without_comments_and_surrounding_space() -> None:
    flows = {flow.id: flow for flow in read(ORDER.encode()).processes[0].sequence_flows()}

    assert {name: flow.condition for name, flow in flows.items()} == {
        "first": None,
        "second": None,
        "third": "= total < 1",
    }


def test_an_unsupported_event_tells_its_triggers() -> None:
    nodes = {node.id: node for node in read(ORDER.encode()).processes[0].flow_nodes()}

    assert [nodes[i].event_definitions for i in ("pause", "alarm", "new")] == [("timer",), ("signal",), ()]


def test_attributes_of_other_namespaces_are_left_out() -> None:
    process = read(ORDER.encode()).processes[0]

    assert process.elements[0].markup.attributes == {"id": "begin"}


@pytest.mark.parametrize("prefix", ["", "b", "semantic"])
def test_any_prefix_may_stand_for_the_namespaces(prefix: str) -> None:
    declared, tag = (f"xmlns:{prefix}", f"{prefix}:") if prefix else ("xmlns", "")
    xml = (
        f'<{tag}definitions {declared}="{BPMN}" xmlns:z="http://camunda.org/schema/zeebe/1.0">'
        f'<{tag}process id="p"><{tag}serviceTask id="charge"><{tag}extensionElements>'
        f'<z:taskDefinition type="charge"/></{tag}extensionElements></{tag}serviceTask></{tag}process>'
        f"</{tag}definitions>"
    )

    task = next(read(xml.encode()).processes[0].flow_nodes())

    assert isinstance(task, ServiceTask)
    assert [found.tag for found in task.markup.descendants()] == ["extensionElements", "zeebe:taskDefinition"]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "iso-8859-1", "windows-1252"]
)
def test_a_file_may_use_any_declared_encoding(encoding: str) -> None:
    xml = ORDER.replace("UTF-8", encoding.removesuffix("-sig")).encode(encoding)

    assert read(xml).processes[0].name == "Größe"


@pytest.mark.parametrize(
    ("written", "read_as"), [("true", True), ("1", True), ("false", False), ("yes", False)]
)
def test_is_executable_is_an_xml_boolean(written: str, read_as: bool) -> None:  # noqa: FBT001 - a table's column
    xml = f'<definitions xmlns="{BPMN}"><process id="p" isExecutable="{written}"/></definitions>'

    assert read_as is read(xml.encode()).processes[0].is_executable
