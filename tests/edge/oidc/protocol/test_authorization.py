import json
from typing import Any

import pytest

from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import (
    RESPONSE_MODE_FORM_POST,
    RESPONSE_MODE_FRAGMENT,
    RESPONSE_MODE_QUERY,
    ErrorPage,
    Parameter,
    Redirect,
    SessionCookie,
)
from gnomon.identity.v1.provider_service_pb2 import OfferedProvider
from server.platform.errors import InvalidArgument, NotFound, OAuthError, Unavailable
from tests.edge.oidc.protocol.provider import FORM, Provider, directives, hidden_fields, page_of

AUTHORIZE = "/auth/v1/oidc/authorize"

COOKIE = SessionCookie(value="s3cret-of-the-session", max_age=14_400, csrf_token="proof")
SIGN_IN = pb.SignInPage(
    authorization_id="request-1",
    client_id="shop",
    client_name="The <b>Shop</b> & more",
    client_uri="https://shop.example/",
    redirect_origin="https://shop.example",
    csrf_token="proof",
)
CODE = (Parameter(name="code", value="abc"), Parameter(name="state", value="a b&c=ü"))


def begun(page: pb.SignInPage = SIGN_IN) -> pb.BeginAuthorizationResponse:
    return pb.BeginAuthorizationResponse(page=page, cookie=COOKIE)


def sign_in_page(**fields: Any) -> pb.SignInPage:
    page = pb.SignInPage()
    page.CopyFrom(SIGN_IN)
    page.MergeFrom(pb.SignInPage(**fields))
    return page


async def test_the_service_is_told_all_that_was_sent(provider: Provider) -> None:
    provider.answers(begin_authorization=begun())

    await provider.http.get(
        "/auth/v1/acme/oidc/authorize?client_id=shop&state=a%20b&state=c&foo=",
        headers={"Cookie": "__Host-GnomonSession.acme=old", "User-Agent": "a browser"},
    )

    asked = provider.asked(pb.BeginAuthorizationRequest)
    sent = [(parameter.name, parameter.value) for parameter in asked.parameters]
    assert sent == [("client_id", "shop"), ("state", "a b"), ("state", "c"), ("foo", "")]
    assert (asked.tenant_id, asked.browser.session, asked.browser.user_agent) == ("acme", "old", "a browser")
    assert asked.browser.peer_address == "127.0.0.1"


async def test_the_sign_in_page_is_a_form_that_says_what_its_fields_are(provider: Provider) -> None:
    provider.answers(begin_authorization=begun())

    response = await provider.http.get(AUTHORIZE)

    page = await page_of(response)
    [form] = page.xpath("//form[@id='sign-in']")
    assert response.status == 200
    assert (form.get("method"), form.get("action")) == ("post", AUTHORIZE)
    assert hidden_fields(page) == {"csrf_token": "proof", "authorization_id": "request-1"}
    fields = {field.get("name"): field for field in form.xpath(".//input[not(@type='hidden')]")}
    assert {name: field.get("autocomplete") for name, field in fields.items()} == {
        "email": "username webauthn",
        "password": "current-password",
    }
    labelled = set(form.xpath(".//label/@for"))
    assert {field.get("id") for field in fields.values()} == labelled
    assert page.xpath("//*[@role='alert']/@id") == ["error"]
    assert page.xpath("//html/@lang") == ["en"]
    assert page.xpath("//noscript")


async def test_what_a_client_calls_itself_stays_text(provider: Provider) -> None:
    provider.answers(begin_authorization=begun())

    page = await page_of(await provider.http.get(AUTHORIZE))

    [link] = page.xpath("//main//a")
    assert (link.text_content(), link.get("href")) == ("The <b>Shop</b> & more", "https://shop.example/")


async def test_what_a_provider_is_called_stays_text(provider: Provider) -> None:
    offered = [OfferedProvider(id='p"1', name="<b>Acme</b>")]
    provider.answers(begin_authorization=begun(sign_in_page(providers=offered)))

    page = await page_of(await provider.http.get(AUTHORIZE))

    [button] = page.xpath("//main//button[@data-provider]")
    assert (button.text_content(), button.get("data-provider")) == ("Sign in with <b>Acme</b>", 'p"1')


async def test_the_logo_of_a_client_and_the_image_of_a_provider_are_shown(provider: Provider) -> None:
    offered = [
        OfferedProvider(id="acme", name="Acme", updated="image-1"),
        OfferedProvider(id="plain", name="Plain"),
    ]
    shown = sign_in_page(client_logo_id="logo-1", client_id="the shop/?", providers=offered)
    provider.answers(begin_authorization=begun(shown))

    response = await provider.http.get("/auth/v1/acme/oidc/authorize")

    page = await page_of(response)
    assert page.xpath("//main/header/img/@src") == [
        "/auth/v1/acme/clients/the%20shop%2F%3F/logo?updated=logo-1"
    ]
    assert page.xpath("//button/img/@src") == ["/auth/v1/acme/providers/acme/img?updated=image-1"]
    assert page.xpath("//img/@alt") == ["", ""]
    assert [button.text_content() for button in page.xpath("//button[@data-provider]")] == [
        "Sign in with Acme",
        "Sign in with Plain",
    ]
    assert "'self'" in directives(response)["img-src"]


async def test_a_page_without_images_has_none(provider: Provider) -> None:
    provider.answers(begin_authorization=begun())

    assert (await page_of(await provider.http.get(AUTHORIZE))).xpath("//img") == []


async def test_a_client_leads_nowhere_but_to_the_web(provider: Provider) -> None:
    provider.answers(begin_authorization=begun(sign_in_page(client_uri="javascript:alert(1)")))

    page = await page_of(await provider.http.get(AUTHORIZE))

    assert page.xpath("//main//a") == []


async def test_the_state_of_the_page_is_one_escaped_block(provider: Provider) -> None:
    provider.answers(begin_authorization=begun(sign_in_page(csrf_token="</script><!--&\u2028")))

    response = await provider.http.get(AUTHORIZE)

    page = await page_of(response)
    [block] = page.xpath("//script[@type='application/json']")
    state = json.loads(block.text)
    assert block.get("id") == "auth-state"
    assert not set(block.text) & set("<>&\u2028")
    assert (state["csrf_token"], state["authorization_id"]) == ("</script><!--&\u2028", "request-1")
    assert (state["pow"], state["action"]) == ("/auth/v1/pow", AUTHORIZE)


async def test_only_what_carries_the_nonce_of_the_answer_runs(provider: Provider) -> None:
    provider.answers(begin_authorization=begun())

    response, other = await provider.http.get(AUTHORIZE), await provider.http.get(AUTHORIZE)

    page, policy = await page_of(response), directives(response)
    [nonce] = {element.get("nonce") for element in page.xpath("//script | //link[@rel='stylesheet']")}
    assert policy["script-src"] == policy["style-src"] == f"'nonce-{nonce}'"
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["form-action"] == "'self' https://shop.example"
    assert directives(other)["script-src"] != policy["script-src"]
    assert page.xpath("//@*[starts-with(name(), 'on')] | //@style | //style") == []


@pytest.mark.parametrize("origin", ["https://a.example; script-src *", "https://a.example,x", "", "a b"])
async def test_an_origin_does_not_break_the_policy(provider: Provider, origin: str) -> None:
    page = pb.SignInPage(authorization_id="request-1", redirect_origin=origin)
    provider.answers(begin_authorization=begun(page))

    response = await provider.http.get(AUTHORIZE)

    assert directives(response)["form-action"] == "'self'"


async def test_a_hint_is_filled_in_and_can_be_taken_back(provider: Provider) -> None:
    provider.answers(begin_authorization=begun(sign_in_page(login_hint='ada"@example.com')))

    page = await page_of(await provider.http.get(AUTHORIZE))

    assert page.xpath("//input[@name='email']/@value") == ['ada"@example.com']
    assert [button.text for button in page.xpath("//button[@class='plain']")] == ["Use another address"]


async def test_without_a_hint_there_is_nothing_to_take_back(provider: Provider) -> None:
    provider.answers(begin_authorization=begun())

    page = await page_of(await provider.http.get(AUTHORIZE))

    assert page.xpath("//button[@class='plain']") == []


async def test_whoever_is_signed_in_goes_on_without_credentials(provider: Provider) -> None:
    provider.answers(begin_authorization=begun(sign_in_page(is_signed_in=True)))

    page = await page_of(await provider.http.get("/auth/v1/acme/oidc/authorize"))

    assert page.xpath("//form/@action") == ["/auth/v1/acme/oidc/authorize/refresh"]
    assert hidden_fields(page) == {"csrf_token": "proof", "authorization_id": "request-1"}
    assert page.xpath("//input[@type='password']") == []


async def test_the_page_sets_the_cookie_of_the_session(provider: Provider) -> None:
    provider.answers(begin_authorization=begun())

    response = await provider.http.get(AUTHORIZE)

    [cookie] = response.headers.getall("Set-Cookie")
    name, *attributes = cookie.split("; ")
    assert name == "__Host-GnomonSession=s3cret-of-the-session"
    assert {"HttpOnly", "Secure", "SameSite=Lax", "Path=/", "Max-Age=14400"} == set(attributes)


async def test_a_session_that_stays_sets_no_cookie(provider: Provider) -> None:
    provider.answers(begin_authorization=pb.BeginAuthorizationResponse(page=SIGN_IN))

    response = await provider.http.get(AUTHORIZE)

    assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize(
    ("uri", "location"),
    [
        ("https://shop.example/cb", "https://shop.example/cb?code=abc&state=a%20b%26c%3D%C3%BC"),
        ("https://shop.example/cb?x=1", "https://shop.example/cb?x=1&code=abc&state=a%20b%26c%3D%C3%BC"),
        ("app.example:/cb", "app.example:/cb?code=abc&state=a%20b%26c%3D%C3%BC"),
        (
            "https://shop.example/ü\r\nX: y",
            "https://shop.example/%C3%BC%0D%0AX:%20y?code=abc&state=a%20b%26c%3D%C3%BC",
        ),
    ],
)
async def test_a_redirect_carries_its_parameters_encoded(provider: Provider, uri: str, location: str) -> None:
    redirect = Redirect(uri=uri, response_mode=RESPONSE_MODE_QUERY, parameters=CODE)
    provider.answers(begin_authorization=pb.BeginAuthorizationResponse(redirect=redirect))

    response = await provider.http.get(AUTHORIZE, allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (302, location)


async def test_a_fragment_carries_its_parameters_encoded(provider: Provider) -> None:
    uri = "https://shop.example/cb?x=1"
    redirect = Redirect(uri=uri, response_mode=RESPONSE_MODE_FRAGMENT, parameters=CODE)
    provider.answers(begin_authorization=pb.BeginAuthorizationResponse(redirect=redirect))

    response = await provider.http.get(AUTHORIZE, allow_redirects=False)

    assert response.headers["Location"] == f"{uri}#code=abc&state=a%20b%26c%3D%C3%BC"


async def test_form_post_is_a_form_with_a_button_for_those_without_script(provider: Provider) -> None:
    uri = "https://shop.example/cb"
    redirect = Redirect(uri=uri, response_mode=RESPONSE_MODE_FORM_POST, parameters=CODE)
    provider.answers(begin_authorization=pb.BeginAuthorizationResponse(redirect=redirect))

    response = await provider.http.get(AUTHORIZE)

    page = await page_of(response)
    [form] = page.xpath("//form")
    assert (response.status, form.get("method"), form.get("action")) == (200, "post", uri)
    assert hidden_fields(page) == {"code": "abc", "state": "a b&c=ü"}
    assert [button.text for button in form.xpath(".//button[@type='submit']")] == ["Continue"]
    assert directives(response)["form-action"] == "'self' https://shop.example"
    assert response.headers["Cache-Control"] == "no-store"


async def test_an_error_that_must_not_be_sent_back_is_a_page(provider: Provider) -> None:
    error = ErrorPage(status=404, error="invalid_client", description="there is <no> such client")
    provider.answers(begin_authorization=pb.BeginAuthorizationResponse(error=error))

    response = await provider.http.get(AUTHORIZE, allow_redirects=False)

    page = await page_of(response)
    assert response.status == 404
    assert "404 invalid_client: there is <no> such client" in page.xpath("//dd/text()")
    assert "Location" not in response.headers


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (NotFound("there is no such tenant"), 404),
        (InvalidArgument("parameters: too many"), 400),
        (OAuthError("invalid_request", "no"), 400),
        (Unavailable("not now"), 503),
    ],
)
async def test_a_refusal_is_a_page_too(provider: Provider, refusal: Exception, status: int) -> None:
    provider.answers(begin_authorization=refusal)

    response = await provider.http.get(AUTHORIZE)

    page = await page_of(response)
    assert (response.status, page.xpath("//dt/text()")) == (status, ["Error", "Request ID"])


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("state=%ff", id="no UTF-8"),
        pytest.param("&".join(f"p{index}=1" for index in range(65)), id="too many"),
        pytest.param(f"{'n' * 257}=1", id="name too long"),
    ],
)
async def test_a_malformed_query_is_refused_with_a_page(provider: Provider, query: str) -> None:
    provider.answers(begin_authorization=begun())

    response = await provider.http.get(f"{AUTHORIZE}?{query}")

    assert (response.status, response.content_type) == (400, "text/html")


async def test_a_form_without_a_csrf_token_is_an_authorization_request(provider: Provider) -> None:
    redirect = Redirect(uri="https://shop.example/cb", parameters=CODE)
    provider.answers(begin_authorization=pb.BeginAuthorizationResponse(redirect=redirect))

    response = await provider.http.post(AUTHORIZE, data={"client_id": "shop"}, allow_redirects=False)

    asked = provider.asked(pb.BeginAuthorizationRequest)
    assert response.status == 303
    assert [(parameter.name, parameter.value) for parameter in asked.parameters] == [("client_id", "shop")]


async def test_a_body_of_another_kind_is_refused_with_a_page(provider: Provider) -> None:
    response = await provider.http.post(AUTHORIZE, data="x", headers={"Content-Type": "text/plain"})

    assert (response.status, response.content_type) == (400, "text/html")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
async def test_other_methods_are_not_allowed(provider: Provider, method: str) -> None:
    response = await provider.http.request(method, AUTHORIZE, headers={"Content-Type": FORM})

    assert (response.status, response.headers["Allow"]) == (405, "GET, POST, HEAD, OPTIONS")
