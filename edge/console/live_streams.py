"""Live documents of pages as server-sent events (HTML Living Standard §9.2).

All viewers of a document share its reads: one a second, or fewer if they take long, by the viewer whose turn it is. A
viewer reads it with its own credential when its stream begins, at each heartbeat, and when what its user may do may have
changed. A stream therefore ends within a second after the session or the permission.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import hdrs, web

from edge.oidc.access.request_policy import SECURITY_HEADERS
from server.platform.errors import ServiceError
from server.platform.languages import marked

# A document by its name; `isFinal` says that it never changes again.
Live = dict[str, Any]
Read = Callable[[], Awaitable[Live]]
# Waits for a change that may affect the viewer, after a version that is 0 at first; returns the version.
AwaitChange = Callable[[int], Awaitable[int]]

MEDIA_TYPE = "text/event-stream"
_HEADERS = {**SECURITY_HEADERS, hdrs.CONTENT_TYPE: MEDIA_TYPE, "X-Accel-Buffering": "no"}
_KEEP_ALIVE = b": keep-alive\n\n"
_RETRY_AFTER_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Place:
    """The document of a page: its tenant, and its path below the tenant."""

    tenant: str
    path: str


@dataclass(frozen=True, slots=True)
class LiveConfig:
    """Bounds and pauses of live streams.

    A document is read once in `pause_seconds`, and by each of its viewers once in `heartbeat_seconds`. Counting many
    instances takes long: the pauses between such reads grow until reads take `most_share` of the time. A viewer that
    accepts nothing for `write_seconds` is disconnected; a stream lasts `longest_seconds`, then the browser reconnects.
    """

    most: int = 512
    most_of_tenant: int = 128
    pause_seconds: float = 1.0
    heartbeat_seconds: float = 10.0
    write_seconds: float = 5.0
    longest_seconds: float = 3600.0
    most_share: float = 0.04

    def pause_after(self, cost: float) -> float:
        """Return the seconds between two reads that take `cost` seconds; a heartbeat reads in any case."""
        return min(max(self.pause_seconds, cost / self.most_share), self.heartbeat_seconds)


@dataclass(frozen=True, slots=True)
class _Event:
    """A document as it is sent."""

    octets: bytes
    is_final: bool


@dataclass(slots=True)
class _Document:
    """The last read of a document, its time by the clock of the loop, its duration, and the number of viewers."""

    viewers: int = 0
    cost: float = 0.0
    event: _Event = field(default_factory=lambda: _Event(b"", is_final=False))
    read_at: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, read: Read) -> _Event:
        async with self.lock:
            return await self._read(read)

    async def latest(self, read: Read, config: LiveConfig) -> _Event:
        """Return the document that any viewer read during the last pause, or read it now."""
        async with self.lock:
            is_fresh = _now() < self.read_at + config.pause_after(self.cost)
            return self.event if is_fresh else await self._read(read)

    async def _read(self, read: Read) -> _Event:
        begun = _now()
        live = await read()
        self.event = _Event(b"data: %b\n\n" % orjson.dumps(live), live["isFinal"])
        self.read_at = _now()
        self.cost = self.read_at - begun
        return self.event


class _Viewer:
    """Notices changes of what a viewer may see."""

    def __init__(self, await_change: AwaitChange, version: int) -> None:
        self._await_change = await_change
        self._version = version
        self._has_changed = asyncio.Event()

    async def watch(self) -> None:
        """Watch until cancelled; raises ServiceError when the session has ended."""
        while True:
            version = await self._await_change(self._version)
            if version != self._version:
                self._version = version
                self._has_changed.set()

    async def changed_within(self, seconds: float) -> bool:
        """Return whether there was a change, after these seconds at the latest."""
        try:
            async with asyncio.timeout(seconds):
                await self._has_changed.wait()
        except TimeoutError:
            return False
        self._has_changed.clear()
        return True


class LiveStreams:
    """The open streams of this process."""

    def __init__(self, config: LiveConfig | None = None) -> None:
        self._config = config or LiveConfig()
        self._documents: dict[Place, _Document] = {}
        self._of_tenant: Counter[str] = Counter()

    async def serve(
        self, request: web.Request, place: Place, read: Read, await_change: AwaitChange
    ) -> web.StreamResponse:
        """Send the document now and whenever it changed, until it is final.

        Raises the errors of `read` and `await_change`, before the response begins.
        """
        config = self._config
        if self._of_tenant.total() >= config.most or self._of_tenant[place.tenant] >= config.most_of_tenant:
            return _too_many()
        with self._watched(place) as document:
            viewer = _Viewer(await_change, await await_change(0))
            event = await document.read(read)
            response = web.StreamResponse(headers=_HEADERS)
            await response.prepare(request)
            try:
                async with asyncio.timeout(config.longest_seconds), asyncio.TaskGroup() as tasks:
                    watching = tasks.create_task(viewer.watch())
                    await self._send_changes(response, document, event, read, viewer)
                    watching.cancel()
            except* (TimeoutError, ConnectionError, ServiceError):
                # The headers are sent, so an error can only end the stream.
                if request.transport is not None:
                    request.transport.abort()
            return response

    async def _send_changes(
        self,
        response: web.StreamResponse,
        document: _Document,
        event: _Event,
        read: Read,
        viewer: "_Viewer",
    ) -> None:
        config = self._config
        sent = b""
        proven_at = _now()
        while True:
            if event.octets != sent:
                await self._write(response, event.octets)
                sent = event.octets
            if event.is_final:
                return
            has_changed = await viewer.changed_within(config.pause_seconds)
            if not has_changed and _now() < proven_at + config.heartbeat_seconds:
                event = await document.latest(read, config)
            else:
                event = await document.read(read)
                proven_at = _now()
                await self._write(response, _KEEP_ALIVE)

    async def _write(self, response: web.StreamResponse, text: bytes) -> None:
        """Return when the reader has room for more; raises TimeoutError after too long without room."""
        async with asyncio.timeout(self._config.write_seconds):
            await response.write(text)

    @contextmanager
    def _watched(self, place: Place) -> Iterator[_Document]:
        """Keep a document as long as it has a viewer."""
        document = self._documents.setdefault(place, _Document())
        document.viewers += 1
        self._of_tenant[place.tenant] += 1
        try:
            yield document
        finally:
            document.viewers -= 1
            if not document.viewers:
                del self._documents[place]
            self._of_tenant[place.tenant] -= 1
            if not self._of_tenant[place.tenant]:
                del self._of_tenant[place.tenant]


def _too_many() -> web.Response:
    headers = {hdrs.RETRY_AFTER: str(_RETRY_AFTER_SECONDS), hdrs.CACHE_CONTROL: "no-store"}
    return web.Response(status=429, text=marked("Too many live pages are open."), headers=headers)


def _now() -> float:
    return asyncio.get_running_loop().time()
