"""Start page, entry pages and well-known files."""

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

from tests.edge.oidc.protocol.provider import directives, page_of
from tests.identity.deployment import Deployment

Http = TestClient[web.Request, web.Application]

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
METADATA = "/auth/v1/.well-known/openid-configuration"


async def test_the_start_page_says_what_is_served_where(http: Http, deployment: Deployment) -> None:
    response = await http.get("/", headers=BROWSER)

    page = await page_of(response)
    assert (response.status, {*response.headers.getall("Vary")}) == (200, {"Accept", "Accept-Language"})
    assert page.xpath("//main//a/@href") == [
        "/console/",
        "/auth/v1/",
        "/auth/v1/device",
        "/docs",
        "/openapi.json",
        "/.well-known/openid-configuration",
    ]
    assert deployment.identity.issuer in page.xpath("//code/text()")
    assert directives(response)["default-src"] == "'none'"


async def test_a_program_gets_the_same_as_json(http: Http, deployment: Deployment) -> None:
    response = await http.get("/")

    issuer = deployment.identity.issuer
    assert (response.status, response.headers["Vary"]) == (200, "Accept")
    assert await response.json() == {
        "product": "gnomon",
        "documentation": "/docs",
        "openapi": "/openapi.json",
        "issuer": issuer,
        "openid_configuration": f"{issuer}.well-known/openid-configuration",
        "sign_in": "/auth/v1/",
    }


async def test_the_entry_page_leads_to_the_sign_in_and_to_the_metadata(
    http: Http, deployment: Deployment
) -> None:
    response = await http.get("/auth/v1/")

    page = await page_of(response)
    assert response.status == 200
    assert page.xpath("//main//a/@href") == [
        "/auth/v1/sign-in",
        "/auth/v1/device",
        METADATA,
        "/auth/v1/oidc/certs",
    ]
    assert deployment.identity.issuer in page.xpath("//code/text()")
    assert page.xpath("//html/@lang") == ["en"]
    assert page.xpath("//link[@rel='stylesheet']")
    assert directives(response)["default-src"] == "'none'"


@pytest.mark.parametrize(
    "path",
    ["/auth", "/auth/", "/auth/v1", "/auth/v1/nothing", "/auth/v2/x", "/auth/v1/oidc/x", "/auth/v1/oidc/"],
)
async def test_everything_unknown_leads_to_the_entry_page(http: Http, path: str) -> None:
    response = await http.get(path, headers={"Host": "evil.example"}, allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (308, "/auth/v1/")


@pytest.mark.parametrize("path", ["/auth", "/auth/v1/nothing", "/auth/v1/oidc/x", "/auth/v1/acme/users/x/y"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_what_changes_nothing_that_there_is_is_not_found(http: Http, method: str, path: str) -> None:
    response = await http.request(method, path, allow_redirects=False)

    assert (response.status, (await response.json())["error"]) == (404, "NotFound")
    assert "Location" not in response.headers


async def test_an_icon_is_kept_for_a_day(http: Http) -> None:
    response = await http.get("/favicon.ico")

    assert (response.status, response.content_type) == (200, "image/x-icon")
    assert (await response.read()).startswith(b"\x00\x00\x01\x00")
    assert response.headers["Cache-Control"] == "public, max-age=86400"


@pytest.mark.parametrize("path", ["/", "/auth/v1/", "/auth/v1/device", "/auth/v1/sign-in"])
async def test_every_page_names_its_icon(http: Http, path: str) -> None:
    page = await page_of(await http.get(path, headers=BROWSER))
    [address] = page.xpath("//link[@rel='icon']/@href")

    icon = await http.get(address)

    assert (icon.status, icon.content_type) == (200, "image/svg+xml")


async def test_robots_are_told_to_stay_away(http: Http) -> None:
    response = await http.get("/robots.txt")

    assert (response.status, response.content_type) == (200, "text/plain")
    assert await response.text() == "User-agent: *\nDisallow: /\n"


async def test_password_managers_find_where_a_password_is_changed(http: Http) -> None:
    response = await http.get("/.well-known/change-password", allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (302, "/auth/v1/account#password")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/favicon.ico",
        "/robots.txt",
        "/.well-known/change-password",
        "/auth/v1/",
        "/auth/v1/nothing",
        "/auth/v1/oidc/token",
        "/auth/v1/oidc/certs",
        "/auth/v1/oidc/certs/nothing",
        "/auth/v1/.well-known/openid-configuration",
    ],
)
async def test_every_answer_has_the_security_headers(http: Http, path: str) -> None:
    response = await http.get(path, allow_redirects=False)

    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert response.headers["Cache-Control"]
