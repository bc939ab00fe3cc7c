"""Pages in the screens of their clients: the place of each text, and texts that must not appear somewhere."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.message import Message
from lxml import html

from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1 import logout_service_pb2
from gnomon.identity.v1.screen_pb2 import LayoutElement, Screen
from gnomon.identity.v1.sign_in_service_pb2 import SIGN_IN_ROUTE_PASSWORD, SubmitEmailResponse
from tests.edge.oidc.protocol.provider import Provider, directives, hidden_fields, page_of

AUTHORIZE = "/auth/v1/oidc/authorize"
CONSENT = f"{AUTHORIZE}/consent"
LOGOUT = "/auth/v1/oidc/logout"
PROOF = "pr00f-of-the-page"

LAYOUT = LayoutElement(
    name="screen",
    children=[
        LayoutElement(
            name="columns",
            attributes={"ratio": "wide-left"},
            children=[
                LayoutElement(
                    name="stack",
                    attributes={"gap": "small"},
                    children=[
                        LayoutElement(name="client-logo"),
                        LayoutElement(name="eyebrow", text="Since 1851"),
                        LayoutElement(name="heading", attributes={"size": "large"}, text="<b>The</b> & shop"),
                        LayoutElement(name="heading", attributes={"size": "small"}, text="Twice"),
                        LayoutElement(name="text", attributes={"tone": "muted"}, text="{{ 7 * 7 }}"),
                        LayoutElement(name="divider"),
                    ],
                ),
                LayoutElement(
                    name="panel",
                    attributes={"tone": "raised", "align": "center"},
                    children=[LayoutElement(name="auth-content")],
                ),
            ],
        )
    ],
)
WITHOUT_HEADING = LayoutElement(name="screen", children=[LayoutElement(name="auth-content")])


def screen(**fields: Any) -> Screen:
    given = {
        "theme": "dark",
        "composition": "split",
        "accent_color": "#ffcc00",
        "text_on_accent": "#000000",
        "client_id": "shop",
    }
    return Screen(**(given | fields))


def sign_in(**fields: Any) -> pb.SignInPage:
    return pb.SignInPage(
        authorization_id="request-1", client_id="shop", client_name="Shop", csrf_token=PROOF, **fields
    )


def begun(shown: Screen | None, **fields: Any) -> pb.BeginAuthorizationResponse:
    return pb.BeginAuthorizationResponse(page=sign_in(screen=shown, **fields))


def steps(shown: Screen | None) -> dict[str, tuple[str, str, dict[str, str], Message]]:
    """Method, address, form and response of the service, for every page of a client."""
    passkey = pb.SecondFactor(code="c", user_id="u", screen=shown, methods=[pb.SECOND_FACTOR_METHOD_PASSKEY])
    code = pb.SecondFactor(
        code="c", user_id="u", screen=shown, methods=[pb.SECOND_FACTOR_METHOD_ONE_TIME_CODE]
    )
    consent = pb.ConsentPage(authorization_id="request-1", client_id="shop", csrf_token=PROOF, screen=shown)
    question = logout_service_pb2.LogoutPage(client_id="shop", csrf_token=PROOF, logout_id="l1", screen=shown)
    signed_out = logout_service_pb2.SignedOutPage(client_id="shop", screen=shown)
    routed = SubmitEmailResponse(route=SIGN_IN_ROUTE_PASSWORD, page=sign_in(screen=shown))
    form = {"csrf_token": PROOF}
    return {
        "sign in": ("GET", AUTHORIZE, {}, begun(shown)),
        "e-mail first": ("GET", AUTHORIZE, {}, begun(shown, is_email_first=True)),
        "password": ("POST", f"{AUTHORIZE}/email", form, routed),
        "passkey": ("POST", AUTHORIZE, form, pb.SubmitCredentialsResponse(second_factor=passkey)),
        "code": ("POST", AUTHORIZE, form, pb.SubmitCredentialsResponse(second_factor=code)),
        "go on": ("GET", AUTHORIZE, {}, begun(shown, is_signed_in=True)),
        "consent": ("GET", f"{CONSENT}?authorization_id=x", {}, pb.GetConsentPageResponse(page=consent)),
        "logout": ("GET", LOGOUT, {}, logout_service_pb2.BeginLogoutResponse(page=question)),
        "signed out": ("GET", LOGOUT, {}, logout_service_pb2.BeginLogoutResponse(signed_out=signed_out)),
        "confirmed": ("POST", LOGOUT, form, logout_service_pb2.ConfirmLogoutResponse(signed_out=signed_out)),
    }


NAMES = {
    "sign in": "begin_authorization",
    "e-mail first": "begin_authorization",
    "password": "submit_email",
    "passkey": "submit_credentials",
    "code": "submit_credentials",
    "go on": "begin_authorization",
    "consent": "get_consent_page",
    "logout": "begin_logout",
    "signed out": "begin_logout",
    "confirmed": "confirm_logout",
}
WITH_PROOF = {*NAMES} - {"signed out", "confirmed"}
WITH_FORM = ("sign in", "e-mail first", "password", "code", "go on", "consent", "logout")


async def page_at(provider: Provider, step: str, shown: Screen | None) -> html.HtmlElement:
    method, address, form, answer = steps(shown)[step]
    provider.answers(**{NAMES[step]: answer})
    return await page_of(await provider.http.request(method, address, data=form or None))


def attributes(page: html.HtmlElement) -> Iterator[str]:
    for element in page.iter():
        yield from element.attrib.values()


@pytest.mark.parametrize("step", NAMES)
async def test_every_step_of_a_client_stands_in_the_slot_of_its_layout(provider: Provider, step: str) -> None:
    page = await page_at(provider, step, screen(layout=LAYOUT))

    [main] = page.xpath("//main")
    [slot] = page.xpath("//main//div[@class='auth-content']")
    assert main.get("class") == "custom-screen"
    assert slot.getparent().get("class") == "panel align-center tone-raised"
    assert slot.xpath("string(h2)")
    assert page.xpath("//form[not(ancestor::div[@class='auth-content'])]") == []
    assert [heading.text for heading in page.xpath("//h1")] == ["<b>The</b> & shop"]


@pytest.mark.parametrize("step", NAMES)
async def test_every_step_of_a_client_has_its_theme_in_the_preset_layout(
    provider: Provider, step: str
) -> None:
    shown = screen(heading="Welcome <b>", description="In & out", css=".card p{color:red}")

    page = await page_at(provider, step, shown)

    [main] = page.xpath("//main")
    assert (page.get("data-theme"), main.get("class")) == ("dark", "card split")
    assert (page.xpath("string(//h1)"), page.xpath("count(//h1)")) == ("Welcome <b>", 1)
    assert page.xpath("string(//p[@class='description'])") == "In & out"
    assert page.xpath("string(//style)") == (
        ":root[data-theme]{--accent:#ffcc00;--on-accent:#000000;--link:var(--ink)}.card p{color:red}"
    )


@pytest.mark.parametrize("step", NAMES)
async def test_without_a_screen_it_is_the_default_theme(provider: Provider, step: str) -> None:
    page = await page_at(provider, step, None)

    assert (page.get("data-theme"), page.xpath("//style")) == (None, [])
    assert page.xpath("string(//main/@class)") == "card centered"
    assert page.xpath("count(//h1)") == 1


@pytest.mark.parametrize("step", NAMES)
async def test_under_a_template_the_pairing_token_stands_in_no_attribute(
    provider: Provider, step: str
) -> None:
    page = await page_at(provider, step, screen(layout=LAYOUT))

    blocks = page.xpath("//script[@id='auth-state']/text()")
    assert [value for value in attributes(page) if PROOF in value] == []
    assert page.xpath("//input[@name='csrf_token']") == []
    assert html.tostring(page).decode().count(PROOF) == len(blocks)
    assert [json.loads(block)["csrf_token"] for block in blocks] == ([PROOF] if step in WITH_PROOF else [])


@pytest.mark.parametrize("step", WITH_FORM)
async def test_in_the_preset_layout_a_hidden_field_has_the_token(provider: Provider, step: str) -> None:
    page = await page_at(provider, step, screen())

    assert hidden_fields(page)["csrf_token"] == PROOF


async def test_elements_have_their_names_and_values_as_classes(provider: Provider) -> None:
    page = await page_at(provider, "sign in", screen(layout=LAYOUT, client_logo_id="l1"))

    stack = page.xpath("//main/div[@class='columns ratio-wide-left']/div[@class='stack gap-small']/*")
    assert [(element.tag, element.get("class")) for element in stack] == [
        ("img", "client-logo"),
        ("p", "eyebrow"),
        ("h1", "heading size-large"),
        ("h2", "heading size-small"),
        ("p", "text tone-muted"),
        ("hr", "divider"),
    ]
    assert stack[4].text == "{{ 7 * 7 }}"


async def test_a_layout_without_a_heading_leaves_the_first_to_the_step(provider: Provider) -> None:
    page = await page_at(provider, "sign in", screen(layout=WITHOUT_HEADING))

    assert [heading.text for heading in page.xpath("//h1")] == ["Sign in"]


@pytest.mark.parametrize("layout", [None, LAYOUT])
async def test_a_logo_is_shown_where_there_is_one(provider: Provider, layout: LayoutElement | None) -> None:
    shown = screen(layout=layout, client_logo_id="l1", client_id='a"/b')

    with_logo = await page_at(provider, "sign in", shown)
    without = await page_at(provider, "sign in", screen(layout=layout))

    assert with_logo.xpath("//img/@src") == ["/auth/v1/clients/a%22%2Fb/logo?updated=l1"]
    assert without.xpath("//img") == []


async def test_a_stylesheet_has_the_nonce_of_its_answer(provider: Provider) -> None:
    provider.answers(begin_authorization=begun(screen(css=".card p{color:red}")))

    response = await provider.http.get(AUTHORIZE)

    [style] = (await page_of(response)).xpath("//style")
    policy = directives(response)
    assert policy["style-src"] == f"'nonce-{style.get('nonce')}'"
    assert (policy["default-src"], policy["img-src"]) == ("'none'", "'self' data:")


@pytest.mark.parametrize(
    "shown",
    [
        screen(css="</style><script>alert(1)</script>"),
        screen(accent_color="red}*{display:none"),
        screen(text_on_accent="</style>"),
    ],
    ids=["css", "accent", "text"],
)
async def test_what_would_be_markup_is_left_out_once_more(provider: Provider, shown: Screen) -> None:
    page = await page_at(provider, "signed out", shown)

    style = page.xpath("string(//style)")
    assert not set("<") & set(style)
    assert "display:none" not in style
    assert page.xpath("//script") == []


async def test_who_would_rather_stay_signed_in_stays(provider: Provider) -> None:
    form = {"csrf_token": PROOF, "logout_id": "l1", "decision": "stay"}

    response = await provider.http.post(LOGOUT, data=form)

    assert (response.status, "Set-Cookie" in response.headers) == (200, False)
    assert (await page_of(response)).xpath("string(//h1)") == "You are signed in"
    assert provider.servicers.requests == []
