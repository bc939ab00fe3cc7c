import json
from typing import Any

import pytest

from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import RESPONSE_MODE_FORM_POST, Parameter, Redirect, SessionCookie
from server.platform.errors import (
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
)
from tests.edge.oidc.protocol.provider import NOON, Provider, hidden_fields, page_of

AUTHORIZE = "/auth/v1/oidc/authorize"
REFRESH = "/auth/v1/oidc/authorize/refresh"

REDIRECT = Redirect(uri="https://shop.example/cb", parameters=[Parameter(name="code", value="abc")])
COOKIE = SessionCookie(value="new", max_age=60, csrf_token="new-proof")
SUBMITTED = pb.SubmitCredentialsResponse(redirect=REDIRECT, cookie=COOKIE)
BY_FORM_POST = Redirect(
    uri="https://shop.example/cb",
    response_mode=RESPONSE_MODE_FORM_POST,
    parameters=[Parameter(name="code", value="abc")],
)
SENT = {"authorization_id": "request-1", "email": "ada@example.com", "password": "pw", "pow": "1:10:x:1"}
DESCRIBED = {
    "email": "ada@example.com",
    "pow": "1:10:x:1",
    "client_id": "shop",
    "redirect_uri": "https://shop.example/cb",
    "scopes": ["openid", "email"],
    "nonce": None,
    "resource": "https://api.example",
}


async def test_a_script_is_told_where_to_go_on_and_of_the_new_session(provider: Provider) -> None:
    provider.answers(submit_credentials=SUBMITTED)

    response = await provider.http.post(AUTHORIZE, json=SENT, headers={"x-csrf-token": "proof"})

    asked = provider.asked(pb.SubmitCredentialsRequest)
    assert (response.status, await response.read()) == (202, b"")
    assert response.headers["Location"] == "https://shop.example/cb?code=abc"
    assert response.headers["x-csrf-token"] == "new-proof"
    assert response.headers["Set-Cookie"].startswith("__Host-GnomonSession=new;")
    assert (asked.email, asked.password, asked.pow) == ("ada@example.com", "pw", "1:10:x:1")
    assert (asked.authorization_id, asked.browser.csrf_token) == ("request-1", "proof")
    assert not asked.parameters


async def test_an_answer_without_a_session_leaves_the_cookie(provider: Provider) -> None:
    provider.answers(submit_credentials=pb.SubmitCredentialsResponse(redirect=REDIRECT))

    response = await provider.http.post(AUTHORIZE, json=SENT)
    by_form = await provider.http.post(AUTHORIZE, data={"csrf_token": "proof"}, allow_redirects=False)

    assert [response.status, by_form.status] == [202, 303]
    assert "Set-Cookie" not in {*response.headers, *by_form.headers}


async def test_who_has_no_page_describes_the_request(provider: Provider) -> None:
    provider.answers(submit_credentials=SUBMITTED)

    response = await provider.http.post(AUTHORIZE, json=DESCRIBED)

    asked = provider.asked(pb.SubmitCredentialsRequest)
    assert response.status == 202
    assert [(parameter.name, parameter.value) for parameter in asked.parameters] == [
        ("response_type", "code"),
        ("client_id", "shop"),
        ("redirect_uri", "https://shop.example/cb"),
        ("scope", "openid email"),
        ("resource", "https://api.example"),
    ]


async def test_a_script_is_told_of_the_form_that_it_has_to_post(provider: Provider) -> None:
    provider.answers(submit_credentials=pb.SubmitCredentialsResponse(redirect=BY_FORM_POST, cookie=COOKIE))

    response = await provider.http.post(AUTHORIZE, json=SENT)

    assert (response.status, "Location" in response.headers) == (202, False)
    assert await response.json() == {
        "response_mode": "form_post",
        "redirect_uri": "https://shop.example/cb",
        "parameters": [["code", "abc"]],
    }


@pytest.mark.parametrize(
    ("refusal", "status", "error"),
    [
        (Unauthenticated("Invalid user credentials"), 401, "Unauthorized"),
        (PermissionDenied("the proof of work is wrong"), 403, "Forbidden"),
        (NotFound("PoW not found"), 404, "NotFound"),
        (InvalidArgument("code_challenge is missing"), 400, "BadRequest"),
    ],
)
async def test_a_refusal_names_its_kind(
    provider: Provider, refusal: Exception, status: int, error: str
) -> None:
    provider.answers(submit_credentials=refusal)

    response = await provider.http.post(AUTHORIZE, json=SENT)

    refused = await response.json()
    assert (response.status, refused["error"], refused["message"]) == (status, error, str(refusal))
    assert ("WWW-Authenticate" in response.headers) == (status == 401)
    assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize(
    ("cause", "status", "error"),
    [
        ({"cause": "EMAIL_NOT_CONFIRMED", "resend": "true"}, 403, "EmailNotConfirmed"),
        ({"cause": "PASSWORD_EXPIRED"}, 403, "PasswordRefresh"),
        ({"cause": "SECOND_FACTOR_REQUIRED"}, 406, "MfaRequired"),
        ({"cause": "GROUP_REQUIRED"}, 403, "Forbidden"),
    ],
)
async def test_who_knows_the_password_is_told_what_is_in_the_way(
    provider: Provider, cause: dict[str, str], status: int, error: str
) -> None:
    provider.answers(submit_credentials=PermissionDenied("not yet", **cause))

    response = await provider.http.post(AUTHORIZE, json=SENT)

    refused = await response.json()
    assert (response.status, refused["error"]) == (status, error)
    assert refused.get("resend", False) == ("resend" in cause)


@pytest.mark.parametrize("until", [{"retry_after_secs": "30"}, {"retry_at": str(int(NOON.timestamp()) + 30)}])
async def test_who_tries_too_often_is_told_when_to_come_back(
    provider: Provider, until: dict[str, str]
) -> None:
    provider.answers(submit_credentials=ResourceExhausted("too many attempts", **until))

    response = await provider.http.post(AUTHORIZE, json=SENT)

    assert (response.status, (await response.json())["error"]) == (429, "TooManyRequests")
    assert response.headers["Retry-After"] == "30"
    assert response.headers["x-retry-not-before"] == str(int(NOON.timestamp()) + 30)


@pytest.mark.parametrize("path", [AUTHORIZE, REFRESH])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("{", id="no JSON"),
        pytest.param("[]", id="no object"),
        pytest.param("{}", id="nothing"),
        pytest.param(json.dumps(SENT | {"s3cret": 1}), id="unknown member"),
        pytest.param(json.dumps(SENT | {"authorization_id": 1}), id="wrong type"),
        pytest.param(json.dumps({"email": "a@b.example", "pow": "x"}), id="no request"),
        pytest.param('{"authorization_id": "\\ud800", "email": "", "pow": ""}', id="lone surrogate"),
    ],
)
async def test_json_is_read_strictly(provider: Provider, path: str, body: str) -> None:
    response = await provider.http.post(path, data=body, headers={"Content-Type": "application/json"})

    refused = await response.json()
    assert (response.status, refused["error"]) == (400, "BadRequest")
    assert refused["message"].startswith("Payload validation error: ")
    assert "s3cret" not in refused["message"]


async def test_a_large_body_is_refused(provider: Provider) -> None:
    response = await provider.http.post(AUTHORIZE, json=SENT | {"password": "x" * 20_000})

    assert response.status == 413


async def test_a_bound_of_the_contract_holds(provider: Provider) -> None:
    response = await provider.http.post(AUTHORIZE, json=SENT | {"password": "x" * 257})

    assert (response.status, (await response.json())["error"]) == (400, "BadRequest")


async def test_a_form_with_a_csrf_token_submits_credentials(provider: Provider) -> None:
    provider.answers(submit_credentials=SUBMITTED)

    form: dict[str, Any] = {**SENT, "csrf_token": "proof"}
    response = await provider.http.post(AUTHORIZE, data=form, allow_redirects=False)

    asked = provider.asked(pb.SubmitCredentialsRequest)
    assert (response.status, response.headers["Location"]) == (303, "https://shop.example/cb?code=abc")
    assert response.headers["Set-Cookie"].startswith("__Host-GnomonSession=new;")
    assert (asked.browser.csrf_token, asked.email, asked.pow) == ("proof", "ada@example.com", "1:10:x:1")


async def test_a_form_that_fails_is_answered_with_a_page(provider: Provider) -> None:
    provider.answers(submit_credentials=Unauthenticated("Invalid user credentials"))

    response = await provider.http.post(AUTHORIZE, data={"csrf_token": "proof"})

    page = await page_of(response)
    assert (response.status, page.xpath("string(//h1)")) == (401, "You are not signed in")
    assert "401 Unauthorized: Invalid user credentials" in page.xpath("//dd/text()")


async def test_who_is_signed_in_goes_on_by_script(provider: Provider) -> None:
    provider.answers(refresh_authorization=pb.RefreshAuthorizationResponse(redirect=REDIRECT))

    response = await provider.http.post(
        REFRESH, json={"authorization_id": "request-1"}, headers={"x-csrf-token": "proof"}
    )

    asked = provider.asked(pb.RefreshAuthorizationRequest)
    assert (response.status, response.headers["Location"]) == (202, "https://shop.example/cb?code=abc")
    assert (asked.authorization_id, asked.browser.csrf_token) == ("request-1", "proof")


async def test_who_is_signed_in_goes_on_by_form(provider: Provider) -> None:
    provider.answers(refresh_authorization=pb.RefreshAuthorizationResponse(redirect=BY_FORM_POST))

    form = {"authorization_id": "request-1", "csrf_token": "proof"}
    response = await provider.http.post(REFRESH, data=form)

    asked = provider.asked(pb.RefreshAuthorizationRequest)
    assert hidden_fields(await page_of(response)) == {"code": "abc"}
    assert (asked.authorization_id, asked.browser.csrf_token) == ("request-1", "proof")


async def test_who_is_not_signed_in_does_not_go_on(provider: Provider) -> None:
    provider.answers(refresh_authorization=Unauthenticated("there is no session"))

    response = await provider.http.post(REFRESH, json={"authorization_id": "request-1"})

    assert (response.status, (await response.json())["error"]) == (401, "Unauthorized")
