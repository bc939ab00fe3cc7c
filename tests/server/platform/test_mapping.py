from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import NewType

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import job_pb2, process_instance_pb2, variable_pb2
from gnomon.engine.v1.console_service_pb2 import GetStartFormRequest
from gnomon.engine.v1.deployment_service_pb2 import Resource
from gnomon.engine.v1.history_service_pb2 import GetFlowNodeStatisticsResponse
from gnomon.engine.v1.incident_pb2 import IncidentStateFilter
from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesResponse
from gnomon.query.v1.filter_pb2 import DateTimeFilter
from server.platform.mapping import mapper, spellings

RunKey = NewType("RunKey", int)
NOON = datetime(2026, 1, 1, 12, 0, 0, 123_456, UTC)


class State(StrEnum):
    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Has what the contract's process instance has, and more."""

    process_instance_key: RunKey
    process_definition_id: str = "order"
    process_definition_name: str | None = None
    process_definition_version: int = 2
    process_definition_version_tag: str | None = ""
    start_date: datetime = NOON
    end_date: datetime | None = None
    state: State = State.ACTIVE
    has_incident: bool = False
    tenant_id: str = "acme"
    process_definition_key: RunKey = RunKey(7)
    parent_process_instance_key: RunKey | None = None
    parent_element_instance_key: RunKey | None = RunKey(0)
    root_process_instance_key: RunKey | None = None
    tags: tuple[str, ...] = ()
    business_id: str | None = None
    colour: str = "red"


def test_fields_of_equal_names_are_carried_over() -> None:
    run = Run(process_instance_key=RunKey(1 << 62), tags=("x", "y"), state=State.COMPLETED, has_incident=True)

    message = mapper(Run, process_instance_pb2.ProcessInstance)(run)

    expected = process_instance_pb2.ProcessInstance(
        process_instance_key=1 << 62,
        process_definition_id="order",
        process_definition_version=2,
        process_definition_version_tag="",
        start_date=Timestamp(seconds=1767268800, nanos=123_456_000),
        state=process_instance_pb2.PROCESS_INSTANCE_STATE_COMPLETED,
        has_incident=True,
        tenant_id="acme",
        process_definition_key=7,
        parent_element_instance_key=0,
        tags=["x", "y"],
    )
    assert expected == message


def test_none_stays_unset_and_an_empty_value_is_set() -> None:
    message = mapper(Run, process_instance_pb2.ProcessInstance)(Run(process_instance_key=RunKey(1)))

    unset = ("process_definition_name", "end_date", "parent_process_instance_key", "business_id")
    assert not any(message.HasField(name) for name in unset)
    assert message.HasField("process_definition_version_tag")
    assert message.HasField("parent_element_instance_key")


@dataclass(frozen=True, slots=True)
class Moment:
    eq: datetime | None = None


@pytest.mark.parametrize(
    ("moment", "seconds", "nanos"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0, 0),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), -1, 999_999_000),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC), 253402300799, 999_999_000),
        (datetime(1, 1, 1, tzinfo=UTC), -62135596800, 0),
        (datetime(1970, 1, 1, 2, microsecond=1, tzinfo=timezone(timedelta(hours=2))), 0, 1000),
    ],
    ids=str,
)
def test_instants_become_timestamps_exactly(moment: datetime, seconds: int, nanos: int) -> None:
    rest = frozenset(DateTimeFilter.DESCRIPTOR.fields_by_name) - {"eq"}

    message = mapper(Moment, DateTimeFilter, ignored=rest)(Moment(eq=moment))

    assert message.HasField("eq")
    assert (seconds, nanos) == (message.eq.seconds, message.eq.nanos)


@dataclass(frozen=True, slots=True)
class Choice:
    not_in: tuple[State, ...] = ()
    eq: str | None = None


FILTER_REST = frozenset({"neq", "exists", "in", "like", "gt", "gte", "lt", "lte"})


def test_enums_are_found_by_their_spelling() -> None:
    convert = mapper(Choice, process_instance_pb2.ProcessInstanceStateFilter, ignored=FILTER_REST)

    message = convert(Choice(not_in=(State.COMPLETED, State.ACTIVE), eq="TERMINATED"))

    expected = process_instance_pb2.ProcessInstanceStateFilter(
        not_in=[
            process_instance_pb2.PROCESS_INSTANCE_STATE_COMPLETED,
            process_instance_pb2.PROCESS_INSTANCE_STATE_ACTIVE,
        ],
        eq=process_instance_pb2.PROCESS_INSTANCE_STATE_TERMINATED,
    )
    assert expected == message


@dataclass(frozen=True, slots=True)
class Work:
    custom_headers: Mapping[str, str] = field(default_factory=dict)
    listener_event_type: str = "UNSPECIFIED"


def test_mappings_become_maps_and_the_zero_value_has_a_spelling() -> None:
    rest = frozenset(job_pb2.Job.DESCRIPTOR.fields_by_name) - {"custom_headers", "listener_event_type"}

    message = mapper(Work, job_pb2.Job, ignored=rest)(Work({"currency": "EUR"}))

    assert job_pb2.Job(custom_headers={"currency": "EUR"}) == message


@dataclass(frozen=True, slots=True)
class File:
    name: str
    content: bytes


def test_bytes_are_carried_over() -> None:
    assert Resource(name="a", content=b"\x00") == mapper(File, Resource)(File("a", b"\x00"))


def test_a_message_is_made_in_place() -> None:
    response = SearchProcessInstancesResponse()

    mapper(Run, process_instance_pb2.ProcessInstance)(Run(process_instance_key=RunKey(5)), response.items.add)

    assert [item.process_instance_key for item in response.items] == [5]


def test_a_mapper_is_compiled_once() -> None:
    message = process_instance_pb2.ProcessInstance

    assert mapper(Run, message) is mapper(Run, message)


@dataclass(frozen=True, slots=True)
class Match:
    name: str
    tenant_id: str
    variable_key: int
    scope_key: int
    process_instance_key: int
    value: str
    root_process_instance_key: int | None = None


def test_an_ignored_field_may_be_missing() -> None:
    match = Match("n", "acme", 1, 2, 3, "4")

    message = mapper(Match, variable_pb2.VariableMatch, ignored=frozenset({"is_truncated"}))(match)

    assert (message.value, message.is_truncated) == ("4", False)


def made(**annotations: object) -> type:
    return make_dataclass("Made", annotations.items())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param(made(name=str), Resource, id="a field is missing"),
        pytest.param(made(name=int, content=bytes), Resource, id="an integer for a text"),
        pytest.param(made(name=str, content=str), Resource, id="a text for bytes"),
        pytest.param(made(name=str | int, content=bytes), Resource, id="one of several types"),
        pytest.param(made(process_definition_key=bool), GetStartFormRequest, id="a bool for an integer"),
        pytest.param(
            made(process_definition_key=datetime), GetStartFormRequest, id="an instant for an integer"
        ),
        pytest.param(made(items=str), GetFlowNodeStatisticsResponse, id="one for many"),
        pytest.param(made(items=tuple[str, ...]), GetFlowNodeStatisticsResponse, id="many of another type"),
        pytest.param(made(items=Mapping[str, str]), GetFlowNodeStatisticsResponse, id="a mapping for many"),
        pytest.param(made(items=tuple[int, ...]), SearchProcessInstancesResponse, id="nested messages"),
        pytest.param(Choice, IncidentStateFilter, id="a member that the enum has not"),
    ],
)
def test_fields_that_do_not_agree_are_an_error_when_the_mapper_is_made(
    row: type, message: type[Message]
) -> None:
    with pytest.raises(TypeError, match=message.DESCRIPTOR.full_name):
        mapper(row, message, ignored=FILTER_REST | {"page"})


def test_spellings_leave_the_shared_prefix_out() -> None:
    expected = {0: "UNSPECIFIED", 1: "ACTIVE", 2: "COMPLETED", 3: "TERMINATED"}

    assert expected == spellings(process_instance_pb2.ProcessInstanceState.DESCRIPTOR)
