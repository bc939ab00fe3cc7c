"""Places of connections: bounds in all and by address, and who gives way."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import grpc
import pytest

from server.platform.http2.meter import Closing
from server.platform.metrics import Metrics
from server.platform.networks import Networks
from tests.server.platform.http2.harness import (
    SECONDS,
    SERVICE,
    SOON,
    Context,
    Waiting,
    channel_to,
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
    HEADERS,
    SETTINGS,
    Hostile,
    frame,
    head,
    hostile,
    idle_connections,
)

ECHO = f"/{SERVICE}/Echo"
WAIT = f"/{SERVICE}/Wait"
ELSEWHERE, FURTHER = "127.0.0.2", "127.0.0.3"
MESSAGE = frame(DATA, bytes(5), flags=END_STREAM, stream_id=1)
CALL, LONG_CALL = BEGINNING + head(ECHO, 1) + MESSAGE, BEGINNING + head(WAIT, 1) + MESSAGE


def methods(begun: "asyncio.Queue[None] | None" = None) -> dict[str, Any]:
    """Return methods, of which one never answers; it notes its calls in `begun`."""

    async def wait(request: bytes, context: Context) -> bytes:
        if begun is not None:
            begun.put_nowait(None)
        return await Waiting().serve(request, context)

    return {"Echo": unary(echo), "Wait": unary(wait)}


async def is_answered(peer: Hostile) -> bool:
    return await peer.has_status()


async def test_idle_connections_never_keep_others_out() -> None:
    async with (
        listening(methods(), max_connections=8) as port,
        idle_connections(port, 50),
        idle_connections(port, 50, address=ELSEWHERE),
        channel_to(port) as channel,
    ):
        answer = await channel.unary_unary(ECHO)(b"x", timeout=SECONDS)

    assert answer == b"x"


async def test_the_oldest_connection_without_any_call_gives_way_first() -> None:
    async with listening(methods(), max_connections=3) as port, AsyncExitStack() as stack:
        used = await stack.enter_async_context(hostile(port, CALL, address=FURTHER))
        await used.until(HEADERS)
        first = await stack.enter_async_context(hostile(port))
        await first.until(SETTINGS)
        await stack.enter_async_context(hostile(port, address=ELSEWHERE))

        new = await stack.enter_async_context(hostile(port, CALL, address="127.0.0.4"))
        served, farewell = await is_answered(new), await first.farewell()
        await used.send(head(ECHO, 3) + frame(DATA, bytes(5), flags=END_STREAM, stream_id=3))

        assert (served, await is_answered(used)) == (True, True)
        assert farewell == (0, b"gave_way")


async def test_a_connection_beyond_the_running_ones_of_its_address_is_refused_with_a_reason() -> None:
    begun: asyncio.Queue[None] = asyncio.Queue()
    async with (
        listening(methods(begun), max_connections_per_address=2) as port,
        hostile(port, LONG_CALL),
        hostile(port, LONG_CALL),
    ):
        await asyncio.gather(begun.get(), begun.get())
        async with hostile(port) as third, hostile(port, CALL, address=ELSEWHERE) as other:
            farewell, served = await third.farewell(), await is_answered(other)

    assert farewell == (ENHANCE_YOUR_CALM, b"too_many_connections")
    assert served


async def test_one_address_has_half_of_the_places_at_most() -> None:
    begun: asyncio.Queue[None] = asyncio.Queue()
    async with (
        listening(methods(begun), max_connections=4, max_connections_per_address=100) as port,
        hostile(port, LONG_CALL),
        hostile(port, LONG_CALL),
    ):
        await asyncio.gather(begun.get(), begun.get())
        async with hostile(port) as third:
            farewell = await third.farewell()

    assert farewell == (ENHANCE_YOUR_CALM, b"too_many_connections")


async def test_a_trusted_proxy_may_have_all_places() -> None:
    bounds = {"max_connections": 3, "max_connections_per_address": 1}
    async with (
        listening(methods(), trusted=Networks(["127.0.0.0/31"]), **bounds) as port,
        AsyncExitStack() as stack,
    ):
        for _ in range(2):
            busy = await stack.enter_async_context(hostile(port, LONG_CALL))
            await busy.until(SETTINGS)
        third = await stack.enter_async_context(hostile(port, CALL))

        assert await is_answered(third)


async def test_calls_without_a_credential_do_not_keep_a_place() -> None:
    begun: asyncio.Queue[None] = asyncio.Queue()
    async with (
        listening(methods(), opened=methods(begun), max_connections=2) as port,
        hostile(port, BEGINNING + head("/test.Open/Wait", 1) + MESSAGE) as waiting,
    ):
        await begun.get()
        async with hostile(port, CALL) as new:
            assert await is_answered(new)
            assert await waiting.farewell() == (0, b"gave_way")


async def test_a_connection_without_a_first_call_is_closed_with_a_reason() -> None:
    async with listening(methods(), first_call_timeout_seconds=SOON) as port, hostile(port) as peer:
        farewell = await peer.farewell()

    assert farewell == (0, b"first_call_timeout")


async def test_a_connection_that_only_calls_unknown_methods_has_made_no_call() -> None:
    unknown = BEGINNING + head(f"/{SERVICE}/Nothing", 1) + MESSAGE
    async with listening(methods(), first_call_timeout_seconds=SOON) as port, hostile(port, unknown) as peer:
        farewell = await peer.farewell()

    assert farewell == (0, b"first_call_timeout")


async def test_after_its_first_call_a_connection_may_be_idle_for_longer() -> None:
    timeouts = {"first_call_timeout_seconds": SOON, "idle_timeout_seconds": 4 * SOON}
    async with listening(methods(), **timeouts) as port, hostile(port, CALL) as peer:
        farewell = await peer.farewell()

    assert farewell == (0, b"idle_timeout")


async def test_a_request_that_is_not_complete_in_time_is_refused() -> None:
    async with listening(methods(), request_timeout_seconds=SOON) as port, peer_of(port) as peer:
        stream_id = await peer.request()
        peer.http.send_data(stream_id, b"\0\0\0\0\x05ab")
        await peer.send()
        headers = await peer.headers()

    assert b"%d" % grpc.StatusCode.DEADLINE_EXCEEDED.value[0] == headers[b"grpc-status"]


async def test_connections_are_counted_and_the_log_has_one_line_for_many(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = Metrics()
    async with (
        listening(methods(), metrics=metrics, max_connections=4, max_connections_per_address=2) as port,
        hostile(port, CALL, address=ELSEWHERE) as other,
        idle_connections(port, 10),
    ):
        await other.until(HEADERS)
        async with hostile(port, CALL) as last:
            await last.until(HEADERS)
            read, _ = metrics.exposition("text/plain")
            lines = read().decode().splitlines()

    assert f'gnomon_grpc_closings_total{{reason="{Closing.GAVE_WAY}"}} 9.0' in lines
    assert 'gnomon_grpc_connections{state="free"} 1.0' in lines
    assert [record.message for record in caplog.records] == ["a gRPC connection was closed"]
