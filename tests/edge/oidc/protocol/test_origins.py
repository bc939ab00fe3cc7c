import pytest

from gnomon.identity.v1.proof_of_work_service_pb2 import IssueChallengeRequest, IssueChallengeResponse
from tests.edge.oidc.protocol.provider import Provider

FOR_PAGES = [
    "/oidc/token",
    "/oidc/token/revoke",
    "/oidc/introspect",
    "/oidc/par",
    "/oidc/userinfo",
    "/clients_dyn",
]
OWN = ["/oidc/session", "/oidc/authorize/refresh", "/oidc/device/verify"]
APP = {"Origin": "https://app.example"}


async def test_a_challenge_is_plain_text_that_anybody_may_read(provider: Provider) -> None:
    provider.answers(issue_challenge=IssueChallengeResponse(challenge="1:10:x:"))

    response = await provider.http.post("/auth/v1/acme/pow", headers=APP)

    assert (response.status, response.content_type) == (200, "text/plain")
    assert (await response.text(), response.headers["Cache-Control"]) == ("1:10:x:", "no-store")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert provider.asked(IssueChallengeRequest).tenant_id == "acme"


@pytest.mark.parametrize("path", FOR_PAGES)
async def test_a_public_client_in_a_page_may_ask_without_cookies(provider: Provider, path: str) -> None:
    preflight = await provider.http.options(f"/auth/v1{path}", headers=APP)
    response = await provider.http.post(
        f"/auth/v1{path}", headers=APP | {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
    )

    assert preflight.status == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert preflight.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Type, DPoP"
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize("path", [*OWN, "/oidc/sessioninfo/xsrf", "/oidc/authorize", "/oidc/logout"])
async def test_what_knows_cookies_is_read_by_no_other_origin(provider: Provider, path: str) -> None:
    preflight = await provider.http.options(f"/auth/v1{path}", headers=APP)

    assert not [name for name in preflight.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("path", OWN)
@pytest.mark.parametrize(
    ("site", "mode"), [("cross-site", "cors"), ("same-site", "navigate"), ("none", "navigate")]
)
async def test_another_page_changes_nothing(provider: Provider, path: str, site: str, mode: str) -> None:
    response = await provider.http.post(
        f"/auth/v1{path}", json={}, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
    )

    assert (response.status, (await response.json())["error"]) == (400, "BadRequest")
    assert provider.servicers.requests == []


@pytest.mark.parametrize(
    ("path", "site", "mode", "destination", "is_answered"),
    [
        ("/device", "cross-site", "navigate", "document", True),
        ("/device", "none", "navigate", "document", True),
        ("/device", "cross-site", "navigate", "iframe", False),
        ("/device", "cross-site", "cors", "empty", False),
        ("/device", "cross-site", "no-cors", "script", False),
        ("/oidc/sessioninfo/xsrf", "same-origin", "cors", "empty", True),
        ("/oidc/sessioninfo/xsrf", "none", "navigate", "document", True),
        ("/oidc/sessioninfo/xsrf", "cross-site", "navigate", "document", False),
        ("/oidc/sessioninfo", "same-site", "cors", "empty", False),
        ("/oidc/authorize", "cross-site", "navigate", "iframe", True),
        ("/oidc/logout", "cross-site", "navigate", "document", True),
    ],
)
async def test_links_lead_to_pages_and_nothing_else(
    provider: Provider, path: str, site: str, mode: str, destination: str, *, is_answered: bool
) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": destination}

    await provider.http.get(f"/auth/v1{path}", headers=headers)

    assert bool(provider.servicers.requests) == is_answered
