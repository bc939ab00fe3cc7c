"""The consent page, and the responses to its answers."""

import pytest
from lxml.html import HtmlElement

from edge.oidc.pages.words import words_of
from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.authorization_details_pb2 import AuthorizationDetail, AuthorizationDetailRow
from gnomon.identity.v1.browser_pb2 import Parameter, Redirect, SessionCookie
from identity.foundation.vocabulary import Permission, Scope
from server.platform.errors import Unauthenticated
from server.platform.languages import ENGLISH
from tests.edge.oidc.protocol.provider import Provider, directives, hidden_fields, page_of

CONSENT = "/auth/v1/oidc/authorize/consent"
PAYMENT = AuthorizationDetail(
    detail=b'{"type":"payment","amount":"7.00"}',
    title="Pay <b>now</b>",
    rows=[AuthorizationDetailRow(label="Amount", values=["7.00"])],
)
PAGE = pb.ConsentPage(
    authorization_id="request 1",
    client_id="shop",
    client_name="The <b>Shop</b>",
    client_uri="https://shop.example/",
    scopes=["openid", "email", "shop:read"],
    resources=["https://api.example/"],
    claims=["phone_number"],
    email="ada@example.com",
    redirect_origin="https://shop.example",
    csrf_token="proof",
    authorization_details=[PAYMENT],
)
REDIRECT = Redirect(uri="https://shop.example/cb", parameters=[Parameter(name="code", value="abc")])
COOKIE = SessionCookie(value="new", max_age=60, csrf_token="new-proof")
ANSWERED = pb.AnswerConsentResponse(redirect=REDIRECT)
SENT = {"authorization_id": "request 1", "decision": "accept"}
# Where users withdraw what they allow.
ACCOUNT = ("your account", "/auth/v1/account")


def links(page: HtmlElement) -> list[tuple[str, str | None]]:
    return [(link.text_content(), link.get("href")) for link in page.xpath("//main//a")]


async def test_the_page_says_who_asks_whom_for_what(provider: Provider) -> None:
    provider.answers(get_consent_page=pb.GetConsentPageResponse(page=PAGE))

    response = await provider.http.get(CONSENT, params={"authorization_id": "request 1"})

    page = await page_of(response)
    assert provider.asked(pb.GetConsentPageRequest).authorization_id == "request 1"
    assert links(page) == [("The <b>Shop</b>", "https://shop.example/"), ACCOUNT]
    assert [item.text for item in page.xpath("//li[not(dl)]")] == [
        "Know who you are",
        "See your email address",
        "Use “shop:read”",
        "See your phone number",
        "Do this at https://api.example/",
    ]
    assert page.xpath("//main//strong/text()") == ["Pay <b>now</b>", "ada@example.com"]
    assert page.xpath("//li/dl/*/text()") == ["Amount", "7.00"]


async def test_the_page_shows_the_logo_of_whoever_asks(provider: Provider) -> None:
    shown = pb.ConsentPage(client_logo_id="logo-1")
    shown.MergeFrom(PAGE)
    provider.answers(get_consent_page=pb.GetConsentPageResponse(page=shown))

    response = await provider.http.get(CONSENT, params={"authorization_id": "request 1"})

    assert (await page_of(response)).xpath("//img/@src") == ["/auth/v1/clients/shop/logo?updated=logo-1"]


async def test_the_page_is_a_form_with_two_answers_that_needs_no_script(provider: Provider) -> None:
    provider.answers(get_consent_page=pb.GetConsentPageResponse(page=PAGE))

    response = await provider.http.get(
        "/auth/v1/acme/oidc/authorize/consent", params={"authorization_id": "request 1"}
    )

    page = await page_of(response)
    [form] = page.xpath("//form")
    assert (form.get("method"), form.get("action")) == ("post", "/auth/v1/acme/oidc/authorize/consent")
    assert hidden_fields(page) == {"csrf_token": "proof", "authorization_id": "request 1"}
    assert [(button.get("name"), button.get("value")) for button in form.xpath(".//button")] == [
        ("decision", "accept"),
        ("decision", "decline"),
    ]
    assert page.xpath("//script") == []
    assert page.xpath("//ul/@aria-labelledby") == page.xpath("//p/@id")
    assert directives(response)["form-action"] == "'self' https://shop.example"


async def test_the_page_leads_to_what_the_client_promises(provider: Provider) -> None:
    page = pb.ConsentPage()
    page.CopyFrom(PAGE)
    page.policy_uri, page.tos_uri = "https://shop.example/privacy", "https://shop.example/terms"
    provider.answers(get_consent_page=pb.GetConsentPageResponse(page=page))

    shown = await page_of(await provider.http.get(CONSENT, params={"authorization_id": "request 1"}))

    assert links(shown)[1:] == [
        ("Privacy policy", "https://shop.example/privacy"),
        ("Terms of service", "https://shop.example/terms"),
        ACCOUNT,
    ]


@pytest.mark.parametrize("uri", ["javascript:alert(1)", "data:text/html,x", "/privacy"])
async def test_a_promise_leads_nowhere_but_to_the_web(provider: Provider, uri: str) -> None:
    page = pb.ConsentPage()
    page.CopyFrom(PAGE)
    page.policy_uri = uri
    provider.answers(get_consent_page=pb.GetConsentPageResponse(page=page))

    shown = await page_of(await provider.http.get(CONSENT, params={"authorization_id": "request 1"}))

    assert links(shown) == [("The <b>Shop</b>", "https://shop.example/"), ACCOUNT]


@pytest.mark.parametrize("scope", [*Scope, *Permission])
def test_a_scope_of_ours_is_said_in_words(scope: str) -> None:
    assert "“" not in words_of(scope, ENGLISH)


@pytest.mark.parametrize(("decision", "is_accepted"), [("accept", True), ("decline", False)])
async def test_the_answer_of_the_form_leads_back(
    provider: Provider, decision: str, *, is_accepted: bool
) -> None:
    provider.answers(answer_consent=ANSWERED)
    form = {"csrf_token": "proof", "authorization_id": "request 1", "decision": decision}

    response = await provider.http.post(CONSENT, data=form, allow_redirects=False)

    answer = provider.asked(pb.AnswerConsentRequest)
    assert (response.status, response.headers["Location"]) == (303, "https://shop.example/cb?code=abc")
    assert (answer.authorization_id, answer.browser.csrf_token) == ("request 1", "proof")
    assert answer.is_accepted == is_accepted


@pytest.mark.parametrize("decision", ["", "yes", "ACCEPT"])
async def test_another_answer_is_none(provider: Provider, decision: str) -> None:
    provider.answers(answer_consent=ANSWERED)

    by_form = await provider.http.post(CONSENT, data={"authorization_id": "r", "decision": decision})
    by_script = await provider.http.post(CONSENT, json=SENT | {"decision": decision})

    assert [(by_form.status, by_form.content_type), (by_script.status, by_script.content_type)] == [
        (400, "text/html"),
        (400, "application/json"),
    ]
    assert provider.servicers.requests == []


async def test_a_script_is_told_where_to_go_on(provider: Provider) -> None:
    provider.answers(answer_consent=ANSWERED)

    response = await provider.http.post(CONSENT, json=SENT, headers={"x-csrf-token": "proof"})

    answer = provider.asked(pb.AnswerConsentRequest)
    assert (response.status, response.headers["Location"]) == (202, "https://shop.example/cb?code=abc")
    assert (answer.is_accepted, answer.browser.csrf_token) == (True, "proof")


async def test_a_question_that_there_is_not_is_a_page_that_says_so(provider: Provider) -> None:
    provider.answers(get_consent_page=Unauthenticated("ended"), answer_consent=Unauthenticated("ended"))

    shown = await provider.http.get(CONSENT, params={"authorization_id": "r"})
    nameless = await provider.http.get(CONSENT)
    answered = await provider.http.post(CONSENT, data=SENT)

    assert [shown.status, nameless.status, answered.status] == [401, 400, 401]
    assert {shown.content_type, nameless.content_type, answered.content_type} == {"text/html"}


async def test_a_page_of_another_origin_answers_nothing(provider: Provider) -> None:
    provider.answers(answer_consent=ANSWERED)

    response = await provider.http.post(CONSENT, data=SENT, headers={"Sec-Fetch-Site": "cross-site"})

    assert response.status == 400
    assert provider.servicers.requests == []


STEPS = [
    pytest.param(
        "oidc/authorize",
        {"email": "ada@example.com", "pow": "1:10:x:1"},
        {"submit_credentials": pb.SubmitCredentialsResponse(consent=PAGE, cookie=COOKIE)},
        id="signing in",
    ),
    pytest.param(
        "oidc/authorize/refresh",
        {},
        {"refresh_authorization": pb.RefreshAuthorizationResponse(consent=PAGE)},
        id="going on",
    ),
]


@pytest.mark.parametrize(("path", "members", "answers"), STEPS)
async def test_a_step_that_is_not_the_last_answers_a_script_with_the_question(
    provider: Provider,
    path: str,
    members: dict[str, str],
    answers: dict[str, pb.SubmitCredentialsResponse | pb.RefreshAuthorizationResponse],
) -> None:
    provider.answers(**answers)

    response = await provider.http.post(f"/auth/v1/acme/{path}", json={"authorization_id": "r", **members})

    assert response.status == 206
    assert response.headers["Location"] == ("/auth/v1/acme/oidc/authorize/consent?authorization_id=request+1")
    assert await response.json() == {
        "authorization_id": "request 1",
        "consent": {
            "client_id": "shop",
            "client_name": "The <b>Shop</b>",
            "scopes": ["openid", "email", "shop:read"],
            "resources": ["https://api.example/"],
            "claims": ["phone_number"],
            "authorization_details": [{"type": "payment", "amount": "7.00"}],
        },
    }


@pytest.mark.parametrize(("path", "members", "answers"), STEPS)
async def test_a_step_that_is_not_the_last_leads_a_form_to_the_question(
    provider: Provider,
    path: str,
    members: dict[str, str],
    answers: dict[str, pb.SubmitCredentialsResponse | pb.RefreshAuthorizationResponse],
) -> None:
    provider.answers(**answers)

    response = await provider.http.post(
        f"/auth/v1/{path}", data={"csrf_token": "proof", **members}, allow_redirects=False
    )

    assert response.status == 303
    assert response.headers["Location"] == f"{CONSENT}?authorization_id=request+1"
