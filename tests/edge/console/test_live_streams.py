"""Live documents as server-sent events: reads are shared, streams are bounded, and end with their permission."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import ClientPayloadError, ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from edge.console.live_streams import Live, LiveConfig, LiveStreams, Place
from server.platform.errors import NotFound, ServiceError, Unauthenticated

SECONDS = 20
# Reads may take all of the time, so that nothing but the pause is between them.
QUICK = LiveConfig(pause_seconds=0.01, heartbeat_seconds=3600, most_share=1e9)


@dataclass
class Pages:
    """Documents of pages that a test changes; `reads` are the viewers that read them."""

    live: dict[str, Live] = field(default_factory=dict)
    signed_out: set[str] = field(default_factory=set)
    reads: list[str] = field(default_factory=list)
    version: int = 1
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def change(self) -> None:
        """Announce a change that may affect every viewer."""
        async with self.changed:
            self.version += 1
            self.changed.notify_all()

    async def await_change(self, version: int) -> int:
        async with self.changed:
            await self.changed.wait_for(lambda: self.version > version)
        return self.version

    def reader(self, path: str, viewer: str) -> Callable[[], Any]:
        async def read() -> Live:
            self.reads.append(viewer)
            if viewer in self.signed_out:
                raise Unauthenticated("the session has ended")
            if path not in self.live:
                raise NotFound("there is no such page")
            return {"isFinal": False, **self.live[path]}

        return read


@dataclass(frozen=True)
class Viewers:
    pages: Pages
    http: TestClient[web.Request, web.Application]

    @asynccontextmanager
    async def viewer(
        self, name: str, path: str = "a", tenant: str = "default"
    ) -> AsyncIterator[ClientResponse]:
        response = await self.http.get(f"/{tenant}/{path}", params={"viewer": name})
        try:
            yield response
        finally:
            response.close()

    async def status(self, path: str = "a", tenant: str = "default") -> int:
        async with self.viewer("another", path, tenant) as response:
            return response.status


@asynccontextmanager
async def streams(config: LiveConfig = QUICK) -> AsyncIterator[Viewers]:
    pages, served = Pages({"a": {"count": 1}, "b": {"count": 1}}), LiveStreams(config)

    async def handle(request: web.Request) -> web.StreamResponse:
        tenant, path = request.match_info["tenant"], request.match_info["path"]
        try:
            read = pages.reader(path, request.query["viewer"])
            return await served.serve(request, Place(tenant, path), read, pages.await_change)
        except ServiceError as error:
            return web.Response(status=error.problem.status)

    app = web.Application()
    app.router.add_get("/{tenant}/{path}", handle)
    async with TestServer(app) as server, TestClient(server) as http:
        yield Viewers(pages, http)


async def counted(response: ClientResponse) -> int:
    """Return the count in the next event of a stream."""
    async with asyncio.timeout(SECONDS):
        while not (line := await response.content.readline()).startswith(b"data: "):
            assert line
    return int(json.loads(line.removeprefix(b"data: "))["count"])


async def ended(response: ClientResponse) -> None:
    """Wait until the server ends a stream."""
    async with asyncio.timeout(SECONDS):
        try:
            while await response.content.readline():
                pass
        except (ClientPayloadError, ConnectionError):
            return


async def test_a_stream_has_the_document_and_each_change() -> None:
    async with streams() as viewers, viewers.viewer("ada") as response:
        first = await counted(response)
        viewers.pages.live["a"] = {"count": 2}
        second = await counted(response)

    assert response.content_type == "text/event-stream"
    assert response.headers["Cache-Control"] == "no-store"
    assert (first, second) == (1, 2)


async def test_a_document_without_changes_is_not_sent_again() -> None:
    async with streams() as viewers, viewers.viewer("ada") as response, viewers.viewer("eve", "b") as other:
        await counted(response)
        await counted(other)
        for count in range(2, 5):
            viewers.pages.live["b"] = {"count": count}
            await counted(other)
        viewers.pages.live["a"] = {"count": 9}

        assert await counted(response) == 9


async def test_all_viewers_of_a_document_share_its_reads() -> None:
    names = [f"viewer-{number}" for number in range(20)]
    hourly = LiveConfig(pause_seconds=0.05, heartbeat_seconds=3600)
    async with streams(hourly) as viewers, AsyncExitStack() as opened:
        responses = [await opened.enter_async_context(viewers.viewer(name)) for name in names]
        for response in responses:
            await counted(response)
        viewers.pages.reads.clear()
        changes = 5
        for count in range(2, 2 + changes):
            viewers.pages.live["a"] = {"count": count}
            assert [await counted(response) for response in responses] == [count] * len(names)

        # Each of a change and the read after it that some viewers may wait for, not one read for each viewer.
        assert len(viewers.pages.reads) < changes * len(names)


async def test_a_stream_ends_with_the_session_at_the_next_heartbeat() -> None:
    config = LiveConfig(pause_seconds=0.01, heartbeat_seconds=0.05)
    async with streams(config) as viewers, viewers.viewer("ada") as ada, viewers.viewer("eve") as eve:
        await counted(ada)
        await counted(eve)
        viewers.pages.signed_out.add("ada")
        await ended(ada)
        viewers.pages.live["a"] = {"count": 2}

        assert await counted(eve) == 2


async def test_a_stream_ends_when_a_change_ended_the_session() -> None:
    async with streams() as viewers, viewers.viewer("ada") as ada, viewers.viewer("eve") as eve:
        await counted(ada)
        await counted(eve)
        viewers.pages.signed_out.add("ada")
        await viewers.pages.change()
        await ended(ada)
        viewers.pages.live["a"] = {"count": 2}

        assert await counted(eve) == 2


async def test_the_credential_of_one_viewer_shows_a_document_to_no_other() -> None:
    async with streams() as viewers, viewers.viewer("ada") as ada:
        await counted(ada)
        viewers.pages.signed_out.add("another")

        assert await viewers.status() == 401


async def test_a_stream_ends_with_the_last_change() -> None:
    async with streams() as viewers, viewers.viewer("ada") as response:
        await counted(response)
        viewers.pages.live["a"] = {"count": 2, "isFinal": True}

        assert await counted(response) == 2
        await ended(response)


async def test_a_document_that_does_not_exist_is_no_stream() -> None:
    async with streams() as viewers:
        assert await viewers.status("c") == 404


@pytest.mark.parametrize(
    ("bounds", "same_tenant", "other_tenant"),
    [
        pytest.param(LiveConfig(pause_seconds=0.01, most_of_tenant=3), 429, 200, id="tenant"),
        pytest.param(LiveConfig(pause_seconds=0.01, most=3), 429, 429, id="process"),
    ],
)
async def test_no_more_streams_are_open_than_the_bounds(
    bounds: LiveConfig, same_tenant: int, other_tenant: int
) -> None:
    async with streams(bounds) as viewers, AsyncExitStack() as opened:
        for number in range(3):
            await opened.enter_async_context(viewers.viewer(f"viewer-{number}"))

        assert await viewers.status("b") == same_tenant
        assert await viewers.status("b", tenant="other") == other_tenant


async def test_a_stream_that_ended_makes_room() -> None:
    async with streams(LiveConfig(pause_seconds=0.01, most=1)) as viewers:
        async with viewers.viewer("ada") as response:
            viewers.pages.live["a"] = {"count": 2, "isFinal": True}
            await ended(response)
        refused = await viewers.status("c")

        assert refused == 404
        assert await viewers.status() == 200


@pytest.mark.parametrize(
    ("cost", "pause"),
    [
        pytest.param(0.001, 1.0, id="few instances"),
        pytest.param(0.075, 1.875, id="half a million elements in PostgreSQL"),
        pytest.param(2.0, 10.0, id="a heartbeat reads in any case"),
    ],
)
def test_reads_take_a_small_share_of_the_time(cost: float, pause: float) -> None:
    assert LiveConfig().pause_after(cost) == pytest.approx(pause)


async def test_a_document_that_takes_long_is_read_less_often() -> None:
    patient = LiveConfig(pause_seconds=0.01, heartbeat_seconds=3600, most_share=1e-12)
    async with streams(patient) as viewers, viewers.viewer("ada") as response:
        first = await counted(response)
        viewers.pages.live["a"] = {"count": 2}
        async with viewers.viewer("eve") as other:
            second = await counted(other)
            third = await counted(response)

    assert (first, second, third) == (1, 2, 2)
    assert viewers.pages.reads == ["ada", "eve"]
