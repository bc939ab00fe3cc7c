"""The management endpoints that Camunda's process-test library calls: the clock, and a fresh start for each test.

They ask for no credential, because the library sends none. So they are served in embedded mode alone, on loopback
addresses alone, where the configuration says so; requests that a browser sends for a page of another site are refused.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

import msgspec
import orjson
from aiohttp import hdrs, web

from edge.problem import guarded
from gnomon.engine.v1 import clock_service_pb2 as pb
from gnomon.engine.v1.clock_service_pb2_grpc import ClockServiceStub
from server.platform.channels import Channel
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, PermissionDenied

if TYPE_CHECKING:
    import grpc

    from gnomon.engine.v1.clock_service_pb2_grpc import ClockServiceAsyncStub

CLOCK = "/actuator/clock"
PURGE = "/actuator/cluster/purge"
# The topology that the library asks for afterwards answers with it as completed.
CHANGE_ID = 1
_LARGEST_OFFSET = 315_360_000_000_000  # ten thousand years


class _Addition(msgspec.Struct):
    """By how much the clock moves; the name is the library's."""

    offset_milli: int = msgspec.field(name="offsetMilli")


def process_test_routes(
    channel: Channel, clock: Clock, purge: Callable[[], Awaitable[None]]
) -> list[web.RouteDef]:
    """Return the routes. `channel` leads to the service of the clock, `purge` forgets every process and its data."""
    stub: ClockServiceAsyncStub = ClockServiceStub(cast("grpc.aio.Channel", channel))
    endpoints = _Endpoints(stub, clock, purge)
    return [
        web.get(CLOCK, guarded(endpoints.read)),
        web.delete(CLOCK, guarded(endpoints.reset)),
        web.post(f"{CLOCK}/add", guarded(endpoints.add)),
        web.post(PURGE, guarded(endpoints.forget)),
    ]


class _Endpoints:
    def __init__(
        self, stub: "ClockServiceAsyncStub", clock: Clock, purge: Callable[[], Awaitable[None]]
    ) -> None:
        self._stub = stub
        self._clock = clock
        self._purge = purge

    async def read(self, _: web.Request) -> web.Response:
        return _told(self._clock.now())

    async def add(self, request: web.Request) -> web.Response:
        """The clock stands still from here on, until it is moved again or reset."""
        _expect_program(request)
        try:
            offset = msgspec.json.decode(await request.read(), type=_Addition).offset_milli
        except msgspec.DecodeError as error:
            raise InvalidArgument("expected offsetMilli, a number of milliseconds") from error
        instant = _moved(self._clock.now(), offset)
        await self._stub.PinClock(pb.PinClockRequest(timestamp=_milliseconds(instant)))
        return _told(self._clock.now())

    async def reset(self, request: web.Request) -> web.Response:
        _expect_program(request)
        await self._stub.ResetClock(pb.ResetClockRequest())
        return _told(self._clock.now())

    async def forget(self, request: web.Request) -> web.Response:
        _expect_program(request)
        await self._purge()
        return _json({"changeId": CHANGE_ID, "plannedChanges": []})


def _expect_program(request: web.Request) -> None:
    if hdrs.ORIGIN in request.headers:
        raise PermissionDenied("expected a request of a program, found one of a web page")


def _moved(instant: datetime, milliseconds: int) -> datetime:
    if abs(milliseconds) > _LARGEST_OFFSET:
        raise InvalidArgument("offsetMilli: expected at most ten thousand years")
    try:
        moved = instant + timedelta(milliseconds=milliseconds)
    except OverflowError as error:
        raise InvalidArgument("offsetMilli: the clock would leave the years 1970 to 9999") from error
    if _milliseconds(moved) < 0:
        raise InvalidArgument("offsetMilli: the clock would leave the years 1970 to 9999")
    return moved


def _milliseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)


def _told(instant: datetime) -> web.Response:
    text = instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _json({"epochMilli": _milliseconds(instant), "instant": text})


def _json(members: dict[str, object]) -> web.Response:
    return web.Response(body=orjson.dumps(members), content_type="application/json")
