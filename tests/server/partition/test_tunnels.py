"""Tunnels to other processes, as these come and go."""

import asyncio

import pytest

from server.partition.tunnels import Tunnels
from server.platform.errors import Unavailable
from tests.server.platform.tunnel.harness import Caller, Desk, Waiting, serving
from tests.waits import until


async def test_a_call_to_a_process_that_goes_away_is_answered() -> None:
    desk, waiting = Desk(), Waiting()
    desk.serve = waiting
    async with serving(desk) as address, Tunnels() as tunnels, asyncio.TaskGroup() as tasks:
        tunnels.keep([address])
        call = tasks.create_task(Caller(tunnels.find(address)).create("order"))
        await until(lambda: waiting.begun == 1)

        tunnels.keep(())
        with pytest.raises(Unavailable, match="the partition's owner has gone"):
            tunnels.find(address)
        waiting.let_go.set()

        assert (await call).process_definition_id == "order"
    assert waiting.cut_off == 0


async def test_the_end_of_a_process_waits_for_no_answer() -> None:
    desk, waiting = Desk(), Waiting()
    desk.serve = waiting

    async def call(caller: Caller) -> None:
        with pytest.raises(Unavailable, match="the connection to the service broke"):
            await caller.create("order")

    async with serving(desk) as address, asyncio.TaskGroup() as tasks, Tunnels() as tunnels:
        tunnels.keep([address])
        tasks.create_task(call(Caller(tunnels.find(address))))
        await until(lambda: waiting.begun == 1)
        tunnels.keep(())
