"""Reads as servicers make them: from a request message to a response message."""

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import incident_pb2, incident_service_pb2, variable_pb2, variable_service_pb2
from server.engine.keys import Key
from server.platform.call import Call, TenantId
from server.platform.errors import InvalidArgument, NotFound
from server.platform.policy import policy_of
from server.platform.query import equals
from server.rpc.reads import found, get, search
from server.store.entities import Incident, Variable
from server.store.ports import Store
from server.store.searchables import INCIDENTS, MAX_VALUE_CHARACTERS, VARIABLES
from tests.server.store.rows import START, TENANT, incident, insert, variable

METHOD = incident_service_pb2.DESCRIPTOR.services_by_name["IncidentService"].methods_by_name[
    "SearchIncidents"
]
Request = incident_service_pb2.SearchIncidentsRequest
Response = incident_service_pb2.SearchIncidentsResponse


@pytest.fixture
def call() -> Call:
    return Call(policy_of(METHOD), Request(), {}, tenant_id=TenantId(TENANT))


async def test_a_search_answers_with_messages_and_where_their_page_stands(store: Store, call: Call) -> None:
    await insert(store, incident(1, 10), incident(2, 10, job_key=Key(5)), incident(3, 10))

    response = await search(store, INCIDENTS, Request(page={"limit": 1, "from": 1}), Response, call)

    expected = incident_pb2.Incident(
        incident_key=2,
        process_definition_id="order",
        process_definition_key=7,
        process_instance_key=10,
        element_id="charge",
        element_instance_key=3,
        job_key=5,
        error_type=incident_pb2.INCIDENT_ERROR_TYPE_JOB_NO_RETRIES,
        error_message="card declined",
        creation_time=Timestamp(seconds=int(START.timestamp())),
        state=incident_pb2.INCIDENT_STATE_ACTIVE,
        tenant_id=TENANT,
    )
    assert [expected] == list(response.items)
    assert response.page.total_items == 3
    assert response.page.start_cursor == response.page.end_cursor != ""


async def test_an_empty_page_has_no_cursors(store: Store, call: Call) -> None:
    response = await search(store, INCIDENTS, Request(), Response, call)

    assert response.HasField("page")
    assert not response.page.HasField("start_cursor")
    assert not response.page.HasField("end_cursor")


async def test_further_conditions_hold_beside_the_filter(store: Store, call: Call) -> None:
    await insert(store, incident(1, 10), incident(2, 20), incident(3, 10, element_id="pay"))

    response = await search(
        store,
        INCIDENTS,
        Request(filter={"element_id": {"eq": "charge"}}),
        Response,
        call,
        also=(equals(INCIDENTS, "process_instance_key", 10),),
    )

    assert [item.incident_key for item in response.items] == [1]


async def test_a_cursor_holds_for_the_same_further_conditions_alone(store: Store, call: Call) -> None:
    await insert(store, incident(1, 10), incident(2, 20))
    of_ten, of_twenty = (equals(INCIDENTS, "process_instance_key", key) for key in (10, 20))
    first = await search(store, INCIDENTS, Request(), Response, call, also=(of_ten,))
    following = Request(page={"after": first.page.end_cursor})

    with pytest.raises(InvalidArgument, match="same filter"):
        await search(store, INCIDENTS, following, Response, call, also=(of_twenty,))


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"tags": ["red"]}, [1, 2]),
        ({"tags": ["red", "test"]}, [2]),
        ({"excluded_tags": ["test"]}, [1, 3]),
        ({"excluded_tags": ["test", "red"]}, [3]),
        ({"tags": ["red"], "excluded_tags": ["test"]}, [1]),
    ],
    ids=str,
)
async def test_incidents_are_found_by_the_tags_of_their_instance(
    store: Store, call: Call, wanted: dict[str, list[str]], expected: list[int]
) -> None:
    await insert(
        store, incident(1, 10, tags=("red",)), incident(2, 10, tags=("test", "red")), incident(3, 10)
    )

    response = await search(store, INCIDENTS, Request(filter=wanted), Response, call)

    assert expected == [item.incident_key for item in response.items]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"is_truncated": True}, [2]),
        ({"is_truncated": False}, [1, 3]),
        ({"value": {"eq": '"a"'}}, [3]),
        ({"value": {"like": '"?"'}}, [3]),
    ],
    ids=str,
)
async def test_variables_are_found_by_their_json_text(
    store: Store, call: Call, wanted: dict[str, object], expected: list[int]
) -> None:
    lengths = (MAX_VALUE_CHARACTERS, MAX_VALUE_CHARACTERS + 1)
    await insert(
        store,
        *(variable(key, 9, "1" * length) for key, length in enumerate(lengths, 1)),
        variable(3, 9, '"a"'),
    )

    response = await search(
        store,
        VARIABLES,
        variable_service_pb2.SearchVariablesRequest(filter=wanted),
        variable_service_pb2.SearchVariablesResponse,
        call,
    )

    assert expected == [item.variable_key for item in response.items]


async def test_one_row_is_read_by_its_key(store: Store, call: Call) -> None:
    await insert(store, variable(3, 9, '"a"'))

    message = await get(store, Variable, 3, call, variable_pb2.Variable)

    expected = variable_pb2.Variable(
        name="amount", tenant_id=TENANT, variable_key=3, scope_key=9, process_instance_key=9, value='"a"'
    )
    assert expected == message


@pytest.mark.parametrize("key", [4, 5], ids=["unknown", "of another tenant"])
async def test_a_row_that_the_tenant_has_not_is_not_found(store: Store, call: Call, key: int) -> None:
    await insert(store, incident(5, 1, tenant_id="other"))

    with pytest.raises(NotFound, match=f"there is no incident with key {key}"):
        await found(store, Incident, key, call)
