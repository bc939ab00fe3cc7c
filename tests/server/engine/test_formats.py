"""Features wait until all nodes have the format that introduces them."""

from dataclasses import fields
from typing import get_args

import pytest

from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.bpmn.executable import Element, ElementType
from server.engine import documents
from server.engine.commands import Command
from server.engine.formats import (
    COMMAND_FEATURES,
    ELEMENT_FEATURES,
    FIELD_FEATURES,
    FORMATS,
    INTRODUCED_IN,
    LATEST,
    WIRE_FORMAT,
    ClusterFormat,
    Feature,
)
from server.engine.rejection import Rejected, RejectionType
from tests.server.engine.scenario import Scenario

# Earlier than every format that there is, so that it lacks every feature.
NONE = ClusterFormat(0, laggard="node-7")


def test_every_element_type_has_the_feature_that_it_belongs_to() -> None:
    assert set(ElementType) == set(ELEMENT_FEATURES)


def test_every_command_has_the_feature_that_it_belongs_to() -> None:
    assert set(get_args(Command)) == set(COMMAND_FEATURES)


def test_every_feature_is_introduced_by_a_format_of_this_program() -> None:
    assert set(Feature) == set(INTRODUCED_IN)
    assert set(INTRODUCED_IN.values()) <= {each.number for each in FORMATS}


def test_formats_are_numbered_without_gaps_and_their_layouts_never_go_back() -> None:
    assert [each.number for each in FORMATS] == list(range(1, LATEST + 1))
    assert [each.wire for each in FORMATS] == sorted(each.wire for each in FORMATS)
    assert [each.documents for each in FORMATS] == sorted(each.documents for each in FORMATS)


def test_the_latest_format_has_the_layouts_that_this_program_writes() -> None:
    assert (FORMATS[-1].wire, FORMATS[-1].documents) == (WIRE_FORMAT, documents.FORMAT)


def test_commands_are_written_in_the_wire_format_that_all_nodes_read() -> None:
    assert [each.wire for each in FORMATS] == [ClusterFormat(each.number).wire for each in FORMATS]
    assert ClusterFormat(LATEST + 5).wire == WIRE_FORMAT


def test_a_process_with_an_element_that_a_node_cannot_run_is_refused_by_name() -> None:
    scenario = Scenario()
    scenario.state.format = NONE

    with pytest.raises(Rejected) as refusal:
        scenario.deploy(process("order").service_task("charge", type="charge").end())

    assert refusal.value.type is RejectionType.INVALID_STATE
    assert "process order: PROCESS order needs all nodes at format 1" in refusal.value.reason
    assert "node node-7 is at format 0" in refusal.value.reason
    assert scenario.state.definitions == {}


@pytest.mark.parametrize(
    ("model", "part"),
    [
        pytest.param(
            process("order").embed(sub_process("inner").end()).end(), "SUB_PROCESS inner", id="element"
        ),
        pytest.param(
            process("order").service_task("a", type="a").execution_listener("start", type="audit").end(),
            "start_listeners of SERVICE_TASK a",
            id="listener",
        ),
        pytest.param(
            process("order").script_task("sum", expression="=1", result="sum").end(),
            "script of SCRIPT_TASK sum",
            id="script",
        ),
        pytest.param(
            process("order").start_signal("begun", signal="alarm").end(),
            "starts of PROCESS order",
            id="start event",
        ),
        pytest.param(
            process("order").decision_task("rate", decision="rate", result="rate").end(),
            "called_decision of BUSINESS_RULE_TASK rate",
            id="called decision",
        ),
    ],
)
def test_a_process_of_a_later_format_waits_for_the_last_older_node(model: ProcessBuilder, part: str) -> None:
    scenario = Scenario()
    scenario.state.format = ClusterFormat(1, laggard="node-7")

    with pytest.raises(Rejected, match=f"process order: {part} needs all nodes at format 2"):
        scenario.deploy(model)

    scenario.state.format = ClusterFormat(2)
    scenario.deploy(model)


def test_fields_that_need_a_feature_are_fields_or_properties_of_elements() -> None:
    assert set(FIELD_FEATURES) <= {field.name for field in fields(Element)} | vars(Element).keys()


def test_a_process_is_deployed_when_the_last_node_has_the_format() -> None:
    scenario = Scenario()
    scenario.state.format = NONE
    with pytest.raises(Rejected):
        scenario.deploy(process("order").end())

    scenario.state.format = ClusterFormat(1)

    scenario.deploy(process("order").end())
    assert len(scenario.state.definitions) == 1


def test_a_partition_that_is_alone_has_every_feature() -> None:
    assert [ClusterFormat().shortfall(feature, "it") for feature in Feature] == [""] * len(Feature)


def test_changes_of_identity_are_audited_once_all_nodes_read_their_entries() -> None:
    audited = [ClusterFormat(number).has(Feature.AUDITED_IDENTITY) for number in (1, 2)]

    assert audited == [False, True]
