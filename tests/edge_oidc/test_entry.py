import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

Http = TestClient[web.Request, web.Application]


async def test_the_entry_page_leads_to_the_metadata(http: Http) -> None:
    response = await http.get("/auth/v1/")

    page = await response.text()
    assert response.status == 200
    assert 'href="/auth/v1/.well-known/openid-configuration"' in page
    assert '<html lang="en">' in page
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    "path", ["/auth", "/auth/", "/auth/v1", "/auth/v1/nothing", "/auth/v2/x", "/auth/v1/oidc/x"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_everything_unknown_leads_to_the_entry_page(http: Http, method: str, path: str) -> None:
    response = await http.request(method, path, headers={"Host": "evil.example"}, allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (308, "/auth/v1/")


@pytest.mark.parametrize(
    "path",
    [
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
    assert response.headers["Strict-Transport-Security"] == "max-age=31536000;includeSubDomains"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert response.headers["Cache-Control"]
