"""Moves the virtual clock of the embedded mode."""

from datetime import UTC, datetime, timedelta

from gnomon.engine.v1 import clock_service_pb2 as pb
from server.partition.partition import Partition
from server.platform.call import Call
from server.platform.clock import VirtualClock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ClockServicer:
    def __init__(self, clock: VirtualClock, partition: Partition) -> None:
        self._clock = clock
        self._partition = partition

    async def pin_clock(self, request: pb.PinClockRequest, call: Call) -> pb.PinClockResponse:
        self._clock.pin(EPOCH + timedelta(milliseconds=request.timestamp))
        await self._settle()
        return pb.PinClockResponse()

    async def reset_clock(self, request: pb.ResetClockRequest, call: Call) -> pb.ResetClockResponse:
        self._clock.reset()
        await self._settle()
        return pb.ResetClockResponse()

    async def _settle(self) -> None:
        self._partition.clock_moved()
        await self._partition.settle()
