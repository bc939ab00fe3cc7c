"""Calls over several channels: they take turns, and what is away is passed over."""

import pytest
from google.protobuf.message import Message

from gnomon.engine.v1 import topology_service_pb2 as pb
from server.platform.channels.port import UnaryCall
from server.platform.channels.several import SeveralChannels

METHOD = "/gnomon.engine.v1.TopologyService/GetStatus"


class CountingChannel:
    """Answers every call, and counts them."""

    def __init__(self, *, is_connected: bool = True) -> None:
        self.is_connected = is_connected
        self.calls = 0

    def unary_unary(self, *_: object) -> UnaryCall[Message, Message]:
        async def call(*_: object, **__: object) -> Message:
            self.calls += 1
            return pb.GetStatusResponse()

        return call


async def _call(*channels: CountingChannel, times: int) -> list[int]:
    """How many calls each channel had."""
    call = SeveralChannels(channels).unary_unary(METHOD)
    for _ in range(times):
        await call(pb.GetStatusRequest())
    return [channel.calls for channel in channels]


async def test_calls_take_turns() -> None:
    counts = await _call(CountingChannel(), CountingChannel(), CountingChannel(), times=6)

    assert counts == [2, 2, 2]


async def test_a_server_that_is_away_is_passed_over() -> None:
    away = CountingChannel(is_connected=False)

    counts = await _call(away, CountingChannel(), times=6)

    assert counts == [0, 6]


async def test_where_all_are_away_a_call_waits_at_the_next() -> None:
    channels = [CountingChannel(is_connected=False) for _ in range(2)]

    counts = await _call(*channels, times=4)

    assert counts == [2, 2]


def test_without_a_server_there_is_no_channel() -> None:
    with pytest.raises(ValueError, match="expected one channel at least"):
        SeveralChannels([])
