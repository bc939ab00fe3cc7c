"""The page at /docs and its files."""

import re

import pytest

from edge.documentation.page import SCRIPT, STYLES, VIEWER_SCRIPT, VIEWER_STYLES, html_of
from tests.edge.harness import Edge

STATIC = {name: f"/docs/static/{name}" for name in (SCRIPT, STYLES)}
VIEWER = {name: f"/docs/viewer/{name}" for name in (VIEWER_SCRIPT, VIEWER_STYLES)}


def test_the_page_loads_the_viewer_and_our_script_with_the_nonce() -> None:
    page = html_of(STATIC | VIEWER, "n0nce", document="/openapi.json")

    assert re.findall(r'<script defer src="([^"]+)" nonce="n0nce"></script>', page) == [
        "/docs/viewer/swagger-ui-bundle.js",
        "/docs/static/docs.js",
    ]
    assert '<div id="document" data-address="/openapi.json">' in page
    assert "make viewer" not in page


def test_without_the_viewer_the_page_says_how_to_get_it() -> None:
    page = html_of(STATIC, "n0nce", document="/openapi.json")

    assert "<code>make viewer</code> fetches it with npm" in page
    assert '<a href="/openapi.json">OpenAPI document</a>' in page
    assert "<script" not in page


async def test_the_policy_of_the_page_permits_nothing_unsafe_and_no_other_origin(local_edge: Edge) -> None:
    first, second = [await local_edge.send("GET", "/docs") for _ in range(2)]
    policy = first.headers["Content-Security-Policy"]

    assert (first.status, first.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert re.sub(r"'nonce-[\w-]{24}'", "NONCE", policy) == (
        "default-src 'none'; script-src NONCE; style-src NONCE; img-src 'self' data:; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert policy != second.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("page", "document"), [("/docs", "/openapi.json"), ("/docs/provider", "/auth/v1/openapi.json")]
)
async def test_each_api_has_a_page_with_its_document(local_edge: Edge, page: str, document: str) -> None:
    reply = await local_edge.send("GET", page)

    assert reply.status == 200
    assert f'<a href="{document}">OpenAPI document</a>' in reply.body.decode()
    assert (
        '<a href="/docs">Process API</a> <a href="/docs/provider">OpenID Provider</a>' in reply.body.decode()
    )


async def test_browsers_keep_a_file_of_the_page_for_ever(local_edge: Edge) -> None:
    page = await local_edge.send("GET", "/docs")
    (address,) = re.findall(rb'href="(/docs/static/docs\.[0-9a-f]{16}\.css)"', page.body)

    file = await local_edge.send("GET", address.decode())

    assert (file.status, file.headers["Content-Type"]) == (200, "text/css; charset=utf-8")
    assert file.headers["Cache-Control"] == "public, max-age=31536000, immutable"


async def test_the_address_with_a_slash_leads_to_the_page(local_edge: Edge) -> None:
    reply = await local_edge.send("GET", "/docs/", allow_redirects=False)

    assert (reply.status, reply.headers["Location"]) == (308, "/docs")


@pytest.mark.parametrize(
    "path",
    ["/docs/static/docs.js", "/docs/static/%2e%2e%2fpage.py", "/docs/viewer/LICENSE", "/docs/other/docs.js"],
)
async def test_only_addresses_of_the_page_are_files(local_edge: Edge, path: str) -> None:
    reply = await local_edge.send("GET", path)

    assert (reply.status, reply.headers["Content-Type"]) == (404, "application/problem+json")
