import json
from typing import Any

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from edge.config import Release
from edge.contract import routes
from edge.transcode import encoder_of
from gnomon.engine.v1 import (
    deployment_service_pb2,
    history_service_pb2,
    incident_service_pb2,
    job_service_pb2,
    process_definition_service_pb2,
    topology_service_pb2,
    variable_service_pb2,
)
from tests.edge.sample import ROUTES, Everything

RESPONSES = {route.operation_id: route.policy.response for route in routes()}
CONTRACT = {route.operation_id: encoder_of(route) for route in routes()}
SAMPLE = {name: encoder_of(route) for name, route in ROUTES.items()}


def encoded(message: Message, operation: str = "send") -> Any:
    text = (SAMPLE.get(operation) or CONTRACT[operation])(message)
    assert text is not None
    return json.loads(text)


def test_an_empty_message_has_every_member() -> None:
    assert encoded(Everything()) == {
        "key": "0",
        "long": 0,
        "short": 0,
        "unsigned": 0,
        "doubleValue": 0.0,
        "flag": False,
        "text": "",
        "color": "UNSPECIFIED",
        "moment": None,
        "binary": "",
        "object": {},
        "value": None,
        "inner": None,
        "maybeKey": None,
        "maybeObject": None,
        "maybeColor": None,
        "texts": [],
        "keys": [],
        "inners": [],
        "objects": [],
        "labels": {},
        "filter": None,
        "from": "",
    }


@pytest.mark.parametrize(
    ("member", "message", "expected"),
    [
        ("key", Everything(key=2**63 - 1), "9223372036854775807"),
        ("long", Everything(long=-(2**63)), -(2**63)),
        ("unsigned", Everything(unsigned=2**64 - 1), 2**64 - 1),
        ("text", Everything(text='é"\n'), 'é"\n'),
        ("color", Everything(color=2), "DARK_BLUE"),
        ("color", Everything(color=99), "UNSPECIFIED"),
        ("binary", Everything(binary=b"\x00\x01\xff"), "AAH/"),
        ("object", Everything(object=b'{"a": 1}'), {"a": 1}),
        ("value", Everything(value=b"[1]"), [1]),
        ("inner", Everything(inner={}), {"text": "", "count": 0}),
        ("maybeKey", Everything(maybe_key=0), "0"),
        ("maybeObject", Everything(maybe_object=b""), {}),
        ("maybeColor", Everything(maybe_color=0), "UNSPECIFIED"),
        ("keys", Everything(keys=[1, 2]), ["1", "2"]),
        ("inners", Everything(inners=[{"count": 1}]), [{"text": "", "count": 1}]),
        ("objects", Everything(objects=[b'{"a":1}', b""]), [{"a": 1}, {}]),
        ("labels", Everything(labels={"b": "2", "a": "1"}), {"a": "1", "b": "2"}),
        ("filter", Everything(filter={"eq": 1, "in": [2]}), {"$eq": "RED", "$in": ["DARK_BLUE"]}),
        ("from", Everything(**{"from": "here"}), "here"),
    ],
)
def test_a_member_has_the_documented_form(member: str, message: Message, expected: object) -> None:
    assert encoded(message)[member] == expected


@pytest.mark.parametrize(
    ("seconds", "nanos", "expected"),
    [
        (0, 0, "1970-01-01T00:00:00.000Z"),
        (1704067200, 123_999_999, "2024-01-01T00:00:00.123Z"),
        (-1, 999_000_000, "1969-12-31T23:59:59.999Z"),
        (-62135596800, 0, "0001-01-01T00:00:00.000Z"),
        (253402300799, 999_999_999, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_date_time_is_utc_with_milliseconds(seconds: int, nanos: int, expected: str) -> None:
    assert encoded(Everything(moment=Timestamp(seconds=seconds, nanos=nanos)))["moment"] == expected


def test_free_form_json_is_passed_on_unchanged() -> None:
    text = b'{"n": 9007199254740993, "d": 0.10, "n": 1e400}'

    assert text in (SAMPLE["send"](Everything(object=text)) or b"")


def test_an_entity_has_every_documented_member() -> None:
    answer = incident_service_pb2.SearchIncidentsResponse()
    answer.items.add(incident_key=1, job_key=2, error_type=8, state=1, creation_time=Timestamp(seconds=1))
    answer.page.total_items = 1

    assert encoded(answer, "searchIncidents") == {
        "items": [
            {
                "incidentKey": "1",
                "processDefinitionId": "",
                "processDefinitionKey": "0",
                "processInstanceKey": "0",
                "rootProcessInstanceKey": None,
                "elementId": "",
                "elementInstanceKey": "0",
                "jobKey": "2",
                "errorType": "JOB_NO_RETRIES",
                "errorMessage": None,
                "creationTime": "1970-01-01T00:00:01.000Z",
                "state": "ACTIVE",
                "tenantId": "",
            }
        ],
        "page": {"totalItems": 1, "hasMoreTotalItems": False, "startCursor": None, "endCursor": None},
    }


@pytest.mark.parametrize(
    ("operation", "message", "expected"),
    [
        pytest.param("failJob", job_service_pb2.FailJobResponse(), None, id="nothing"),
        pytest.param(
            "listObjects", Everything(objects=[b'{"a":1}', b"{}"]), b'[{"a":1},{}]', id="list of objects"
        ),
        pytest.param("putInner", ROUTES["putInner"].policy.response(), None, id="nothing but a status"),
        pytest.param("listObjects", Everything(), b"[]", id="empty list"),
        pytest.param("getMaybe", Everything(), None, id="unset optional field"),
        pytest.param("getMaybe", Everything(maybe_object=b'{"a":1}'), b'{"a":1}', id="set optional field"),
        pytest.param("getText", Everything(text="é"), '"é"'.encode(), id="string"),
        pytest.param("getValue", Everything(value=b" 1 "), b" 1 ", id="any value"),
        pytest.param(
            "getProcessDefinitionXML",
            process_definition_service_pb2.GetProcessDefinitionXmlResponse(xml="<a>é</a>"),
            "<a>é</a>".encode(),
            id="text",
        ),
        pytest.param(
            "getFlowNodeStatistics",
            history_service_pb2.GetFlowNodeStatisticsResponse(flow_nodes=[{"element_id": "a", "active": 2}]),
            b'[{"elementId":"a","active":2,"completed":0,"canceled":0,"incidents":0}]',
            id="list of messages",
        ),
    ],
)
def test_an_answer_can_be_one_field(operation: str, message: Message, expected: bytes | None) -> None:
    encode = SAMPLE.get(operation) or CONTRACT[operation]

    assert encode(message) == expected


def test_a_message_can_be_the_answer_as_a_whole() -> None:
    answer = variable_service_pb2.GetVariableResponse(
        variable={"name": "total", "value": "1", "variable_key": 9}
    )

    found = encoded(answer, "getVariable")

    assert (found["name"], found["value"], found["variableKey"]) == ("total", "1", "9")


def test_only_the_member_that_is_set_is_not_null() -> None:
    answer = deployment_service_pb2.CreateDeploymentResponse(deployments=[{"form": {"form_id": "f"}}])

    found = encoded(answer, "createDeployment")["deployments"][0]

    assert [name for name, value in found.items() if value is not None] == ["form"]


@pytest.mark.parametrize(
    ("operation", "items", "member", "expected"),
    [
        ("searchJobs", "items", "listenerEventType", "UNSPECIFIED"),
        ("searchJobs", "items", "customHeaders", {}),
        ("activateJobs", "jobs", "userTask", None),
        ("activateJobs", "jobs", "variables", {}),
        ("searchElementInstances", "items", "endDate", None),
    ],
)
def test_entities_of_the_contract_print_absence(
    operation: str, items: str, member: str, expected: object
) -> None:
    answer = RESPONSES[operation](**{items: [{}]})

    assert encoded(answer, operation)[items][0][member] == expected


@pytest.mark.parametrize(
    ("release", "broker", "partition"),
    [
        pytest.param(Release.CAMUNDA_8_9, {}, {}, id="8.9"),
        pytest.param(Release.CAMUNDA_8_10, {"brokerId": "0"}, {"state": "active"}, id="8.10"),
    ],
)
def test_an_answer_has_the_members_of_its_release(
    release: Release, broker: dict[str, str], partition: dict[str, str]
) -> None:
    (route,) = [route for route in routes() if route.operation_id == "getTopology"]
    node = topology_service_pb2.BrokerInfo(
        broker_id="0", partitions=[topology_service_pb2.Partition(partition_id=1, role="leader")]
    )

    text = encoder_of(route, release)(topology_service_pb2.GetTopologyResponse(brokers=[node]))

    (found,) = json.loads(text or b"")["brokers"]
    assert found == {
        "nodeId": 0,
        "host": "",
        "port": 0,
        "partitions": [{"partitionId": 1, "role": "leader", "health": "", **partition}],
        "version": "",
        **broker,
    }
