"""Answers respect the windows of the client; what a client does not read is bounded, in octets and in time."""

import asyncio
from typing import cast

import grpc
import ngh2
import pytest

from server.platform.metrics import Metrics
from tests.server.platform.http2.harness import (
    SERVICE,
    SOON,
    Context,
    answers,
    echo,
    listening,
    peer_of,
    unary,
)
from tests.server.platform.http2.hostile import (
    BEGINNING,
    DATA,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    FLOW_CONTROL_ERROR,
    GOAWAY,
    PING,
    SETTINGS,
    frame,
    head,
    hostile,
    settings,
    window_update,
)
from tests.waits import until

ECHO = f"/{SERVICE}/Echo"
GIVE = f"/{SERVICE}/Give"
KIBIBYTE = 1024
# Of a connection: 10 KiB unread begin no further call, and 80 KiB are the bound.
SMALL = {"max_message_bytes": 10 * KIBIBYTE}
MOST_WINDOW = 2**31 - 1


def call(stream_id: int, path: str = ECHO) -> bytes:
    return head(path, stream_id) + frame(DATA, bytes(5), flags=END_STREAM, stream_id=stream_id)


class Giving:
    """A method that answers with octets once it is let go, and notes its calls."""

    def __init__(self, octets: int) -> None:
        self.octets = octets
        self.begun: asyncio.Queue[None] = asyncio.Queue()
        self.let_go = asyncio.Event()

    async def serve(self, _: bytes, __: Context) -> bytes:
        self.begun.put_nowait(None)
        await self.let_go.wait()
        return bytes(self.octets)


async def pour(_: bytes, context: Context) -> None:
    for _ in range(100):
        await context.write(bytes(KIBIBYTE))


async def test_calls_wait_until_the_client_reads_answers() -> None:
    giving = Giving(6 * KIBIBYTE)
    giving.let_go.set()
    async with (
        listening({"Give": unary(giving.serve)}, **SMALL) as port,
        hostile(port, BEGINNING + settings(window=0)) as peer,
    ):
        # Those of the server, and the acknowledgements of both.
        for _ in range(3):
            await peer.until(SETTINGS)
        for number in range(10):
            await peer.send(call(2 * number + 1, GIVE) + settings())
            await peer.until(SETTINGS)
        begun_unread = giving.begun.qsize()
        await peer.send(settings(window=65535))
        are_answered = [await peer.has_status() for _ in range(10)]

    assert begun_unread == 2
    assert are_answered == [True] * 10


async def test_answers_beyond_the_bound_of_a_connection_are_refused() -> None:
    giving = Giving(10 * KIBIBYTE)
    async with listening({"Give": unary(giving.serve)}, **SMALL) as port, peer_of(port, window=0) as peer:
        for _ in range(10):
            peer.http.send_data(peer.begun(GIVE), bytes(5), end_stream=True)
        await peer.send()
        for _ in range(10):
            await giving.begun.get()
        giving.let_go.set()
        found: list[dict[bytes, bytes]] = []
        while len(found) < 10:
            events = await peer.events(ngh2.ResponseReceived)
            found += [dict(each.headers) for each in events if isinstance(each, ngh2.ResponseReceived)]

    exhausted = b"%d" % grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    refused = [each for each in found if each.get(b"grpc-status") == exhausted]
    # Seven answers with their prefixes are below 80 KiB.
    assert len(refused) == 3
    assert refused[0][b"grpc-message"] == b"the client does not read its answers"


async def test_a_client_that_reads_no_answer_is_disconnected() -> None:
    async with (
        listening({"Echo": unary(echo)}, send_timeout_seconds=SOON) as port,
        hostile(port, BEGINNING + settings(window=0) + call(1)) as peer,
    ):
        farewell = await peer.farewell()

    assert farewell == (ENHANCE_YOUR_CALM, b"send_timeout")


async def test_a_client_that_reads_no_octet_of_its_connection_is_disconnected() -> None:
    giving = Giving(4 * 1024 * KIBIBYTE)
    giving.let_go.set()
    calls = b"".join(call(2 * number + 1, GIVE) for number in range(20))
    metrics = Metrics()
    async with (
        listening({"Give": unary(giving.serve)}, metrics=metrics, send_timeout_seconds=SOON) as port,
        hostile(port, BEGINNING + settings(window=MOST_WINDOW) + window_update(2**30) + calls) as peer,
    ):
        cast("asyncio.Transport", peer.writer.transport).pause_reading()
        await until(lambda: reported(metrics, "send_timeout") == 1)


async def test_a_stream_may_be_unread_for_as_long_as_a_connection_may_be_idle() -> None:
    timeouts = {"send_timeout_seconds": SOON, "idle_timeout_seconds": 5 * SOON}
    async with (
        listening({"Pour": answers(pour)}, **timeouts) as port,
        hostile(port, BEGINNING + settings(window=0) + call(1, f"/{SERVICE}/Pour")) as peer,
    ):
        began = asyncio.get_running_loop().time()
        farewell = await peer.farewell()
        lasted = asyncio.get_running_loop().time() - began

    assert farewell == (ENHANCE_YOUR_CALM, b"send_timeout")
    assert lasted >= 5 * SOON


async def test_writers_of_streams_wait_while_the_connection_is_congested() -> None:
    size, written = 12 * KIBIBYTE, asyncio.Queue[None]()

    async def give(_: bytes, context: Context) -> None:
        written.put_nowait(None)
        await context.write(bytes(size))
        await context.write(bytes(size))

    streams = b"".join(call(2 * number + 1, f"/{SERVICE}/Give") for number in range(8))
    async with (
        listening({"Give": answers(give)}, **SMALL) as port,
        hostile(port, BEGINNING + settings(window=0) + streams) as peer,
    ):
        await written.get()
        await peer.send(settings())
        await peer.until(SETTINGS)
        begun_unread = 1 + written.qsize()
        await peer.send(settings(window=65535) + window_update(2**30))
        are_answered = [await peer.has_status() for _ in range(8)]

    # All of them began in one turn, and only one wrote.
    assert begun_unread == 8
    assert are_answered == [True] * 8


async def test_a_window_that_became_negative_holds_the_rest_back() -> None:
    giving = Giving(20_000)
    giving.let_go.set()
    async with (
        listening({"Give": unary(giving.serve)}) as port,
        hostile(port, BEGINNING + settings(window=10_000) + call(1, GIVE)) as peer,
    ):
        first = await peer.until(DATA)
        # RFC 9113 §6.9.2: the window is now 5,000 octets below zero.
        await peer.send(settings(window=5_000) + window_update(5_000, 1) + frame(PING, bytes(8)))
        held_back = await peer.until(PING)
        await peer.send(window_update(10_005, 1))
        rest = await peer.until(DATA)

    assert first is not None
    assert held_back is not None
    assert rest is not None
    assert [len(first.payload), len(rest.payload)] == [10_000, 10_005]


@pytest.mark.parametrize(
    ("octets", "code"),
    [
        pytest.param(window_update(MOST_WINDOW), FLOW_CONTROL_ERROR, id="the window of the connection"),
        pytest.param(window_update(MOST_WINDOW, 1), FLOW_CONTROL_ERROR, id="the window of a stream"),
        pytest.param(settings(window=2**31), FLOW_CONTROL_ERROR, id="a setting beyond the bound"),
        pytest.param(window_update(0), 1, id="an update of nothing"),
        pytest.param(frame(SETTINGS, b"\0\5" + (1).to_bytes(4, "big")), 1, id="frames that are too small"),
        pytest.param(frame(DATA, bytes(16_385), stream_id=1), 6, id="a frame that is too long"),
    ],
)
async def test_impossible_windows_and_sizes_end_the_connection(octets: bytes, code: int) -> None:
    async with listening({}) as port, hostile(port, BEGINNING + head(ECHO, 1) + octets) as peer:
        goaway = await peer.until(GOAWAY)

    assert goaway is not None
    assert code == int.from_bytes(goaway.payload[4:8], "big")


def reported(metrics: Metrics, reason: str) -> float:
    read, _ = metrics.exposition("text/plain")
    (line,) = [
        each for each in read().decode().splitlines() if f'closings_total{{reason="{reason}"}}' in each
    ]
    return float(line.split()[1])
