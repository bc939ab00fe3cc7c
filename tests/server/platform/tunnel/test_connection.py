"""Connections come and go; a channel stays."""

import asyncio
import logging
import time
from contextlib import suppress

import grpc
import pytest

from server.platform.channels import TunnelChannel, TunnelConfig
from server.platform.errors import Unavailable
from server.platform.grpc_server import GrpcConfig
from server.platform.tunnel.exchange import Stream
from tests.server.platform.tunnel.harness import (
    HOST,
    SECONDS,
    Broken,
    Caller,
    Desk,
    Waiting,
    Wire,
    echo,
    free_port,
    odd_server,
    server_of,
    serving,
    until,
)

PATIENT = TunnelConfig(connect_seconds=SECONDS, max_back_off_seconds=0.1)


async def test_a_call_waits_for_a_server_that_comes_late(desk: Desk) -> None:
    port = free_port()
    async with TunnelChannel(f"{HOST}:{port}", PATIENT) as channel:
        early = asyncio.ensure_future(Caller(channel).create("early"))
        await asyncio.sleep(0)

        async with serving(desk, GrpcConfig(port=port, drain_seconds=0.1)):
            response = await early

    assert response.process_definition_id == "early"


async def test_without_a_server_a_call_is_unavailable() -> None:
    config = TunnelConfig(connect_seconds=0.1)
    async with TunnelChannel(f"{HOST}:{free_port()}", config) as channel:
        with pytest.raises(Unavailable):
            await Caller(channel).create("order")


async def test_a_call_that_waited_for_a_server_until_its_deadline_was_not_sent() -> None:
    """Also where the program was busy at the deadline, so that every timer is due at once."""
    async with TunnelChannel(f"{HOST}:{free_port()}", PATIENT) as channel:
        call = asyncio.ensure_future(Caller(channel).create("order", seconds=0.05))
        await asyncio.sleep(0)

        time.sleep(0.6)  # noqa: ASYNC251  # the busy program

        with pytest.raises(Unavailable) as refusal:
            await call
    assert refusal.value.is_untouched


async def test_the_calls_of_a_server_that_stands_still_are_unavailable(desk: Desk, target: str) -> None:
    desk.serve = waiting = Waiting()
    wire = Wire(target)
    config = TunnelConfig(connect_seconds=0.1, silence_seconds=0.2)
    async with wire.laid() as near, TunnelChannel(near, config) as channel:
        call = asyncio.ensure_future(Caller(channel).create("order"))
        await until(lambda: waiting.begun == 1)

        wire.clog()

        with pytest.raises(Unavailable):
            await call
        await until(lambda: not channel.is_connected)
        wire.cut()


async def test_a_call_may_take_longer_than_a_server_may_be_silent(desk: Desk, target: str) -> None:
    desk.serve = waiting = Waiting()
    wire = Wire(target)
    async with wire.laid() as near, TunnelChannel(near, TunnelConfig(silence_seconds=0.2)) as channel:
        call = asyncio.ensure_future(Caller(channel).create("order"))
        await until(lambda: waiting.begun == 1)
        begun = wire.carried

        await until(lambda: wire.carried > begun + 20)
        waiting.let_go.set()

        assert (await call).process_definition_id == "order"


async def test_a_call_with_less_patience_waits_no_longer_than_its_deadline() -> None:
    async with TunnelChannel(f"{HOST}:{free_port()}", PATIENT) as channel:
        with pytest.raises(Unavailable):
            await Caller(channel).create("order", seconds=0.1)


async def test_a_server_that_knows_no_tunnel_is_unavailable() -> None:
    server = grpc.aio.server()
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    async with TunnelChannel(f"{HOST}:{port}", TunnelConfig(connect_seconds=0.3)) as channel:
        with pytest.raises(Unavailable):
            await Caller(channel).create("order")
    await server.stop(0)


async def test_a_server_that_never_accepts_the_stream_is_asked_again() -> None:
    streams: list[Stream] = []

    async def say_nothing(stream: Stream) -> None:
        streams.append(stream)
        await asyncio.Event().wait()

    config = TunnelConfig(silence_seconds=0.05, max_back_off_seconds=0.05)
    async with odd_server(say_nothing) as target, TunnelChannel(target, config) as channel:
        await until(lambda: len(streams) > 2)

        assert not channel.is_connected


async def test_a_server_that_vanishes_without_a_word_is_connected_to_anew(desk: Desk) -> None:
    """The old connection is open for TCP, and would take every further stream."""
    config = TunnelConfig(silence_seconds=0.3, max_back_off_seconds=0.05)
    async with serving(desk) as target:
        wire = Wire(target)
        async with wire.laid() as start, TunnelChannel(start, config) as channel:
            await until(lambda: channel.is_connected)

            wire.lose()

            await until(lambda: wire.connections > 1 and channel.is_connected)
            assert await Caller(channel).create("after")


async def test_a_fault_in_a_connection_is_logged_and_another_connection_follows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = Broken()
    async with odd_server(broken) as target, TunnelChannel(target, PATIENT):
        await until(lambda: broken.streams > 2)

    # What other tests left behind may end, and be logged, meanwhile.
    own = [record for record in caplog.records if record.name == "server.platform.channels.tunnel"]
    faults = [record for record in own if record.levelno == logging.ERROR]
    assert faults
    assert {record.__dict__["target"] for record in faults} == {target}


async def test_a_channel_that_is_closed_while_a_broken_connection_ends_is_closed() -> None:
    """The errors of a task group come before a cancellation that it meets at its end."""
    broken = Broken()
    async with odd_server(broken) as target:
        before = asyncio.all_tasks()
        running = asyncio.ensure_future(TunnelChannel(target, PATIENT).run())

        def is_ending() -> bool:
            return any(task.cancelling() for task in asyncio.all_tasks() - before)

        while not is_ending():  # noqa: ASYNC110  # at each turn of the event loop
            await asyncio.sleep(0)
        running.cancel()

        done, _ = await asyncio.wait([running], timeout=SECONDS)
        assert running in done


async def test_failures_in_a_row_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    streams: list[Stream] = []

    async def refuse(stream: Stream) -> None:
        streams.append(stream)
        await stream.abort(grpc.StatusCode.UNAVAILABLE, "not now")

    async with odd_server(refuse) as target, TunnelChannel(target, PATIENT):
        await until(lambda: len(streams) > 3)

    [record] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.__dict__["errors"] == ["UNAVAILABLE: not now"]


async def test_a_connection_that_breaks_ends_its_calls_on_both_sides(desk: Desk, target: str) -> None:
    desk.serve = waiting = Waiting()
    wire = Wire(target)
    async with wire.laid() as near, TunnelChannel(near, PATIENT) as channel:
        calls = [asyncio.ensure_future(Caller(channel).create("order")) for _ in range(10)]
        await until(lambda: waiting.begun == 10)

        wire.cut()

        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        await until(lambda: waiting.cut_off == 10)


async def test_after_a_connection_broke_calls_go_over_the_next(desk: Desk, target: str) -> None:
    wire = Wire(target)
    async with wire.laid() as near, TunnelChannel(near, PATIENT) as channel:
        caller = Caller(channel)
        await caller.create("before")

        for number in range(3):
            wire.cut()
            await until_served(caller, f"after-{number}")

    assert desk.calls


async def test_calls_find_the_server_that_takes_the_place_of_another(desk: Desk) -> None:
    port = free_port()
    config = GrpcConfig(port=port, drain_seconds=0.1)
    async with TunnelChannel(f"{HOST}:{port}", PATIENT) as channel:
        caller = Caller(channel)
        async with serving(desk, config):
            await caller.create("first")
        second = Desk()
        async with serving(second, config):
            await until_served(caller, "second")

    assert (len(desk.calls), len(second.calls)) == (1, 1)


async def test_a_server_that_stops_answers_what_is_under_way_and_takes_nothing_new(desk: Desk) -> None:
    desk.serve = waiting = Waiting()
    server = server_of(desk, GrpcConfig(port=0, drain_seconds=SECONDS))
    port = await server.start()
    async with TunnelChannel(f"{HOST}:{port}") as channel, asyncio.timeout(SECONDS / 2):
        caller = Caller(channel)
        under_way = asyncio.ensure_future(caller.create("under way"))
        await until(lambda: waiting.begun == 1)
        desk.serve = echo

        stopping = asyncio.ensure_future(server.stop())
        await until_unavailable(caller)
        waiting.let_go.set()

        assert (await under_way).process_definition_id == "under way"
        await stopping


async def test_a_tunnel_without_calls_does_not_keep_a_server_from_stopping(desk: Desk) -> None:
    server = server_of(desk, GrpcConfig(port=0, drain_seconds=SECONDS))
    port = await server.start()
    async with TunnelChannel(f"{HOST}:{port}") as channel, asyncio.timeout(SECONDS / 2):
        await Caller(channel).create("order")

        await server.stop()


async def test_a_server_that_has_waited_long_enough_cuts_calls_off(desk: Desk) -> None:
    desk.serve = waiting = Waiting()
    server = server_of(desk, GrpcConfig(port=0, drain_seconds=0.1))
    port = await server.start()
    async with TunnelChannel(f"{HOST}:{port}") as channel:
        under_way = asyncio.ensure_future(Caller(channel).create("order"))
        await until(lambda: waiting.begun == 1)

        await server.stop()

        with pytest.raises(Unavailable):
            await under_way
        await until(lambda: waiting.cut_off == 1)


async def test_a_channel_that_closes_ends_its_calls_on_both_sides(desk: Desk, target: str) -> None:
    desk.serve = waiting = Waiting()
    async with TunnelChannel(target) as channel:
        under_way = asyncio.ensure_future(Caller(channel).create("order"))
        await until(lambda: waiting.begun == 1)

    with pytest.raises(Unavailable):
        await under_way
    await until(lambda: waiting.cut_off == 1)


async def test_what_the_block_raises_leaves_it_as_it_is(target: str) -> None:
    async def use() -> None:
        async with TunnelChannel(target) as channel:
            await Caller(channel).create("order")
            raise LookupError("raised inside")

    with pytest.raises(LookupError, match="raised inside"):
        await use()


async def until_unavailable(caller: Caller) -> None:
    async with asyncio.timeout(SECONDS):
        with suppress(Unavailable):
            while True:
                await caller.create("too late")


async def until_served(caller: Caller, process_id: str) -> None:
    """A call that meets the break itself is unavailable, and may be made again."""
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                await caller.create(process_id)
            except Unavailable:
                continue
            return
