"""What a peer may do on a connection, and what ends it."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import ngh2
import pytest

from server.platform.http2.wire import framed
from tests.server.platform.http2.harness import (
    MEBIBYTE,
    SECONDS,
    SERVICE,
    SOON,
    Context,
    Peer,
    Waiting,
    answers,
    channel_to,
    echo,
    exchange,
    listening,
    peer_of,
    unary,
)

ECHO = {"Echo": unary(echo)}


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        pytest.param({"method": "GET"}, b"405", id="another method"),
        pytest.param({"content_type": "application/json"}, b"415", id="another type"),
    ],
)
async def test_a_request_that_is_not_grpc_gets_a_status_of_http(
    changed: dict[str, str], status: bytes
) -> None:
    async with listening(ECHO) as port, peer_of(port) as peer:
        await peer.request(**changed)

        assert status == (await peer.headers())[b":status"]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({"grpc_timeout": "soon"}, grpc.StatusCode.INTERNAL, id="a timeout that is none"),
        pytest.param({"grpc_encoding": "br"}, grpc.StatusCode.UNIMPLEMENTED, id="an unknown encoding"),
    ],
)
async def test_headers_that_are_not_understood_end_the_call(
    changed: dict[str, str], code: grpc.StatusCode
) -> None:
    async with listening(ECHO) as port, peer_of(port) as peer:
        await peer.request(**changed)
        headers = await peer.headers()

    assert b"%d" % code.value[0] == headers[b"grpc-status"]
    assert headers[b"grpc-accept-encoding"] == b"identity,deflate,gzip"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="no message"),
        pytest.param(framed(b"half")[:6], id="half a message"),
        pytest.param(framed(b"one") + framed(b"two"), id="two messages"),
    ],
)
async def test_a_unary_call_has_one_message(data: bytes) -> None:
    async with listening(ECHO) as port, peer_of(port) as peer:
        stream_id = await peer.request()
        peer.http.send_data(stream_id, data, end_stream=True)
        await peer.send()

        assert (await peer.headers())[b"grpc-status"] == b"13"


async def test_a_client_that_pings_all_the_time_is_sent_away() -> None:
    async with listening(ECHO) as port, peer_of(port) as peer:
        for _ in range(10):
            peer.http.ping()
        await peer.send()
        events = await peer.events(ngh2.GoAwayReceived)

    left = next(event for event in events if isinstance(event, ngh2.GoAwayReceived))
    assert (left.error_code, left.debug_data) == (ngh2.ErrorCode.ENHANCE_YOUR_CALM, b"too_many_pings")


async def test_a_client_with_answers_may_ping() -> None:
    async with listening(ECHO) as port, peer_of(port) as peer:
        for _ in range(10):
            stream_id = await peer.request()
            peer.http.send_data(stream_id, framed(b"x"), end_stream=True)
            peer.http.ping()
            await peer.send()
            events = await peer.events(ngh2.StreamClosed)

            assert not [event for event in events if isinstance(event, ngh2.GoAwayReceived)]


async def test_a_silent_client_with_a_call_is_pinged_and_let_go() -> None:
    waiting = Waiting()
    changed = {"keepalive_seconds": SOON, "keepalive_timeout_seconds": SOON}
    async with listening({"Echo": unary(waiting.serve)}, **changed) as port, peer_of(port) as peer:
        stream_id = await peer.request()
        peer.http.send_data(stream_id, framed(b"x"), end_stream=True)
        await peer.send()
        await asyncio.wait_for(waiting.begun.wait(), SECONDS)
        said = await peer.rest()
        await asyncio.wait_for(waiting.cut_off.wait(), SECONDS)

    # RFC 9113 §6.7: the type of a PING frame, no flags, stream 0.
    assert b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" in said


async def test_a_client_that_answers_pings_stays() -> None:
    waiting = Waiting()
    changed = {"keepalive_seconds": SOON, "keepalive_timeout_seconds": SOON}
    async with listening({"Echo": unary(waiting.serve)}, **changed) as port, channel_to(port) as channel:
        call = channel.unary_unary("/test.Octets/Echo")(b"x", timeout=SECONDS)
        asyncio.get_running_loop().call_later(4 * SOON, waiting.let_go.set)

        assert await call == b"x"


async def test_unfinished_messages_of_a_connection_are_bounded() -> None:
    waiting = Waiting()
    bound = {"max_message_bytes": 10_000}
    async with listening({"Echo": unary(waiting.serve)}, **bound) as port, peer_of(port) as peer:
        for _ in range(10):
            stream_id = await peer.request()
            peer.http.send_data(stream_id, framed(b"x" * 10_000)[:9_900])
        await peer.send()
        headers = await peer.headers()

    assert b"%d" % grpc.StatusCode.RESOURCE_EXHAUSTED.value[0] == headers[b"grpc-status"]


async def test_messages_that_were_refused_give_their_window_back() -> None:
    async with listening(ECHO, max_message_bytes=1000) as port, channel_to(port) as channel:
        for _ in range(100):
            with pytest.raises(grpc.aio.AioRpcError, match="larger than max"):
                await channel.unary_unary("/test.Octets/Echo")(b"x" * 128_000, timeout=SECONDS)

        assert await channel.unary_unary("/test.Octets/Echo")(b"x", timeout=SECONDS) == b"x"


async def test_a_client_that_reads_nothing_stops_the_writer() -> None:
    written = 0

    async def pour(_: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> None:
        nonlocal written
        for _ in range(1000):
            await context.write(b"x" * MEBIBYTE)
            written += 1

    async with listening({"Echo": answers(pour)}) as port, peer_of(port) as peer:
        stream_id = await peer.request()
        peer.http.send_data(stream_id, framed(b""), end_stream=True)
        await peer.send()
        await peer.events(ngh2.DataReceived)
        await asyncio.sleep(SOON)

        assert written <= 1


async def test_headers_beyond_the_bound_end_the_connection() -> None:
    async with listening(ECHO, max_header_bytes=4096) as port, peer_of(port) as peer:
        await peer.request(x_long="x" * 8192)
        events = await peer.events(ngh2.ResponseReceived)

    assert not [event for event in events if isinstance(event, ngh2.ResponseReceived)]


async def test_a_connection_that_breaks_http2_takes_no_other_along() -> None:
    async with listening(ECHO) as port, channel_to(port) as channel, peer_of(port) as peer:
        await channel.unary_unary("/test.Octets/Echo")(b"x", timeout=SECONDS)
        await broken(peer)

        assert await channel.unary_unary("/test.Octets/Echo")(b"y", timeout=SECONDS) == b"y"


async def repeat(requests: AsyncIterator[bytes], context: Context) -> None:
    async for request in requests:
        await context.write(request)


async def broken(peer: Peer) -> None:
    """Send DATA on a stream that was never opened (RFC 9113 §5.1)."""
    peer.write(b"\x00\x00\x01\x00\x00\x00\x00\x00\x09x")
    await peer.rest()


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        pytest.param(f"/{SERVICE}/Echo", {}, id="a call"),
        pytest.param(f"/{SERVICE}/Exchange", {}, id="a call with a stream of requests"),
        pytest.param(f"/{SERVICE}/Nothing", {}, id="no method"),
        pytest.param(f"/{SERVICE}/Echo", {"method": "GET"}, id="no gRPC"),
    ],
)
@pytest.mark.parametrize(
    "octets_of_message",
    [
        pytest.param(b"", id="without a message"),
        pytest.param(framed(bytes(200_000)), id="with a message"),
        pytest.param(b"\0\xff\xff\xff\xff", id="with a message that is too long"),
    ],
)
async def test_a_call_that_is_cancelled_in_the_octets_of_its_request_ends_alone(
    path: str, changed: dict[str, str], octets_of_message: bytes
) -> None:
    async with listening({"Echo": unary(echo), "Exchange": exchange(repeat)}) as port, peer_of(port) as peer:
        await peer.events(ngh2.SettingsReceived)
        # Together they have more octets than the window of the connection.
        for _ in range(30):
            cancelled = peer.begun(path, **changed)
            if octets_of_message:
                peer.http.send_data(cancelled, octets_of_message)
            octets = peer.http.data_to_send()
            peer.http.reset_stream(cancelled, ngh2.ErrorCode.CANCEL)
            answered = peer.begun(f"/{SERVICE}/Echo")
            peer.http.send_data(answered, framed(b"a"), end_stream=True)
            peer.write(octets + peer.http.data_to_send())

            events = await peer.events(ngh2.TrailersReceived)

            assert answered in [
                event.stream_id for event in events if isinstance(event, ngh2.TrailersReceived)
            ]


async def test_a_stream_that_breaks_and_is_cancelled_after_answers_ends_alone() -> None:
    async with listening({"Echo": unary(echo), "Exchange": exchange(repeat)}) as port, peer_of(port) as peer:
        broken = await peer.request(f"/{SERVICE}/Exchange")
        peer.http.send_data(broken, framed(b"a"))
        await peer.send()
        await peer.events(ngh2.DataReceived)

        peer.http.send_data(broken, b"\0\xff\xff\xff\xff")
        octets = peer.http.data_to_send()
        peer.http.reset_stream(broken, ngh2.ErrorCode.CANCEL)
        answered = peer.begun(f"/{SERVICE}/Echo")
        peer.http.send_data(answered, framed(b"a"), end_stream=True)
        peer.write(octets + peer.http.data_to_send())
        events = await peer.events(ngh2.TrailersReceived)

        assert [event.stream_id for event in events if isinstance(event, ngh2.TrailersReceived)] == [answered]
