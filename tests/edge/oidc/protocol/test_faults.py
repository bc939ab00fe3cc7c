"""Every response below the prefix has the provider's headers, also after unexpected errors."""

from collections.abc import AsyncIterator
from typing import NoReturn

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from edge.oidc.access.request_policy import SECURITY_HEADERS
from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes
from server.platform.clock import VirtualClock
from tests.edge.oidc.protocol.provider import NOON, Http


class BrokenChannel:
    """A channel with an internal error, whose details must stay hidden."""

    def unary_unary(self, *_args: object, **_options: object) -> "BrokenChannel":
        return self

    def __call__(self, *_args: object, **_options: object) -> NoReturn:
        raise RuntimeError("secret")


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    app = web.Application()
    app.add_routes(routes(BrokenChannel(), OidcConfig(), VirtualClock(pinned=NOON)))
    async with TestClient(TestServer(app)) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("GET", "/oidc/authorize", id="page"),
        pytest.param("GET", "/oidc/certs", id="document"),
        pytest.param("GET", "/oidc/sessioninfo", id="session"),
        pytest.param("DELETE", "/acme/users/1", id="administration"),
    ],
)
async def test_of_a_fault_nothing_gets_out(http: Http, method: str, path: str) -> None:
    response = await http.request(method, f"/auth/v1{path}")

    assert (response.status, response.content_type) == (500, "application/json")
    assert await response.json() == {
        "error": "Internal",
        "message": "an internal error occurred",
        "timestamp": int(NOON.timestamp()),
    }
    assert manners_of(response) == SECURITY_HEADERS


async def test_a_fault_of_a_protocol_endpoint_is_an_error_of_oauth(http: Http) -> None:
    response = await http.post("/auth/v1/oidc/token")

    assert (response.status, response.content_type) == (500, "application/json")
    assert await response.json() == {
        "error": "server_error",
        "error_description": "an internal error occurred",
        "message": "an internal error occurred",
        "timestamp": int(NOON.timestamp()),
    }
    assert manners_of(response) == SECURITY_HEADERS
    assert response.headers["Access-Control-Allow-Origin"] == "*"


async def test_a_header_that_no_request_may_have_is_refused_alike(http: Http) -> None:
    response = await http.post("/auth/v1/oidc/token", headers={"X-Request-Id": "x" * 1000})

    assert (response.status, (await response.json())["error"]) == (400, "invalid_request")
    assert manners_of(response) == SECURITY_HEADERS


def manners_of(response: ClientResponse) -> dict[str, str]:
    return {name: response.headers.get(name, "") for name in SECURITY_HEADERS}
