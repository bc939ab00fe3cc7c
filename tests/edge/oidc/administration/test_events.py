import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from aiohttp import ClientError, ClientResponse

from edge.oidc.administration.event_stream import MOST_STREAMS
from tests.edge.oidc.administration.administrator import Administrator
from tests.identity.deployment import NOON, Deployment

SECONDS = 20
A_MOMENT = timedelta(seconds=2)


class Stream:
    """The client of an event stream, which reads whole messages."""

    def __init__(self, response: ClientResponse) -> None:
        self.response = response

    async def message(self) -> dict[str, str]:
        """Return the next message that is not a comment."""
        async with asyncio.timeout(SECONDS):
            while True:
                lines = await self._lines()
                fields = dict(line.split(": ", 1) for line in lines if not line.startswith(":"))
                if "data" in fields:
                    return fields

    async def event(self) -> dict[str, object]:
        return dict(json.loads((await self.message())["data"]))

    async def _lines(self) -> list[str]:
        lines: list[str] = []
        while line := (await self.response.content.readline()).decode().rstrip("\n"):
            lines.append(line)
        assert not self.response.content.at_eof()
        return lines


@asynccontextmanager
async def stream(
    administrator: Administrator, query: str = "", last_event_id: str = "", tenant: str = ""
) -> AsyncIterator[Stream]:
    headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
    response = await administrator.send("GET", f"{tenant}events/stream{query}", headers=headers)
    try:
        assert response.status == 200, await response.text()
        assert response.content_type == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"
        yield Stream(response)
    finally:
        response.close()


async def happen(administrator: Administrator, deployment: Deployment, *ips: str) -> None:
    """Block addresses one after another, each of which emits an event."""
    for ip in ips:
        await administrator.send("POST", "blacklist", {"ip": ip, "exp": int(NOON.timestamp()) + 3600})
        deployment.clock.advance(timedelta(milliseconds=1))


async def test_an_event_says_who_did_it(administrator: Administrator) -> None:
    await administrator.send("POST", "events/test")

    (event,) = await (await administrator.send("POST", "events", {"from": 0, "typ": "Test"})).json()

    assert len(event.pop("id")) == 8
    assert event == {
        "timestamp": int(NOON.timestamp()) * 1000,
        "level": "info",
        "typ": "Test",
        "ip": "127.0.0.1",
        "data": None,
        "text": None,
        "user_id": None,
        "client_id": None,
        "session": None,
        "actor": {"kind": "client", "id": "service", "name": "service"},
    }


async def test_events_are_listed_by_level_and_type_the_newest_first(
    administrator: Administrator, deployment: Deployment
) -> None:
    await administrator.send("POST", "events/test")
    await happen(administrator, deployment, "192.0.2.1", "192.0.2.2")

    warnings = await (await administrator.send("POST", "events", {"from": 0, "level": "warning"})).json()

    assert [event["ip"] for event in warnings] == ["192.0.2.2", "192.0.2.1"]
    assert await administrator.typs(typ="Test") == ["Test"]
    assert await administrator.typs(until=int(NOON.timestamp())) == []


@pytest.mark.parametrize("body", [{}, {"from": -1}, {"from": 0, "level": "loud"}, {"from": "0"}], ids=str)
async def test_a_range_that_makes_no_sense_is_refused(
    administrator: Administrator, body: dict[str, object]
) -> None:
    assert (await administrator.send("POST", "events", body)).status == 400


async def test_the_stream_begins_with_the_latest_and_goes_on(
    administrator: Administrator, deployment: Deployment
) -> None:
    await happen(administrator, deployment, "192.0.2.1", "192.0.2.2", "192.0.2.3")
    deployment.clock.advance(A_MOMENT)

    async with stream(administrator, "?latest=2&level=warning") as listening:
        latest = [(await listening.event())["ip"] for _ in range(2)]
        await happen(administrator, deployment, "192.0.2.4")
        deployment.clock.advance(A_MOMENT)
        live = (await listening.event())["ip"]

    assert (latest, live) == (["192.0.2.2", "192.0.2.3"], "192.0.2.4")


async def test_a_stream_goes_on_where_the_last_one_broke_off(
    administrator: Administrator, deployment: Deployment
) -> None:
    await happen(administrator, deployment, "192.0.2.1", "192.0.2.2", "192.0.2.3")
    deployment.clock.advance(A_MOMENT)
    async with stream(administrator, "?latest=3&level=warning") as listening:
        position = (await listening.message())["id"]

    async with stream(administrator, "?latest=3&level=warning", last_event_id=position) as listening:
        rest = [(await listening.event())["ip"] for _ in range(2)]

    assert rest == ["192.0.2.2", "192.0.2.3"]


async def test_a_stream_is_of_one_tenant(administrator: Administrator, deployment: Deployment) -> None:
    await happen(administrator, deployment, "192.0.2.1")
    await administrator.send("POST", "acme/events/test")
    deployment.clock.advance(A_MOMENT)

    async with stream(administrator, "?latest=10", tenant="acme/") as listening:
        event = await listening.event()

    assert event["typ"] == "Test"


async def test_a_stream_ends_with_the_right_to_listen(
    administrator: Administrator, deployment: Deployment
) -> None:
    key = await administrator.key("listener", Events=["read"])

    async with stream(key) as listening:
        await administrator.send("DELETE", "api_keys/listener")
        await administrator.send("POST", "events/test")
        deployment.clock.advance(A_MOMENT)
        # The pending poll still returns its event; the next poll is refused.
        async with asyncio.timeout(SECONDS):
            rest = await _to_the_end(listening.response)

    assert b"retry: 10000" in rest


async def _to_the_end(response: ClientResponse) -> bytes:
    read = b""
    try:
        while chunk := await response.content.readany():
            read += chunk
    except (ClientError, ConnectionError):
        return read
    return read


@pytest.mark.parametrize("query", ["?latest=1001", "?latest=-1", "?latest=x", "?level=loud"])
async def test_a_question_that_makes_no_sense_is_refused(administrator: Administrator, query: str) -> None:
    assert (await administrator.send("GET", f"events/stream{query}")).status == 400


async def test_whoever_may_not_listen_is_told_so(administrator: Administrator) -> None:
    key = await administrator.key("deaf", Clients=["read"])

    assert (await key.send("GET", "events/stream")).status == 403
    assert (await administrator.http.get("/auth/v1/events/stream")).status == 401


async def test_no_more_streams_are_open_than_the_bound(administrator: Administrator) -> None:
    opened = [await administrator.send("GET", "events/stream") for _ in range(MOST_STREAMS)]

    refused = await administrator.send("GET", "events/stream")

    assert {response.status for response in opened} == {200}
    assert (refused.status, refused.headers["Retry-After"]) == (429, "10")
    for response in opened:
        response.close()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "events", {"from": 2**63}),
        ("PUT", "api_keys/reader", {"name": "reader", "exp": -(2**63) - 1, "access": []}),
    ],
)
async def test_a_number_that_no_field_can_hold_is_refused(
    administrator: Administrator, method: str, path: str, body: dict[str, object]
) -> None:
    refused = await administrator.send(method, path, body)

    assert (refused.status, (await refused.json())["error"]) == (400, "BadRequest")
