"""Requests of the registration endpoints to the service, and their responses."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from gnomon.identity.v1 import registration_service_pb2 as pb
from server.platform.errors import Unavailable
from tests.edge.oidc.protocol.provider import Provider, directives, page_of

REGISTER = "/auth/v1/acme/users/register"
QUERY = (
    "client_id=app&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&response_type=code&state=s%26t&login_hint=old"
)
SENT = {"email": "ada@corp.example", "password": "correct horse battery staple", "pow": "1:10:x:1"}
COMPANY = pb.RegisterResponse(
    company_sign_in=pb.CompanySignIn(
        provider_id="okta", provider_name="The <b>Company</b>", issuer="https://id.example/auth/v1/acme/"
    )
)
LINK = "/auth/v1/acme/users/ada/email_confirm/c0de"


async def test_a_script_passes_the_form_on(provider: Provider) -> None:
    names = {"given_name": "Ada", "family_name": "Lovelace", "preferred_username": "ada"}
    back = {"client_id": "app", "redirect_uri": "https://app.example/cb"}

    response = await provider.http.post(REGISTER, json=SENT | names | back)

    asked = provider.asked(pb.RegisterRequest)
    assert (response.status, asked.tenant_id, asked.browser.peer_address) == (204, "acme", "127.0.0.1")
    assert {name: getattr(asked, name) for name in SENT | names | back} == SENT | names | back


async def test_a_form_passes_on_the_client_that_its_address_names(provider: Provider) -> None:
    response = await provider.http.post(f"{REGISTER}?{QUERY}", data=SENT)

    asked = provider.asked(pb.RegisterRequest)
    assert (response.status, asked.client_id, asked.email) == (200, "app", "ada@corp.example")


async def test_r29_a_script_is_told_of_the_company(provider: Provider) -> None:
    provider.answers(register=COMPANY)

    response = await provider.http.post(f"{REGISTER}?{QUERY}", json=SENT)

    body = await response.json()
    assert (response.status, body["error"]) == (409, "UseCompanySignIn")
    assert body["provider"] == {"id": "okta", "name": "The <b>Company</b>"}
    location = urlsplit(body["location"])
    assert location[:3] == ("", "", "/auth/v1/acme/oidc/authorize")
    asked_again = dict(parse_qsl(location.query))
    assert (asked_again["login_hint"], asked_again["state"]) == ("ada@corp.example", "s&t")


async def test_r29_without_a_client_one_signs_in_for_a_page_of_ours(provider: Provider) -> None:
    provider.answers(register=COMPANY)

    response = await provider.http.post(REGISTER, json=SENT)

    location = urlsplit((await response.json())["location"])
    assert (location.netloc, location.path) == ("id.example", "/auth/v1/acme/oidc/authorize")
    asked = dict(parse_qsl(location.query))
    assert asked["redirect_uri"] == "https://id.example/auth/v1/acme/sign-in"
    assert asked["login_hint"] == "ada@corp.example"


async def test_r29_a_form_is_answered_with_the_way_there(provider: Provider) -> None:
    provider.answers(register=COMPANY)

    response = await provider.http.post(f"{REGISTER}?{QUERY}", data=SENT)

    page = await page_of(response)
    assert response.status == 409
    assert "The <b>Company</b>" in page.text_content()
    (way,) = page.xpath("//main//a/@href")
    assert way.startswith("/auth/v1/acme/oidc/authorize?")


@pytest.mark.parametrize("length", [10, 7000])
async def test_a_request_that_is_too_long_for_an_address_is_left_behind(
    provider: Provider, length: int
) -> None:
    response = await provider.http.get(f"{REGISTER}?{QUERY}&claims={'x' * length}")

    (action,) = (await page_of(response)).xpath("//form/@action")
    assert len(action) < 7000
    assert action.startswith(f"{REGISTER}?client_id=app")


@pytest.mark.parametrize(
    ("confirmation", "status", "links"),
    [
        pytest.param(pb.Confirmation(status=pb.CONFIRMATION_STATUS_OPEN, email="a@b.c"), 200, [], id="open"),
        pytest.param(
            pb.Confirmation(
                status=pb.CONFIRMATION_STATUS_CONFIRMED,
                email="a@b.c",
                return_uri="https://app.example/",
                client_name="<b>App</b>",
            ),
            200,
            ["https://app.example/"],
            id="confirmed",
        ),
        pytest.param(
            pb.Confirmation(status=pb.CONFIRMATION_STATUS_EXPIRED, email="a@b.c"), 400, [], id="expired"
        ),
    ],
)
async def test_a_link_is_answered_with_a_page(
    provider: Provider, confirmation: pb.Confirmation, status: int, links: list[str]
) -> None:
    provider.answers(
        get_confirmation=pb.GetConfirmationResponse(confirmation=confirmation),
        confirm_email=pb.ConfirmEmailResponse(confirmation=confirmation),
    )

    answers = [await provider.http.get(LINK), await provider.http.post(LINK)]

    for answer in answers:
        page = await page_of(answer)
        assert (answer.status, page.xpath("//main//a/@href")) == (status, links)
        assert page.xpath("//main//b") == []
        assert directives(answer)["form-action"] == "'self'"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
    asked = provider.asked(pb.ConfirmEmailRequest)
    assert (asked.tenant_id, asked.user_id, asked.code) == ("acme", "ada", "c0de")


async def test_what_is_out_of_order_is_a_page_too(provider: Provider) -> None:
    provider.answers(get_confirmation=Unavailable("not now"), get_registration_page=Unavailable("not now"))

    answers = [await provider.http.get(LINK), await provider.http.get(REGISTER)]

    assert [(answer.status, answer.content_type) for answer in answers] == [(503, "text/html")] * 2


async def test_a_page_of_another_site_confirms_nothing(provider: Provider) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    posted = await provider.http.post(LINK, headers=elsewhere)
    followed = await provider.http.get(LINK, headers=elsewhere)

    assert (posted.status, followed.status) == (400, 400)
