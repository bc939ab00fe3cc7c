"""Unknown addresses: a page for a browser, a problem for a program."""

import json

import pytest

from edge.oidc.unknown_address import unknown_address_page
from server.platform.clock import SystemClock
from tests.edge.harness import running

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/console", "/v2/nothing", "/v2/jobs/42/failure"])
async def test_a_browser_gets_a_page(path: str) -> None:
    async with running("local", page_of=unknown_address_page(SystemClock())) as edge:
        reply = await edge.send("GET", path, headers=BROWSER | {"X-Request-Id": "request-7"})

    assert (reply.status, reply.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "Page not found" in reply.body.decode()
    assert "request-7" in reply.body.decode()
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
    assert (reply.headers["Cache-Control"], reply.headers["Server"]) == ("no-store", "gnomon")


@pytest.mark.parametrize(
    "headers",
    [{"Accept": "*/*"}, {"Accept": "application/json"}, BROWSER | {"Authorization": "Bearer t"}],
)
async def test_a_program_gets_a_problem(headers: dict[str, str]) -> None:
    async with running("local", page_of=unknown_address_page(SystemClock())) as edge:
        reply = await edge.send("GET", "/console", headers=headers)

    assert (reply.status, reply.headers["Content-Type"]) == (404, "application/problem+json")
    assert json.loads(reply.body) == {
        "type": "urn:bpm:error:not-found",
        "title": "NOT_FOUND",
        "status": 404,
        "detail": "there is no GET /console",
        "instance": "/console",
    }
