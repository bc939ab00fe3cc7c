"""Calls over the listener end as they do over grpcio's own, whose client makes them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import grpc
import pytest

from server.platform.grpcio_listener import GrpcioListener
from server.platform.http2 import Listener
from tests.server.platform.http2.harness import (
    LISTENERS,
    MEBIBYTE,
    SECONDS,
    SERVICE,
    SOON,
    Context,
    Waiting,
    answers,
    channel_to,
    echo,
    exchange,
    listening,
    unary,
)

Kind = type[Listener] | type[GrpcioListener]
both = pytest.mark.parametrize("kind", LISTENERS)
ECHO = f"/{SERVICE}/Echo"


async def failure_of(call: "grpc.aio.UnaryUnaryCall[bytes, bytes]") -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await call
    return failure.value


@both
@pytest.mark.parametrize("size", [0, 1, 16_384, 70_000, 4 * MEBIBYTE])
async def test_a_message_of_any_size_goes_there_and_back(kind: Kind, size: int) -> None:
    async with listening({"Echo": unary(echo)}, kind) as port, channel_to(port) as channel:
        answer = await channel.unary_unary(ECHO)(b"x" * size, timeout=SECONDS)

    assert b"x" * size == answer


@both
async def test_a_message_beyond_the_bound_is_refused_and_the_connection_goes_on(kind: Kind) -> None:
    async with (
        listening({"Echo": unary(echo)}, kind, max_message_bytes=1000) as port,
        channel_to(port) as channel,
    ):
        refused = await failure_of(channel.unary_unary(ECHO)(b"x" * MEBIBYTE, timeout=SECONDS))
        answer = await channel.unary_unary(ECHO)(b"x" * 1000, timeout=SECONDS)

    assert grpc.StatusCode.RESOURCE_EXHAUSTED is refused.code()
    assert answer


@both
async def test_a_method_that_is_not_there_is_unimplemented(kind: Kind) -> None:
    async with listening({"Echo": unary(echo)}, kind) as port, channel_to(port) as channel:
        refused = await failure_of(channel.unary_unary(f"/{SERVICE}/Shout")(b"", timeout=SECONDS))

    assert (refused.code(), refused.details()) == (grpc.StatusCode.UNIMPLEMENTED, "Method not found!")


@both
async def test_a_refusal_carries_its_message_and_its_metadata(kind: Kind) -> None:
    async def refuse(_: bytes, context: Context) -> bytes:
        await context.abort(
            grpc.StatusCode.FAILED_PRECONDITION,
            "100 % — nein\n",
            trailing_metadata=(("details-bin", b"\x00\xff"), ("reason", "closed")),
        )

    async with listening({"Echo": unary(refuse)}, kind) as port, channel_to(port) as channel:
        refused = await failure_of(channel.unary_unary(ECHO)(b"", timeout=SECONDS))

    assert grpc.StatusCode.FAILED_PRECONDITION is refused.code()
    assert refused.details() == "100 % — nein\n"
    assert {("details-bin", b"\x00\xff"), ("reason", "closed")} <= set(refused.trailing_metadata())


@both
async def test_a_handler_sees_the_metadata_and_the_deadline_of_its_call(kind: Kind) -> None:
    seen = {}

    async def note(_: bytes, context: Context) -> bytes:
        seen.update(
            dict(context.invocation_metadata() or ()), left=context.time_remaining(), peer=context.peer()
        )
        return b""

    async with listening({"Echo": unary(note)}, kind) as port, channel_to(port) as channel:
        await channel.unary_unary(ECHO)(b"", timeout=SECONDS, metadata=(("x-tenant-id", "acme"),))

    assert seen["x-tenant-id"] == "acme"
    assert seen["left"] == pytest.approx(SECONDS, abs=5)
    assert str(seen["peer"]).startswith("ipv4:127.0.0.1:")


@both
async def test_a_handler_is_cancelled_when_the_time_of_its_call_is_over(kind: Kind) -> None:
    waiting = Waiting()
    async with listening({"Echo": unary(waiting.serve)}, kind) as port, channel_to(port) as channel:
        late = await failure_of(channel.unary_unary(ECHO)(b"", timeout=SOON))

        await asyncio.wait_for(waiting.cut_off.wait(), SECONDS)

    assert grpc.StatusCode.DEADLINE_EXCEEDED is late.code()


@both
async def test_a_handler_is_cancelled_when_its_client_cancels(kind: Kind) -> None:
    waiting = Waiting()
    async with listening({"Echo": unary(waiting.serve)}, kind) as port, channel_to(port) as channel:
        call = channel.unary_unary(ECHO)(b"", timeout=SECONDS)
        sending = asyncio.ensure_future(call)
        await asyncio.wait_for(waiting.begun.wait(), SECONDS)
        call.cancel()

        await asyncio.wait_for(waiting.cut_off.wait(), SECONDS)
        with pytest.raises(asyncio.CancelledError):
            await sending


@both
async def test_a_handler_is_cancelled_when_its_client_leaves(kind: Kind) -> None:
    waiting = Waiting()
    async with listening({"Echo": unary(waiting.serve)}, kind) as port:
        async with channel_to(port) as channel:
            call = channel.unary_unary(ECHO)(b"", timeout=SECONDS)
            await asyncio.wait_for(waiting.begun.wait(), SECONDS)

        await asyncio.wait_for(waiting.cut_off.wait(), SECONDS)

    assert call.cancelled()


@both
async def test_a_message_may_be_compressed(kind: Kind) -> None:
    async with listening({"Echo": unary(echo)}, kind) as port, channel_to(port) as channel:
        for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
            answer = await channel.unary_unary(ECHO)(b"x" * 70_000, timeout=SECONDS, compression=compression)

            assert answer == b"x" * 70_000


@both
async def test_a_writer_waits_for_its_reader(kind: Kind) -> None:
    written = 0

    async def pour(_: bytes, context: Context) -> None:
        nonlocal written
        for _ in range(400):
            await context.write(b"x" * 131_072)
            written += 1

    async with listening({"Pour": answers(pour)}, kind) as port, channel_to(port) as channel:
        call = channel.unary_stream(f"/{SERVICE}/Pour")(b"", timeout=SECONDS)
        await call.read()
        await asyncio.sleep(SOON)
        while_unread = written
        count = 1
        while await call.read() is not grpc.aio.EOF:
            count += 1

    assert count == 400
    assert while_unread < 400


@both
async def test_messages_go_to_and_fro_in_their_order(kind: Kind) -> None:
    async def reply(requests: AsyncIterator[bytes], context: Context) -> None:
        async for request in requests:
            await context.write(request.upper())

    async with listening({"Talk": exchange(reply)}, kind) as port, channel_to(port) as channel:
        call = channel.stream_stream(f"/{SERVICE}/Talk")(timeout=SECONDS)
        said = []
        for word in (b"one", b"two", b"x" * MEBIBYTE):
            await call.write(word)
            said.append(await call.read())
        await call.done_writing()
        last = await call.read()

    assert said == [b"ONE", b"TWO", b"X" * MEBIBYTE]
    assert grpc.aio.EOF is last


@both
async def test_a_client_that_is_not_read_waits(kind: Kind) -> None:
    go_on = asyncio.Event()

    async def slow(requests: AsyncIterator[bytes], context: Context) -> None:
        await go_on.wait()
        count = 0
        async for _ in requests:
            count += 1
        await context.write(b"%d" % count)

    async with listening({"Talk": exchange(slow)}, kind) as port, channel_to(port) as channel:
        call = channel.stream_stream(f"/{SERVICE}/Talk")(timeout=SECONDS)
        sent = 0

        async def send() -> None:
            nonlocal sent
            for _ in range(640):
                await call.write(b"x" * 65_536)
                sent += 1
            await call.done_writing()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(send())
            await asyncio.sleep(SOON)
            while_unread = sent
            go_on.set()
        counted = await call.read()

    assert while_unread < 640
    assert counted == b"640"


@both
async def test_calls_under_way_end_before_the_listener_does(kind: Kind) -> None:
    waiting = Waiting()
    async with AsyncExitStack() as channels:
        async with listening({"Echo": unary(waiting.serve)}, kind, grace=SECONDS) as port:
            channel = await channels.enter_async_context(channel_to(port))
            call = channel.unary_unary(ECHO)(b"last", timeout=SECONDS)
            await asyncio.wait_for(waiting.begun.wait(), SECONDS)
            asyncio.get_running_loop().call_later(SOON, waiting.let_go.set)
        answer = await call

    assert answer == b"last"


async def test_calls_that_outlast_the_grace_are_unavailable() -> None:
    waiting = Waiting()
    async with AsyncExitStack() as channels:
        async with listening({"Echo": unary(waiting.serve)}, grace=SOON) as port:
            channel = await channels.enter_async_context(channel_to(port))
            call = channel.unary_unary(ECHO)(b"", timeout=SECONDS)
            await asyncio.wait_for(waiting.begun.wait(), SECONDS)
        cut = await failure_of(call)

    assert grpc.StatusCode.UNAVAILABLE is cut.code()
    assert waiting.cut_off.is_set()


async def test_a_thousand_calls_at_once_are_all_answered() -> None:
    async with listening({"Echo": unary(echo)}) as port, channel_to(port) as channel:
        calls = [channel.unary_unary(ECHO)(b"%d" % number, timeout=SECONDS) for number in range(1000)]
        found = await asyncio.gather(*calls)

    assert [b"%d" % number for number in range(1000)] == found
