"""GET /events/stream: security events as server-sent events (HTML Living Standard §9.2).

The endpoint polls the service for at most a hundred events, and only after the last ones were written, so nothing
accumulates for a slow reader. A reader that accepts nothing for five seconds is disconnected. It reconnects with
Last-Event-ID and misses no event.
"""

import asyncio
import re
from collections.abc import Iterable
from typing import cast

import grpc
import orjson
from aiohttp import hdrs, web

from edge.fields import words_of
from edge.oidc.access.body import bad_request
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.message_json import members
from edge.oidc.access.refusal import Refused
from edge.oidc.access.request_policy import SECURITY_HEADERS
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import described, may, plain
from edge.oidc.openapi.schemas import INTEGER, choice
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import event_service_pb2 as pb

LEVELS = words_of(pb.EventLevel.DESCRIPTOR)
MOST_STREAMS = 64
MOST_LATEST = 1000

_WAIT_SECONDS = 15
_LONGEST_SECONDS = 3600.0
_WRITE_SECONDS = 5.0
_RETRY = b"retry: 10000\n\n"
_KEEP_ALIVE = b": keep-alive\n\n"
_POSITION = re.compile(r"[0-9]{13}[A-Za-z0-9]{0,8}")
_LAST_EVENT_ID = "Last-Event-ID"
_HEADERS = {hdrs.CONTENT_TYPE: "text/event-stream", "X-Accel-Buffering": "no"}


class EventStreamEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._events = stubs.events
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._streams = 0

    @described(
        "Security events as they happen: server-sent events of the WHATWG HTML standard.",
        plain("The events.", media_type="text/event-stream"),
        query=(
            may("latest", "Number of past events to begin with.", INTEGER),
            may("level", "The lowest level.", choice(*LEVELS)),
        ),
        headers=(may("Last-Event-ID", "The event after which the stream goes on."),),
    )
    async def get(self, request: web.Request) -> web.StreamResponse:
        if self._streams >= MOST_STREAMS:
            raise Refused(429, "TooManyRequests", "too many streams of events are open", retry_after=10)
        self._streams += 1
        try:
            return await self._stream(request, self._asked(request))
        finally:
            self._streams -= 1

    async def _stream(self, request: web.Request, asked: pb.AwaitEventsRequest) -> web.StreamResponse:
        # Before the response begins, so that a caller without permission gets an error status.
        found = await self._await(asked, wait_secs=0)
        response = web.StreamResponse(headers={**SECURITY_HEADERS, **_HEADERS})
        await response.prepare(request)
        try:
            async with asyncio.timeout(_LONGEST_SECONDS):
                await _write(response, _RETRY)
                while True:
                    await _write(response, _written(found.events) or _KEEP_ALIVE)
                    asked.after = found.position
                    found = await self._await(asked, wait_secs=_WAIT_SECONDS)
        except (TimeoutError, ConnectionError, grpc.RpcError):
            # The headers are sent, so an error can only end the stream.
            if request.transport is not None:
                request.transport.abort()
        return response

    async def _await(self, asked: pb.AwaitEventsRequest, *, wait_secs: int) -> pb.AwaitEventsResponse:
        asked.wait_secs = wait_secs
        return await self._events.AwaitEvents(asked, timeout=wait_secs + self._timeout)

    def _asked(self, request: web.Request) -> pb.AwaitEventsRequest:
        """Raises Refused."""
        latest, level = request.query.get("latest", "0"), request.query.get("level", "info")
        is_number = latest.isascii() and latest.isdecimal() and len(latest) <= len(str(MOST_LATEST))
        if not is_number or int(latest) > MOST_LATEST:
            raise bad_request(f"latest: expected 0 to {MOST_LATEST}")
        if level not in LEVELS:
            raise bad_request(f"level: expected one of {', '.join(LEVELS)}")
        position = request.headers.get(_LAST_EVENT_ID, "")
        return pb.AwaitEventsRequest(
            tenant_id=tenant_of(request),
            caller=caller_of(request, self._browsers),
            after=position if _POSITION.fullmatch(position) else "",
            latest=int(latest),
            level=cast("pb.EventLevel.ValueType", LEVELS[level]),
        )


async def _write(response: web.StreamResponse, text: bytes) -> None:
    """Return when the reader has room for more; raises TimeoutError after too long without room."""
    async with asyncio.timeout(_WRITE_SECONDS):
        await response.write(text)


def _written(events: Iterable[pb.SecurityEvent]) -> bytes:
    return b"".join(
        b"id: %b\ndata: %b\n\n" % (event.position.encode(), orjson.dumps(members(event))) for event in events
    )
