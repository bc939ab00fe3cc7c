"""Error responses: a page for a browser that navigates, JSON for a program."""

from typing import Any

import pytest

from edge.oidc.access.request_policy import SECURITY_HEADERS
from gnomon.identity.v1.authorization_service_pb2 import BeginAuthorizationRequest
from server.platform.errors import (
    Internal,
    InvalidArgument,
    NotFound,
    OAuthError,
    PayloadTooLarge,
    PermissionDenied,
    ServiceError,
    Unauthenticated,
    Unavailable,
)
from tests.edge.oidc.protocol.provider import NOON, Provider, directives, page_of

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
KEYS = "/auth/v1/oidc/certs"
PROGRAMS: list[Any] = [
    pytest.param({"Accept": "application/json"}, id="asks for JSON"),
    pytest.param({"Accept": "*/*"}, id="asks for anything"),
    pytest.param(BROWSER | {"Authorization": "Bearer t"}, id="has a token"),
    pytest.param(BROWSER | {"Sec-Fetch-Mode": "cors"}, id="script of a page"),
]


@pytest.mark.parametrize(
    ("refusal", "status", "heading"),
    [
        (InvalidArgument("no"), 400, "This request is not valid"),
        (Unauthenticated("no"), 401, "You are not signed in"),
        (PermissionDenied("no"), 403, "You do not have access"),
        (NotFound("no"), 404, "Page not found"),
        (PayloadTooLarge("no"), 413, "This is too large"),
        (Internal(), 500, "Something went wrong"),
        (Unavailable("no"), 503, "The service is not available"),
    ],
)
async def test_a_browser_that_navigates_gets_a_page(
    provider: Provider, refusal: ServiceError, status: int, heading: str
) -> None:
    provider.answers(get_key_set=refusal)

    response = await provider.http.get(KEYS, headers=BROWSER | {"X-Request-Id": "request-7"})

    page = await page_of(response)
    assert (response.status, page.xpath("string(//h1)"), page.xpath("string(//title)")) == (
        status,
        heading,
        heading,
    )
    assert page.xpath("//code/text()") == [response.headers["X-Request-Id"]] == ["request-7"]
    assert directives(response)["default-src"] == "'none'"
    assert {
        name: response.headers[name] for name in SECURITY_HEADERS if name != "Content-Security-Policy"
    } == {name: value for name, value in SECURITY_HEADERS.items() if name != "Content-Security-Policy"}


@pytest.mark.parametrize("headers", PROGRAMS)
async def test_a_program_gets_json(provider: Provider, headers: dict[str, str]) -> None:
    provider.answers(get_key_set=NotFound("there is no such tenant"))

    response = await provider.http.get(KEYS, headers=headers)

    assert (response.status, response.content_type) == (404, "application/json")
    assert await response.json() == {
        "error": "NotFound",
        "message": "there is no such tenant",
        "timestamp": int(NOON.timestamp()),
    }


async def test_a_method_that_an_address_lacks_is_a_page_too(provider: Provider) -> None:
    response = await provider.http.get("/auth/v1/oidc/token", headers=BROWSER)

    page = await page_of(response)
    assert (response.status, response.headers["Allow"]) == (405, "POST, OPTIONS")
    assert page.xpath("string(//h1)") == "This address is not a page"


async def test_a_form_of_another_site_is_refused_with_a_page(provider: Provider) -> None:
    headers = BROWSER | {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    response = await provider.http.post("/auth/v1/users/request_reset", data={"email": "a"}, headers=headers)

    assert (response.status, response.content_type) == (400, "text/html")


async def test_a_form_at_a_protocol_endpoint_is_answered_as_oauth_says(provider: Provider) -> None:
    provider.answers(issue_token=OAuthError("invalid_grant", "no"))

    response = await provider.http.post("/auth/v1/oidc/token", data={"grant_type": "x"}, headers=BROWSER)

    assert (response.status, (await response.json())["error"]) == (400, "invalid_grant")


async def test_a_proxy_that_asks_for_a_browser_gets_json(provider: Provider) -> None:
    response = await provider.http.get("/auth/v1/clients/wiki/forward_auth", headers=BROWSER)

    assert (response.status, response.content_type) == (403, "application/json")


async def test_a_lost_session_is_no_wrong_password(provider: Provider) -> None:
    provider.answers(submit_credentials=Unauthenticated("there is no session", cause="SESSION_ENDED"))

    by_script = await provider.http.post(
        "/auth/v1/oidc/authorize", json={"authorization_id": "r", "email": "a", "pow": "p"}
    )
    by_form = await provider.http.post("/auth/v1/oidc/authorize", data={"csrf_token": "c"})

    assert by_script.headers["WWW-Authenticate"] == 'OAuth error="session_ended"'
    assert (by_script.status, (await by_script.json())["error"]) == (401, "Unauthorized")
    assert (by_form.status, (await page_of(by_form)).xpath("string(//h1)")) == (401, "Your session has ended")


async def test_the_id_of_a_request_goes_to_the_services(provider: Provider) -> None:
    await provider.http.get("/auth/v1/oidc/authorize", headers={"X-Request-Id": "request-7"})

    [call] = [
        each for each in provider.servicers.calls if isinstance(each.request, BeginAuthorizationRequest)
    ]
    assert call.request_id == "request-7"


async def test_what_pages_load_is_there_when_no_service_answers(provider: Provider) -> None:
    provider.answers(begin_authorization=Unavailable("no"))
    page = await page_of(await provider.http.get("/auth/v1/oidc/authorize"))
    asked_before = len(provider.servicers.calls)

    responses = [await provider.http.get(address) for address in page.xpath("//link/@href")]

    assert [response.status for response in responses] == [200, 200]
    assert len(provider.servicers.calls) == asked_before


@pytest.mark.parametrize(
    ("path", "way_on"),
    [
        ("users/ada/reset/code", "/auth/v1/acme/users/request_reset"),
        ("users/ada/revoke/code", "/auth/v1/acme/users/request_reset"),
        ("users/ada/email_change/code", "/auth/v1/acme/"),
    ],
)
async def test_a_dead_link_leads_on(provider: Provider, path: str, way_on: str) -> None:
    dead = NotFound("there is no such link")
    provider.answers(open_reset_link=dead, check_revocation_link=dead, open_address_change=dead)

    response = await provider.http.get(f"/auth/v1/acme/{path}")

    page = await page_of(response)
    assert (response.status, page.xpath("string(//h1)")) == (404, "This link is no longer valid")
    assert page.xpath("//main//a/@href") == [way_on]


async def test_a_refused_password_is_told_why(provider: Provider) -> None:
    provider.answers(reset_password=InvalidArgument("the password is easily guessed"))

    form = {"magic_link_id": "code", "password": "x"}
    response = await provider.http.post("/auth/v1/users/ada/reset", data=form)

    page = await page_of(response)
    assert (response.status, page.xpath("string(//h1)")) == (400, "Your password was not changed")
    assert "The password is easily guessed." in page.xpath("string(//h1/following-sibling::p)")


@pytest.mark.parametrize(
    ("path", "refusal", "heading"),
    [
        ("register", PermissionDenied("closed"), "Registration is closed"),
        ("request_reset", NotFound("no mail"), "Password reset is not available"),
        ("request_confirmation", NotFound("no mail"), "Confirmation links are not available"),
    ],
)
async def test_what_a_deployment_does_not_offer_is_no_missing_page(
    provider: Provider, path: str, refusal: ServiceError, heading: str
) -> None:
    provider.answers(
        get_registration_page=refusal, check_password_reset=refusal, check_confirmation_requests=refusal
    )

    response = await provider.http.get(f"/auth/v1/users/{path}")

    page = await page_of(response)
    assert (response.status, page.xpath("string(//h1)")) == (refusal.problem.status, heading)
    assert "administrator" in page.xpath("string(//h1/following-sibling::p)")
