"""Validation of a proxy's headers, and the responses that browsers get through it."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientResponse

from tests.edge.oidc.tenants.world import World, world

ORIGIN = "https://shop.example.com"
PATH = "/auth/v1/clients/shop/forward_auth"
FORWARDED = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "shop.example.com",
    "X-Forwarded-Uri": "/cart?x=1",
    "X-Forwarded-Method": "GET",
}


@pytest.fixture(autouse=True)
async def _shop(provider: World) -> None:
    await provider.add_app(
        "default", id="shop", redirect_uris=(f"{ORIGIN}{PATH}/callback", "https://b.example/")
    )


async def asked(provider: World, query: str = "", **headers: str) -> ClientResponse:
    """Return the response to a proxy that sends these headers."""
    named = {f"X-Forwarded-{name.title()}": value for name, value in headers.items()}
    said = {name: value for name, value in (FORWARDED | named).items() if value}
    return await provider.http.get(f"{PATH}{query}", headers=said, allow_redirects=False)


async def finished(provider: World, response: ClientResponse) -> ClientResponse:
    """Sign in from this response, and return the response of the callback."""
    location = response.headers["Location"]
    arrival = await provider.person("", lambda person: person.sign_in(location))
    cookie = response.headers["Set-Cookie"].partition(";")[0]
    return await provider.http.get(
        f"{PATH}/callback?{urlsplit(arrival.url).query}", headers={"Cookie": cookie}, allow_redirects=False
    )


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 401), ("?redirect_state=302", 302), ("?redirect_state=303", 303), ("?redirect_state=403", 403)],
)
async def test_whoever_has_to_sign_in_is_told_where_by_the_status_that_the_proxy_wants(
    provider: World, query: str, status: int
) -> None:
    response = await asked(provider, query)

    location = urlsplit(response.headers["Location"])
    parameters = {name: value for name, [value] in parse_qs(location.query).items()}
    assert response.status == status
    assert response.headers["Location"].startswith(f"{provider.issuer()}oidc/authorize?")
    assert (parameters["client_id"], parameters["redirect_uri"]) == ("shop", f"{ORIGIN}{PATH}/callback")
    assert (parameters["response_type"], parameters["code_challenge_method"]) == ("code", "S256")
    assert (len(parameters["state"]), len(parameters["nonce"]), len(parameters["code_challenge"])) == (
        43,
        64,
        43,
    )


@pytest.mark.parametrize(
    "query", ["?redirect_state=200", "?redirect_state=307", "?redirect_state=x", "?danger_cookie_insecure=1"]
)
async def test_another_status_or_flag_is_refused(provider: World, query: str) -> None:
    assert (await asked(provider, query)).status == 400


async def test_two_sign_ins_have_nothing_in_common(provider: World) -> None:
    first, second = [parse_qs(urlsplit((await asked(provider)).headers["Location"]).query) for _ in range(2)]

    assert all(first[name] != second[name] for name in ("state", "nonce", "code_challenge"))


FOREIGN = [
    pytest.param({"host": "evil.example"}, id="another host"),
    pytest.param({"host": "shop.example.com.evil.example"}, id="begins alike"),
    pytest.param({"host": "shop.example"}, id="the client's begins so"),
    pytest.param({"host": "shop.example.com:8443"}, id="another port"),
    pytest.param({"host": "shop.example.com@evil.example"}, id="user information"),
    pytest.param({"host": "evil.example/shop.example.com"}, id="a path"),
    pytest.param({"host": "shop.example.com, evil.example"}, id="two hosts"),
    pytest.param({"host": "b.example"}, id="origin of the second redirect URI"),
    pytest.param({"host": ""}, id="no host"),
    pytest.param({"proto": ""}, id="no scheme"),
    pytest.param({"proto": "javascript"}, id="no scheme of the web"),
    pytest.param({"proto": "http"}, id="no TLS"),
    pytest.param({"method": ""}, id="no method"),
    pytest.param({"uri": ""}, id="no path"),
    pytest.param({"uri": "@evil.example/"}, id="a path that changes the host"),
    pytest.param({"uri": ".evil.example/"}, id="a path that goes on with the host"),
    pytest.param({"uri": ":80@evil.example/"}, id="a path that makes the host a user"),
    pytest.param({"uri": "/a b"}, id="a space"),
    pytest.param({"uri": "/ü"}, id="no ASCII"),
]


@pytest.mark.parametrize("headers", FOREIGN)
async def test_what_is_not_the_clients_service_is_refused(provider: World, headers: dict[str, str]) -> None:
    response = await asked(provider, **headers)

    assert response.status == 400
    assert not {"Location", "Set-Cookie"} & set(response.headers)


@pytest.mark.parametrize("host", ["shop.example.com:443", "SHOP.example.com"])
async def test_one_origin_has_several_spellings(provider: World, host: str) -> None:
    assert (await asked(provider, host=host)).status == 401


async def test_the_flag_lets_in_what_has_no_tls_but_no_other_origin(provider: World) -> None:
    # The client's address has TLS.
    assert (await asked(provider, "?danger_cookie_insecure=true", proto="http")).status == 400


async def test_a_header_that_comes_twice_says_nothing(provider: World) -> None:
    response = await provider.http.get(
        PATH, headers=[*FORWARDED.items(), ("X-Forwarded-Host", "shop.example.com")], allow_redirects=False
    )

    assert response.status == 400


@pytest.mark.parametrize("client_id", ["nobody", "app"])
async def test_a_client_that_there_is_not_has_no_service(provider: World, client_id: str) -> None:
    await provider.add_app("default", is_enabled=False)

    response = await provider.http.get(f"/auth/v1/clients/{client_id}/forward_auth", headers=FORWARDED)

    assert response.status == 404


@pytest.mark.parametrize(
    "uri", ["//evil.example/", "/\\evil.example", "/?to=https://evil.example", "/cart?x=%20"]
)
async def test_whoever_signed_in_stays_on_the_services_origin(provider: World, uri: str) -> None:
    response = await finished(provider, await asked(provider, uri=uri))

    assert (response.status, response.headers["Location"]) == (302, f"{ORIGIN}{uri}")


async def test_a_service_with_tls_has_cookies_that_nobody_else_sets(provider: World) -> None:
    sent_away = await asked(provider)
    back = await finished(provider, sent_away)

    cookies = {
        name: set(attributes)
        for cookie in (*sent_away.headers.getall("Set-Cookie"), *back.headers.getall("Set-Cookie"))
        for name, attributes in [(cookie.partition("=")[0], cookie.split("; ")[1:])]
    }
    host = {"Secure", "SameSite=Lax", "Path=/"}
    assert cookies == {
        "__Host-GnomonForwardBrowser.shop": {*host, "HttpOnly", "Max-Age=600"},
        "__Host-GnomonForward.shop": {*host, "HttpOnly", "Max-Age=1800"},
        "__Host-GnomonForwardCsrf.shop": {*host, "Max-Age=1800"},
    }


async def test_a_cookie_that_others_may_have_set_is_no_proof_to_a_service_with_tls(provider: World) -> None:
    sent_away = await asked(provider)
    location = sent_away.headers["Location"]
    arrival = await provider.person("", lambda person: person.sign_in(location))
    planted = sent_away.headers["Set-Cookie"].partition(";")[0].removeprefix("__Host-")

    response = await provider.http.get(
        f"{PATH}/callback?{urlsplit(arrival.url).query}",
        headers={"Cookie": planted, "X-Forwarded-Proto": "http"},
        allow_redirects=False,
    )

    assert (response.status, "Set-Cookie" in response.headers) == (403, False)


@pytest.fixture
async def stranger() -> AsyncIterator[World]:
    """A provider that does not trust the proxy on loopback."""
    async with world(trusted_proxies=("192.0.2.0/24",)) as found:
        await found.add_app("default", id="shop", redirect_uris=(f"{ORIGIN}{PATH}/callback",))
        yield found


async def test_a_proxy_that_is_not_trusted_is_told_nothing(stranger: World) -> None:
    response = await asked(stranger)

    assert response.status == 403
    assert not {"Location", "Set-Cookie"} & set(response.headers)
