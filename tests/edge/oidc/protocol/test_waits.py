"""Waiting times in error responses, for users and for programs."""

import pytest

from gnomon.identity.v1 import authorization_service_pb2 as pb
from server.platform.errors import ResourceExhausted
from tests.edge.oidc.protocol.provider import NOON, Provider, directives, page_of

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
NAVIGATION = BROWSER | {"Sec-Fetch-Mode": "navigate"}
UNTIL = int(NOON.timestamp()) + 565
BLOCKED = ResourceExhausted("there were too many failed sign-ins", retry_at=str(UNTIL))


@pytest.mark.parametrize("headers", [NAVIGATION, BROWSER], ids=["fetch metadata", "no fetch metadata"])
@pytest.mark.parametrize("path", ["oidc/authorize", "oidc/sessioninfo"], ids=["page", "document"])
async def test_a_browser_that_navigates_is_shown_how_long_to_wait(
    provider: Provider, headers: dict[str, str], path: str
) -> None:
    provider.answers(begin_authorization=BLOCKED, get_session=BLOCKED)

    response = await provider.http.get(f"/auth/v1/{path}", headers=headers)

    page = await page_of(response)
    assert (response.status, response.headers["Retry-After"]) == (429, "565")
    assert response.headers["x-retry-not-before"] == str(UNTIL)
    assert page.xpath("string(//h1)") == "Try again later"
    assert page.xpath("string(//*[@role='alert'])") == "There were too many failed sign-ins."
    assert "You can try again in 10 minutes." in page.text_content()
    assert directives(response)["default-src"] == "'none'"


async def test_a_form_without_script_is_answered_with_the_same_page(provider: Provider) -> None:
    provider.answers(submit_credentials=BLOCKED)

    response = await provider.http.post("/auth/v1/oidc/authorize", data={"csrf_token": "proof"})

    page = await page_of(response)
    assert (response.status, response.headers["Retry-After"]) == (429, "565")
    assert "You can try again in 10 minutes." in page.text_content()


async def test_where_the_end_is_not_known_the_page_says_a_few_minutes(provider: Provider) -> None:
    provider.answers(begin_authorization=ResourceExhausted("too many sign-ins fail at the moment"))

    response = await provider.http.get("/auth/v1/oidc/authorize", headers=NAVIGATION)

    assert "Retry-After" not in response.headers
    assert "Wait a few minutes" in (await page_of(response)).text_content()


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="any type"),
        pytest.param({"Accept": "application/json"}, id="JSON"),
        pytest.param(BROWSER | {"Sec-Fetch-Mode": "cors"}, id="a script"),
    ],
)
async def test_a_program_is_answered_with_json(provider: Provider, headers: dict[str, str]) -> None:
    provider.answers(submit_credentials=BLOCKED)

    sent = {"authorization_id": "request-1", "email": "ada@example.com", "password": "x", "pow": "p"}
    response = await provider.http.post("/auth/v1/oidc/authorize", json=sent, headers=headers)

    assert provider.asked(pb.SubmitCredentialsRequest).email == "ada@example.com"
    assert (response.status, (await response.json())["error"]) == (429, "TooManyRequests")


async def test_an_endpoint_of_clients_answers_with_json_whatever_they_accept(provider: Provider) -> None:
    provider.answers(issue_token=BLOCKED)

    # Some libraries send `Accept: text/html` by default.
    response = await provider.http.post(
        "/auth/v1/oidc/token", data={"grant_type": "client_credentials"}, headers=BROWSER
    )

    assert (response.status, (await response.json())["error"]) == (429, "TooManyRequests")
