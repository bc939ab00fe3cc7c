"""Frames without use are bounded by a budget, which useful work refills; others do not wait behind them."""

import asyncio

import ngh2
import pytest

from server.platform.http2 import Listener
from server.platform.http2.connection import Connection
from server.platform.http2.frames import TURN_FRAMES
from tests.server.platform.http2.harness import (
    SECONDS,
    SERVICE,
    Context,
    channel_to,
    echo,
    limits,
    listening,
    unary,
)
from tests.server.platform.http2.hostile import (
    ACK,
    BEGINNING,
    CONTINUATION,
    DATA,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    PING,
    PRIORITY,
    SETTINGS,
    UNKNOWN,
    Hostile,
    flood,
    frame,
    head,
    hostile,
    reset,
    settings,
    window_update,
)
from tests.server.platform.http2.test_cost import Wire, frames

ECHO = f"/{SERVICE}/Echo"
METHODS = {"Echo": unary(echo)}
BUDGET = 1024
# Nothing is given back by time.
BOUND = {"max_frames": BUDGET, "frames_per_second": 0.0}
OPEN_STREAM = head(ECHO, 1)


def call(stream_id: int) -> bytes:
    return head(ECHO, stream_id) + frame(DATA, bytes(5), flags=END_STREAM, stream_id=stream_id)


async def is_served(peer: Hostile, stream_id: int) -> bool:
    await peer.send(call(stream_id))
    return await peer.has_status()


@pytest.mark.parametrize(
    ("before", "useless"),
    [
        pytest.param(b"", window_update(), id="window updates"),
        pytest.param(OPEN_STREAM, window_update(stream_id=1), id="window updates of a stream"),
        pytest.param(b"", frame(PING, bytes(8), flags=ACK), id="answers to pings that nobody sent"),
        pytest.param(b"", settings(), id="empty settings"),
        pytest.param(b"", settings(window=65535), id="settings"),
        pytest.param(b"", frame(PRIORITY, bytes(5), stream_id=3), id="priorities"),
        pytest.param(b"", frame(UNKNOWN), id="unknown frames"),
        pytest.param(OPEN_STREAM, frame(DATA, stream_id=1), id="empty data"),
        pytest.param(OPEN_STREAM, frame(DATA, b"\0", stream_id=1), id="data of one octet"),
        pytest.param(OPEN_STREAM + reset(1), frame(DATA, stream_id=1), id="data of a closed stream"),
    ],
)
async def test_a_connection_that_sends_frames_without_use_is_closed(before: bytes, useless: bytes) -> None:
    async with listening(METHODS, **BOUND) as port, hostile(port) as peer:
        await peer.send(before + useless * 2 * BUDGET)
        farewell = await peer.farewell()

    assert farewell == (ENHANCE_YOUR_CALM, b"too_many_frames")


async def test_a_connection_that_opens_and_resets_streams_is_closed() -> None:
    rapid = b"".join(call(2 * number + 1) + reset(2 * number + 1) for number in range(200))
    async with listening(METHODS, max_frames=400, frames_per_second=0.0) as port, hostile(port) as peer:
        await peer.send(rapid)
        farewell = await peer.farewell()

    assert farewell == (ENHANCE_YOUR_CALM, b"too_many_frames")


async def test_a_connection_that_opens_more_streams_than_it_may_is_closed() -> None:
    half = b"".join(head(ECHO, 2 * number + 1) for number in range(200))
    bounds = {"max_connection_calls": 1, "max_frames": 100, "frames_per_second": 0.0}
    async with listening(METHODS, **bounds) as port, hostile(port) as peer:
        await peer.send(half)
        farewell = await peer.farewell()

    assert farewell == (ENHANCE_YOUR_CALM, b"too_many_frames")


async def test_headers_in_many_pieces_end_the_connection() -> None:
    pieces = head(ECHO, 1, flags=0) + frame(CONTINUATION, stream_id=1) * 100
    async with listening(METHODS) as port, hostile(port, BEGINNING + pieces) as peer:
        farewell = await peer.farewell()

    assert farewell == (ENHANCE_YOUR_CALM, b"too_many_frames")


async def test_the_budget_has_its_number_of_frames() -> None:
    # The first SETTINGS frame counts too, and the PING.
    within = BEGINNING + window_update() * (BUDGET - 2)
    async with listening(METHODS, **BOUND) as port, hostile(port, within) as quiet:
        await quiet.until(SETTINGS)
        async with hostile(port, within + window_update() * 2) as loud:
            farewell = await loud.farewell()
        await quiet.send(frame(PING, bytes(8)))

        assert await quiet.until(PING) is not None
        assert farewell == (ENHANCE_YOUR_CALM, b"too_many_frames")


async def test_calls_give_frames_back() -> None:
    async with listening(METHODS, max_frames=40, frames_per_second=0.0) as port, hostile(port) as peer:
        for number in range(100):
            await peer.send(window_update() * 8)

            assert await is_served(peer, 2 * number + 1)


async def test_time_gives_frames_back() -> None:
    async with listening(METHODS, max_frames=40, frames_per_second=1e9) as port, hostile(port) as peer:
        await peer.send(window_update() * 10_000)

        assert await is_served(peer, 1)


async def test_a_client_may_update_its_windows_for_every_kibibyte() -> None:
    size = 2 * 1024 * 1024

    async def give(_: bytes, __: Context) -> bytes:
        return bytes(size)

    read = 0
    async with listening({"Echo": unary(give)}, **BOUND) as port, hostile(port) as peer:
        await peer.send(settings(window=1024) + call(1))
        while read < size and (data := await peer.until(DATA)) is not None:
            read += len(data.payload)
            await peer.send(window_update(len(data.payload)) + window_update(len(data.payload), 1))

    assert read >= size


async def test_others_are_served_while_connections_flood() -> None:
    async with listening(METHODS) as port, channel_to(port) as channel, asyncio.TaskGroup() as floods:
        for _ in range(4):
            floods.create_task(flood(port, window_update() * 5_000))
        for _ in range(20):
            answer = await channel.unary_unary(ECHO)(b"x", timeout=SECONDS)

            assert answer == b"x"


async def test_frames_that_arrive_together_are_processed_in_turns() -> None:
    listener, wire = Listener(limits(max_frames=100_000), reuse_port=False), Wire()
    connection = Connection(listener)
    connection.connection_made(wire)
    wire.writes.clear()

    connection.data_received(BEGINNING + settings() * 3 * TURN_FRAMES)
    await asyncio.sleep(0)
    after_one_turn = len(frames(b"".join(wire.writes)))
    async with asyncio.timeout(SECONDS):
        await wire.resumed.wait()
    await asyncio.sleep(0)
    connection.connection_lost(None)

    assert after_one_turn <= 2 * TURN_FRAMES
    assert len(frames(b"".join(wire.writes))) == 3 * TURN_FRAMES + 1


@pytest.mark.parametrize("size", [1, 7, 24, 25, 33, 1000])
async def test_frames_are_counted_wherever_the_octets_are_cut(size: int) -> None:
    listener, wire = Listener(limits(max_frames=300, frames_per_second=0.0), reuse_port=False), Wire()
    connection = Connection(listener)
    connection.connection_made(wire)
    octets = BEGINNING + frame(UNKNOWN, bytes(600)) * 3 + window_update() * 297

    for place in range(0, len(octets), size):
        connection.data_received(octets[place : place + size])
        await asyncio.sleep(0)
    client = ngh2.Connection(ngh2.Role.CLIENT)
    client.initiate_connection()
    client.receive_data(b"".join(wire.writes))
    connection.connection_lost(None)

    left = [event for event in client.events() if isinstance(event, ngh2.GoAwayReceived)]
    assert [(each.error_code, each.debug_data) for each in left[:1]] == [
        (ngh2.ErrorCode.ENHANCE_YOUR_CALM, b"too_many_frames")
    ]


async def test_grpc_itself_stays_within_the_budget() -> None:
    async with listening(METHODS, max_connection_calls=64, **BOUND) as port, channel_to(port) as channel:
        for size in (0, 100, 70_000, 3_000_000):
            for _ in range(10):
                calls = [channel.unary_unary(ECHO)(bytes(size), timeout=SECONDS) for _ in range(8)]

                assert [size] * 8 == [len(answer) for answer in await asyncio.gather(*calls)]
