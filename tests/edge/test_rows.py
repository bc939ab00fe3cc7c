"""The JSON of a row is that of the message which the servicer would have made of it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from types import NoneType
from typing import Any, cast, get_args, get_type_hints

import orjson
import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from edge.config import Release
from edge.contract import routes
from edge.transcode import ItemRows, item_of, page_encoder_of
from edge.transcode.answers import members_of
from edge.transcode.rows import instant
from gnomon.engine.v1 import incident_service_pb2 as pb
from gnomon.engine.v1 import message_subscription_service_pb2 as subscriptions
from gnomon.engine.v1 import variable_service_pb2 as variables
from server.engine.keys import Key
from server.platform.call import Call, TenantId
from server.platform.mapping import mapper, spellings
from server.rpc.message_subscription import MessageSubscriptionMatch, MessageSubscriptionServicer
from server.rpc.reads import search
from server.rpc.variable import ClusterVariableMatch, VariableMatch, VariableServicer
from server.store.entities import Incident, MessageSubscription, Variable
from server.store.memory import MemoryStore
from server.store.ports import Batch, Insert
from server.store.searchables import INCIDENTS, SEARCHABLES
from tests.edge.harness import running
from tests.python_calls import python_calls

PAGES = {item.full_name: route for route in routes() if (item := item_of(route)) is not None}
KEYS = st.integers(1, 2**63 - 1)
MOMENTS = st.datetimes(timezones=st.just(UTC))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SINGLES: Mapping[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(0, 2**31 - 1),
    bool: st.booleans(),
    bytes: st.just(b'{"a": 1}') | st.just(b""),
    datetime: MOMENTS,
}


def _pairs() -> Iterator[Any]:
    """Every entity, and everything else that servicers show of one, with every item that has its fields."""
    for kind in [*SEARCHABLES, VariableMatch, ClusterVariableMatch, MessageSubscriptionMatch]:
        for name, route in PAGES.items():
            item = item_of(route)
            assert item is not None
            try:
                mapper(kind, GetMessageClass(item), ignored=_derived(kind))
            except TypeError:
                continue
            yield pytest.param(kind, item, id=f"{kind.__name__}-{name.rpartition('.')[2]}")


def _derived(kind: type) -> frozenset[str]:
    found = [searchable for entity, searchable in SEARCHABLES.items() if issubclass(kind, entity)]
    return frozenset(name for searchable in found for name in searchable.derived)


def _rows(entity: type, item: Descriptor) -> st.SearchStrategy[Any]:
    hints = get_type_hints(entity)
    return st.builds(entity, **{name: _values(hint, item, name) for name, hint in hints.items()})


def _values(hint: Any, item: Descriptor, name: str) -> st.SearchStrategy[Any]:
    options = get_args(hint)
    if NoneType in options:
        return st.none() | _values(options[0], item, name)
    field = item.fields_by_name.get(name)
    if field is not None and field.enum_type is not None and hint is str:
        return st.sampled_from(sorted(spellings(field.enum_type).values()))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    if options and hint.__origin__ is tuple:
        return st.lists(_values(options[0], item, name), max_size=3).map(tuple)
    if options:
        return st.dictionaries(TEXTS, TEXTS, max_size=3)
    return SINGLES.get(hint, KEYS)


PAIRS = list(_pairs())


def test_every_entity_that_is_an_item_is_compared() -> None:
    assert len({pair.values[1].full_name for pair in PAIRS}) >= 12
    assert {VariableMatch, ClusterVariableMatch, MessageSubscriptionMatch} <= {
        pair.values[0] for pair in PAIRS
    }


@pytest.mark.parametrize("release", Release)
@pytest.mark.parametrize(("entity", "item"), PAIRS)
@given(data=st.data())
def test_a_row_has_the_json_of_its_message(
    entity: type, item: Descriptor, release: Release, data: st.DataObject
) -> None:
    row = data.draw(_rows(entity, item))
    rows = ItemRows(item, release)

    rows.receive(entity, [row])

    message = mapper(entity, GetMessageClass(item), ignored=_derived(entity))(row)
    assert orjson.dumps(rows.items) == orjson.dumps([members_of(item, release)(message)])


@pytest.mark.parametrize("transport", ["local", "grpc"])
async def test_an_edge_in_the_process_of_the_servicer_takes_rows(transport: str) -> None:
    store = MemoryStore(10)
    await store.commit(Batch(changes=[Insert(_incident(number)) for number in range(1, 4)]))

    async def search_incidents(request: Message, call: Call) -> Message:
        call.tenant_id = TenantId("acme")
        return await search(store, INCIDENTS, request, pb.SearchIncidentsResponse, call)

    async with running(transport) as edge:
        edge.servicers.answers["search_incidents"] = search_incidents
        reply = await edge.post_json("/v2/incidents/search", '{"page": {"limit": 2}}')

    assert [call.rows is not None for call in edge.servicers.calls] == [transport == "local"]
    assert reply.status == 200
    found = orjson.loads(reply.body)
    assert found["page"]["totalItems"] == 3
    assert [each["incidentKey"] for each in found["items"]] == ["1", "2"]
    assert {each["creationTime"] for each in found["items"]} == {"2026-01-01T00:00:00.000Z"}


@pytest.mark.parametrize("transport", ["local", "grpc"])
async def test_long_values_are_cut_for_callers_that_take_rows_too(transport: str) -> None:
    store = MemoryStore(10)
    await store.commit(Batch(changes=[Insert(_variable(1, "a" * 8191)), Insert(_variable(2, "a" * 8192))]))

    async def search_variables(request: Message, call: Call) -> Message:
        call.tenant_id = TenantId("acme")
        return await VariableServicer(store).search_variables(
            cast("variables.SearchVariablesRequest", request), call
        )

    async def found(body: str, parameters: str = "") -> list[tuple[int, bool]]:
        reply = await edge.post_json(f"/v2/variables/search{parameters}", body)
        return [(len(each["value"]), each["isTruncated"]) for each in orjson.loads(reply.body)["items"]]

    async with running(transport) as edge:
        edge.servicers.answers["search_variables"] = search_variables

        assert await found("{}") == [(8191, False), (8191, True)]
        assert await found("{}", "?truncateValues=false") == [(8191, False), (8192, False)]
        assert await found('{"filter": {"isTruncated": true}}') == [(8191, True)]
    assert {call.rows is not None for call in edge.servicers.calls} == {transport == "local"}


@pytest.mark.parametrize("transport", ["local", "grpc"])
async def test_properties_of_tools_are_shown_to_callers_that_take_rows_too(transport: str) -> None:
    store = MemoryStore(10)
    await store.commit(
        Batch(changes=[Insert(_subscription({"io.camunda.tool:name": "pay", "color": "red"}))])
    )

    async def search_subscriptions(request: Message, call: Call) -> Message:
        call.tenant_id = TenantId("acme")
        servicer = MessageSubscriptionServicer(store)
        wanted = cast("subscriptions.SearchMessageSubscriptionsRequest", request)
        return await servicer.search_message_subscriptions(wanted, call)

    async with running(transport, release=Release.CAMUNDA_8_10) as edge:
        edge.servicers.answers["search_message_subscriptions"] = search_subscriptions
        reply = await edge.post_json("/v2/message-subscriptions/search", "{}")

    (item,) = orjson.loads(reply.body)["items"]
    assert item["toolProperties"] == {"io.camunda.tool:name": "pay"}
    assert item["extensionProperties"] == {"io.camunda.tool:name": "pay", "color": "red"}


def test_an_item_costs_one_call_and_another_for_each_moment() -> None:
    route = PAGES["gnomon.engine.v1.Incident"]
    item = item_of(route)
    assert item is not None
    rows, incidents = ItemRows(item, Release.CAMUNDA_8_9), [_incident(number) for number in range(1, 101)]
    response, encode = pb.SearchIncidentsResponse(), page_encoder_of(route, Release.CAMUNDA_8_9)
    rows.receive(Incident, incidents[:1])

    with python_calls() as calls:
        rows.receive(Incident, incidents)
        encode(response, rows)

    assert calls.count <= 2 * len(incidents) + 10


def _incident(key: int) -> Incident:
    return Incident(
        incident_key=Key(key),
        tenant_id="acme",
        process_definition_key=Key(1),
        process_definition_id="order",
        process_instance_key=Key(2),
        element_id="task",
        element_instance_key=Key(3),
        job_key=None,
        error_type="JOB_NO_RETRIES",
        error_message="the printer burns",
        creation_time=datetime(2026, 1, 1, tzinfo=UTC),
    )


def _variable(key: int, value: str) -> Variable:
    return Variable(
        variable_key=Key(key),
        tenant_id="acme",
        name=f"variable-{key}",
        scope_key=Key(1),
        process_instance_key=Key(1),
        value=value,
    )


def _subscription(properties: Mapping[str, str]) -> MessageSubscription:
    return MessageSubscription(
        message_subscription_key=Key(7),
        tenant_id="acme",
        process_definition_key=Key(1),
        process_definition_id="order",
        process_definition_name=None,
        process_definition_version=1,
        element_id="wait",
        message_name="paid",
        last_updated_date=datetime(2026, 1, 1, tzinfo=UTC),
        extension_properties=properties,
    )


def test_a_moment_of_another_zone_is_in_utc() -> None:
    noon = datetime(2026, 1, 1, 12, 0, 0, 123_999, timezone(timedelta(hours=2)))

    assert orjson.dumps(instant(noon)) == b'"2026-01-01T10:00:00.123Z"'


def test_a_servicer_may_make_messages_although_rows_are_taken() -> None:
    route = PAGES["gnomon.engine.v1.Incident"]
    item = item_of(route)
    assert item is not None
    response = route.policy.response(items=[{"incident_key": 7}], page={"total_items": 1})
    encode = page_encoder_of(route, Release.CAMUNDA_8_9)

    found = orjson.loads(encode(response, ItemRows(item, Release.CAMUNDA_8_9)))

    assert [each["incidentKey"] for each in found["items"]] == ["7"]
