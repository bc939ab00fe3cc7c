from collections.abc import AsyncIterator

import pytest
from yarl import URL

from edge.oidc.access.canonical_host import CanonicalHost
from tests.edge.oidc.protocol.provider import Provider, running

ORIGIN = "http://localhost:8080"
ALIASES = frozenset({"127.0.0.1:8080", "[::1]:8080"})
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
AT_AN_ALIAS = {"Host": "127.0.0.1:8080"}


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with running(canonical=CanonicalHost(ORIGIN, ALIASES)) as found:
        yield found


@pytest.mark.parametrize("host", sorted(ALIASES))
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_browser_that_navigates_to_an_alias_goes_on_at_the_issuer(
    provider: Provider, host: str, method: str
) -> None:
    path = "/auth/v1/oidc/authorize?client_id=app&state=%2F%2Fevil.example"

    response = await provider.http.request(
        method, URL(path, encoded=True), headers=BROWSER | {"Host": host}, allow_redirects=False
    )

    assert (response.status, response.headers["Location"]) == (307, f"{ORIGIN}{path}")


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(BROWSER | {"Host": "localhost:8080"}, id="the issuer's own host"),
        pytest.param(BROWSER | {"Host": "127.0.0.1:8081"}, id="another listener"),
        pytest.param(BROWSER | {"Host": "app.example"}, id="a host of a tenant"),
        pytest.param(AT_AN_ALIAS | {"Accept": "*/*"}, id="a script"),
        pytest.param(BROWSER | AT_AN_ALIAS | {"X-Forwarded-Host": "app.example"}, id="a proxy"),
    ],
)
async def test_every_other_request_stays_where_it_is(provider: Provider, headers: dict[str, str]) -> None:
    response = await provider.http.get("/auth/v1/", headers=headers, allow_redirects=False)

    assert response.status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/auth/v1/oidc/forward_auth",
        "/auth/v1/clients/app/forward_auth",
        "/auth/v1/.well-known/openid-configuration",
        "/auth/v1/oidc/certs",
    ],
)
async def test_programs_that_carry_the_headers_of_a_browser_are_not_redirected(
    provider: Provider, path: str
) -> None:
    response = await provider.http.get(path, headers=BROWSER | AT_AN_ALIAS, allow_redirects=False)

    assert response.headers.get("Location") is None
