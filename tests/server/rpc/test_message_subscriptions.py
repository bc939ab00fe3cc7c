"""Searches of message subscriptions, over every channel and in every mode."""

from typing import Any

import pytest

from gnomon.engine.v1 import message_subscription_pb2 as pb
from server.bpmn.builder import process
from server.platform.errors import InvalidArgument
from tests.server.rpc.caller import Caller

WAITING = (
    process("order", name="Order")
    .start_message("begin", message="begin")
    .message_catch("wait", message="paid", key="=id")
    .end()
)

CREATED = pb.MESSAGE_SUBSCRIPTION_STATE_CREATED
CORRELATED = pb.MESSAGE_SUBSCRIPTION_STATE_CORRELATED


@pytest.fixture
async def keys(caller: Caller) -> tuple[int, int]:
    """Of two process instances; the first one got its message."""
    await caller.deploy(WAITING)
    first, second = [
        (
            await caller(
                "CorrelateMessage", name="begin", correlation_key=key, variables=f'{{"id": "{key}"}}'.encode()
            )
        ).process_instance_key
        for key in ("a", "b")
    ]
    await caller("CorrelateMessage", name="paid", correlation_key="a")
    return int(first), int(second)


async def ids(caller: Caller, **wanted: Any) -> list[str]:
    found = await caller("SearchMessageSubscriptions", filter=wanted, sort=[{"field": "elementId"}])
    assert found.page.total_items == len(found.items)
    return [item.element_id for item in found.items]


async def test_subscriptions_are_found_by_their_properties(caller: Caller, keys: tuple[int, int]) -> None:
    first, second = keys
    everything = await caller("SearchMessageSubscriptions", sort=[{"field": "lastUpdatedDate"}])
    assert len(everything.items) == 3
    of_first = {"process_instance_key": {"eq": first}}
    (item,) = (await caller("SearchMessageSubscriptions", filter=of_first)).items

    assert item.message_subscription_state == CORRELATED
    assert (item.root_process_instance_key, item.process_definition_name) == (first, "Order")
    assert await ids(caller, message_subscription_state={"eq": CREATED}) == ["begin", "wait"]
    assert await ids(caller, process_instance_key={"exists": False}) == ["begin"]
    assert await ids(caller, correlation_key={"eq": "b"}, message_name={"like": "p*"}) == ["wait"]
    assert await ids(caller, element_instance_key={"eq": item.element_instance_key}) == ["wait"]
    assert await ids(caller, message_subscription_key={"in": [item.message_subscription_key]}) == ["wait"]
    assert await ids(caller, process_definition_key={"eq": second}) == []


async def test_correlated_messages_are_found_by_their_properties(
    caller: Caller, keys: tuple[int, int]
) -> None:
    async def found(**wanted: Any) -> list[Any]:
        sort = [{"field": "messageKey"}]
        return list((await caller("SearchCorrelatedMessageSubscriptions", filter=wanted, sort=sort)).items)

    first, _ = keys
    begun, caught = await found(process_instance_key={"eq": first})

    assert (begun.element_id, begun.HasField("element_instance_key")) == ("begin", False)
    assert (caught.element_id, caught.correlation_key, caught.message_name) == ("wait", "a", "paid")
    assert caught.partition_id == first >> 51
    assert await found(message_key={"eq": caught.message_key}) == [caught]
    assert await found(subscription_key={"eq": caught.subscription_key}) == [caught]
    assert await found(partition_id={"eq": caught.partition_id}, element_id={"eq": "wait"}) == [caught]
    assert await found(partition_id={"gt": 1000}) == []
    assert await found(correlation_key={"eq": "c"}) == []


async def test_another_tenant_finds_nothing(caller: Caller, keys: tuple[int, int]) -> None:  # noqa: ARG001  # it waits
    stranger = caller.signed_in_as("stranger")

    for search in ("SearchMessageSubscriptions", "SearchCorrelatedMessageSubscriptions"):
        assert (await stranger(search)).page.total_items == 0


async def test_orders_are_those_of_the_contract(caller: Caller) -> None:
    with pytest.raises(InvalidArgument):
        await caller("SearchMessageSubscriptions", sort=[{"field": "isOpen"}])
