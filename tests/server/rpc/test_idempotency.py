"""A command that is repeated with its key has its effect once."""

import asyncio

import pytest

from server.bpmn.builder import process
from server.platform.errors import IdempotencyConflict, InvalidArgument, NotFound, PermissionDenied
from tests.server.rpc.caller import Caller

ORDER = process("order").start().service_task("charge", type="charge").end()


@pytest.fixture(autouse=True)
async def deployed(caller: Caller) -> None:
    await caller.deploy(ORDER)


async def _count(caller: Caller) -> int:
    return int((await caller("SearchProcessInstances")).page.total_items)


async def test_a_repeat_gets_the_first_answer(caller: Caller) -> None:
    keyed = caller.with_key("k-1")

    first, second = await keyed.start("order"), await keyed.start("order")

    assert first == second
    assert await _count(caller) == 1


async def test_repeats_that_come_at_once_wait_for_the_first(caller: Caller) -> None:
    keyed = caller.with_key("k-1")

    keys = await asyncio.gather(*(keyed.start("order") for _ in range(50)))

    assert len(set(keys)) == 1
    assert await _count(caller) == 1


async def test_a_completed_job_stays_completed_however_often_it_is_said(caller: Caller) -> None:
    await caller.start("order")
    (job,) = await caller.activate("charge")
    keyed = caller.with_key("k-1")

    for _ in range(3):
        await keyed("CompleteJob", job_key=job.job_key, variables=b'{"paid":true}')

    with pytest.raises(NotFound):
        await caller("CompleteJob", job_key=job.job_key)


async def test_another_request_under_the_same_key_is_a_conflict(caller: Caller) -> None:
    keyed = caller.with_key("k-1")
    await keyed.start("order")

    with pytest.raises(IdempotencyConflict):
        await keyed.start("order", b'{"a":1}')

    assert await _count(caller) == 1


async def test_another_command_under_the_same_key_is_a_conflict(caller: Caller) -> None:
    keyed = caller.with_key("k-1")
    instance = await keyed.start("order")

    with pytest.raises(IdempotencyConflict):
        await keyed("CancelProcessInstance", process_instance_key=instance)


async def test_tenants_choose_their_keys_apart(caller: Caller) -> None:
    stranger = caller.signed_in_as("stranger")
    await stranger.deploy(ORDER)

    own = await caller.with_key("k-1").start("order")
    other = await stranger.with_key("k-1").start("order")

    assert own != other


async def test_another_client_of_the_tenant_gets_the_first_answer(caller: Caller) -> None:
    successor = caller.signed_in_as("traveller", ("x-tenant-id", "default"))

    first = await caller.with_key("k-1").start("order", b'{"a":1}')
    repeated = await successor.with_key("k-1").start("order", b'{"a":1}')

    assert repeated == first
    assert await _count(caller) == 1


async def test_a_client_without_the_permission_gets_no_answer_of_another(caller: Caller) -> None:
    await caller.with_key("k-1").start("order")

    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader").with_key("k-1").start("order")


async def test_variables_in_another_order_are_another_request(caller: Caller) -> None:
    keyed = caller.with_key("k-1")
    await keyed.start("order", b'{"a":1,"b":2}')

    with pytest.raises(IdempotencyConflict):
        await keyed.start("order", b'{"b":2,"a":1}')


async def test_a_refused_command_is_handled_anew(caller: Caller) -> None:
    keyed = caller.with_key("k-1")
    with pytest.raises(NotFound):
        await keyed.start("later")

    await caller.deploy(process("later").start().end())

    assert await keyed.start("later") > 0


async def test_a_caller_that_goes_away_finds_the_answer_when_it_comes_back(caller: Caller) -> None:
    keyed = caller.with_key("k-1")
    leaving = asyncio.ensure_future(keyed.start("order"))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)

    await keyed.start("order")

    assert await _count(caller) == 1


@pytest.mark.parametrize("key", ["", "k" * 201])
async def test_a_key_out_of_bounds_is_malformed_on_every_channel(caller: Caller, key: str) -> None:
    with pytest.raises(InvalidArgument):
        await caller.with_key(key).start("order")

    assert await _count(caller) == 0
