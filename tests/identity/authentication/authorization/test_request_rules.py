"""Validation of authorization requests, and the errors of invalid ones."""

import pytest

from identity.authentication.requests.redirect_uris import is_registered
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.refusals import UnredirectableRefusal
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from tests.identity.browsers import ASKING, CALLBACK, ISSUER, NEW_BROWSER, Provider, app, calls

LONG = "x" * 2049


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    await provider.register(
        app(),
        app(id="off", is_enabled=False),
        app(id="robot", grant_types=frozenset({GrantType.CLIENT_CREDENTIALS})),
        app(
            id="web",
            token_endpoint_auth_method=AuthenticationMethod.CLIENT_SECRET_BASIC,
            requires_pkce=False,
            allowed_resources=("https://api.example.com/", "urn:example:api"),
        ),
        app(id="eager", oauth_scopes=("openid", "orders", "job:work"), default_scopes=("orders", "job:work")),
        app(id="careful", default_max_age=3600),
        app(
            id="native", redirect_uris=("http://127.0.0.1/cb", "http://[::1]:8000/cb", "com.example.app:/cb")
        ),
    )
    return provider


async def refused(provider: Provider, **parameters: str) -> dict[str, str]:
    outcome = await provider.begin(**parameters)
    assert isinstance(outcome, Redirection)
    return dict(outcome.parameters)


NO_WAY_BACK = [
    pytest.param({"client_id": ""}, id="no client"),
    pytest.param({"client_id": "nobody"}, id="unknown client"),
    pytest.param({"client_id": "off"}, id="disabled client"),
    pytest.param({"redirect_uri": ""}, id="no redirect URI"),
    pytest.param({"redirect_uri": "https://evil.example.com/callback"}, id="another redirect URI"),
    pytest.param({"redirect_uri": f"{CALLBACK}/"}, id="longer"),
    pytest.param({"redirect_uri": f"{CALLBACK}?a=b"}, id="with a query"),
    pytest.param({"redirect_uri": f"{CALLBACK}#f"}, id="with a fragment"),
    pytest.param({"redirect_uri": "https://APP.example.com/callback"}, id="in another case"),
    pytest.param({"redirect_uri": "https://app.example.com:443/callback"}, id="with a port"),
    pytest.param({"redirect_uri": "https://app.example.com/x/../callback"}, id="with a way around"),
    pytest.param({"client_id": "native", "redirect_uri": "http://127.0.0.1:80/other"}, id="another path"),
    pytest.param({"client_id": "native", "redirect_uri": "http://localhost/cb"}, id="a name for loopback"),
    pytest.param({"client_id": "native", "redirect_uri": "http://127.0.0.1:80@evil.example/cb"}, id="a user"),
    pytest.param({"client_id": "native", "redirect_uri": "http://127.0.0.1:999999/cb"}, id="no port"),
    pytest.param({"client_id": "native", "redirect_uri": "https://127.0.0.1/cb"}, id="another scheme"),
]


@pytest.mark.parametrize("parameters", NO_WAY_BACK)
async def test_a_wrong_client_or_redirect_uri_is_never_redirected(
    provider: Provider, parameters: dict[str, str]
) -> None:
    with pytest.raises(UnredirectableRefusal) as refusal:
        await provider.begin(**parameters)

    assert refusal.value.refusal.error == "invalid_request"


@pytest.mark.parametrize(
    "redirect_uri",
    [
        "http://127.0.0.1/cb",
        "http://127.0.0.1:49152/cb",
        "http://[::1]/cb",
        "http://[::1]:1/cb",
        "com.example.app:/cb",
    ],
)
async def test_the_port_of_a_loopback_address_may_vary(provider: Provider, redirect_uri: str) -> None:
    step, _ = await provider.page(client_id="native", redirect_uri=redirect_uri)

    assert step.request.redirect_uri == redirect_uri


@pytest.mark.parametrize("port", ["0", "65536", "99999"])
def test_a_port_that_there_is_not_is_no_loopback_address(port: str) -> None:
    assert not is_registered(f"http://127.0.0.1:{port}/cb", ("http://127.0.0.1/cb",))


SENT_BACK = [
    pytest.param("invalid_request", {"response_type": ""}, id="no response type"),
    pytest.param("unsupported_response_type", {"response_type": "token"}, id="implicit"),
    pytest.param("unsupported_response_type", {"response_type": "code id_token"}, id="hybrid"),
    pytest.param("invalid_request", {"response_mode": "fragment"}, id="fragment"),
    pytest.param("unauthorized_client", {"client_id": "robot"}, id="client of other grants"),
    pytest.param("invalid_request", {"code_challenge": ""}, id="no challenge, but a method"),
    pytest.param(
        "invalid_request",
        {"code_challenge": "", "code_challenge_method": ""},
        id="public client without PKCE",
    ),
    pytest.param("invalid_request", {"code_challenge_method": "plain"}, id="plain"),
    pytest.param("invalid_request", {"code_challenge_method": ""}, id="plain, as the default"),
    pytest.param("invalid_request", {"code_challenge": "short"}, id="no SHA-256"),
    pytest.param(
        "invalid_request", {"client_id": "web", "code_challenge_method": "plain"}, id="plain of web"
    ),
    pytest.param("invalid_request", {"state": LONG}, id="long state"),
    pytest.param("invalid_request", {"nonce": "n" * 1025}, id="long nonce"),
    pytest.param("invalid_request", {"nonce": "\0"}, id="NUL"),
    pytest.param("invalid_scope", {"scope": "openid\temail"}, id="scope with a tab"),
    pytest.param("invalid_scope", {"scope": "o" * 513}, id="long scope"),
    pytest.param("invalid_request", {"prompt": "none login"}, id="none with another prompt"),
    pytest.param("invalid_request", {"max_age": "-1"}, id="negative age"),
    pytest.param("invalid_request", {"max_age": "soon"}, id="age that is no number"),
    pytest.param("invalid_request", {"claims": "{"}, id="claims that are no JSON"),
    pytest.param(
        "invalid_request", {"claims": '{"userinfo": {"email": 3}}'}, id="claims that ask for nothing"
    ),
    pytest.param("invalid_request", {"claims": "[" * 8000}, id="deep claims"),
    pytest.param("invalid_request", {"claims": '{"id_token":{"sub":{"value":7}}}'}, id="numeric subject"),
    pytest.param("invalid_target", {"client_id": "web", "resource": "https://other.example/"}, id="resource"),
    pytest.param("invalid_target", {"client_id": "web", "resource": "/api"}, id="relative resource"),
    pytest.param(
        "invalid_target",
        {"client_id": "web", "resource": "https://api.example.com/#x"},
        id="fragment resource",
    ),
    pytest.param("invalid_request", {"id_token_hint": "no.token.this"}, id="hint that is no token"),
    pytest.param("invalid_request", {"dpop_jkt": "short"}, id="thumbprint that is none"),
    pytest.param("invalid_request_object", {"request": "e30.e30."}, id="request object"),
    pytest.param(
        "invalid_request",
        {"request": "e30.e30.", "request_uri": "https://app.example.com/r"},
        id="two request objects",
    ),
    pytest.param(
        "request_uri_not_supported", {"request_uri": "https://app.example.com/r"}, id="request by reference"
    ),
]


@pytest.mark.parametrize(("error", "parameters"), SENT_BACK)
async def test_any_other_mistake_is_told_to_the_relying_party(
    provider: Provider, error: str, parameters: dict[str, str]
) -> None:
    answer = await refused(provider, **parameters)

    assert (error, ISSUER) == (answer["error"], answer["iss"])
    assert answer.get("state", "s1") == "s1"
    assert not set(answer["error_description"]) & set('\r\n\t"\\')


async def test_a_repeated_parameter_is_refused(provider: Provider) -> None:
    twice = type(calls())((*calls().pairs, ("nonce", "n2")))

    outcome = await provider.authorization_start.begin(provider.tenant, twice, NEW_BROWSER)

    assert isinstance(outcome, Redirection)
    assert dict(outcome.parameters)["error"] == "invalid_request"


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
async def test_what_decides_on_the_redirect_may_not_be_repeated_either(provider: Provider, name: str) -> None:
    twice = type(calls())((*calls().pairs, (name, ASKING[name])))

    with pytest.raises(UnredirectableRefusal):
        await provider.authorization_start.begin(provider.tenant, twice, NEW_BROWSER)


async def test_an_error_goes_the_way_that_the_answer_would_have_gone(provider: Provider) -> None:
    outcome = await provider.begin(response_mode="form_post", response_type="token", state="")

    assert isinstance(outcome, Redirection)
    assert (outcome.uri, outcome.response_mode) == (CALLBACK, "form_post")
    assert "state" not in dict(outcome.parameters)


async def test_several_resources_may_be_asked_for(provider: Provider) -> None:
    resources = (("resource", "https://api.example.com/"), ("resource", "urn:example:api"))
    both = type(calls())((*calls(client_id="web").pairs, *resources))

    step = await provider.authorization_start.begin(provider.tenant, both, NEW_BROWSER)

    assert not isinstance(step, Redirection)
    assert step.request.resources == ("https://api.example.com/", "urn:example:api")


ACCEPTED = [
    pytest.param("oauth_scopes", ("openid", "email"), {"scope": "openid unknown email openid"}, id="scopes"),
    pytest.param("oauth_scopes", ("openid",), {"scope": ""}, id="no scopes"),
    pytest.param("oauth_scopes", ("openid", "orders"), {"client_id": "eager"}, id="scopes beside defaults"),
    pytest.param(
        "oauth_scopes",
        ("orders", "job:work"),
        {"client_id": "eager", "scope": ""},
        id="no scopes beside defaults",
    ),
    pytest.param("code_challenge", ASKING["code_challenge"], {"client_id": "web"}, id="challenge of web"),
    pytest.param(
        "code_challenge",
        "",
        {"client_id": "web", "code_challenge": "", "code_challenge_method": ""},
        id="web without PKCE",
    ),
    pytest.param("requires_sign_in", True, {"prompt": "login"}, id="login"),
    pytest.param("requires_sign_in", True, {"prompt": "select_account consent"}, id="select_account"),
    pytest.param("requires_sign_in", True, {"prompt": "create"}, id="create"),
    pytest.param("requires_sign_in", False, {"prompt": "consent"}, id="consent"),
    pytest.param("requires_sign_in", False, {"prompt": "whatever"}, id="unknown prompt"),
    pytest.param("requires_sign_in", True, {"max_age": "0"}, id="no age"),
    pytest.param("max_age", 60, {"max_age": "60"}, id="age"),
    pytest.param("max_age", 3600, {"client_id": "careful"}, id="age of the client"),
    pytest.param("max_age", 60, {"client_id": "careful", "max_age": "60"}, id="age before the client's"),
    pytest.param("nonce", "n" * 1024, {"nonce": "n" * 1024}, id="long nonce"),
    pytest.param("state", "x" * 2048, {"state": "x" * 2048}, id="long state"),
    pytest.param("ui_locales", ("de", "en"), {"ui_locales": "de en"}, id="languages"),
    pytest.param("acr_values", ("phr", "mfa"), {"acr_values": "phr mfa"}, id="levels"),
    pytest.param("response_mode", "form_post", {"response_mode": "form_post"}, id="form_post"),
    pytest.param("user_id", "bob", {"claims": '{"id_token":{"sub":{"value":"bob"}}}'}, id="subject"),
    pytest.param(
        "claims",
        '{"userinfo":{"email":null,"name":{"essential":true}},"x":1}',
        {"claims": '{"userinfo":{"email":null,"name":{"essential":true}},"x":1}'},
        id="claims",
    ),
    pytest.param("login_hint", "a@example.com", {"login_hint": "a@example.com"}, id="login hint"),
    pytest.param("login_hint", "", {"login_hint": "<a@example.com>"}, id="hint with brackets"),
    pytest.param("login_hint", "", {"login_hint": "a@b@example.com"}, id="hint with two at signs"),
    pytest.param("login_hint", "", {"login_hint": "a b@example.com"}, id="hint with a space"),
    pytest.param("login_hint", "", {"login_hint": "alice"}, id="hint that is no address"),
    pytest.param("login_hint", "", {"login_hint": "a\u202e@example.com"}, id="hint that turns around"),
    pytest.param("login_hint", "", {"login_hint": "a@" + "b" * 253}, id="hint of 255 characters"),
    pytest.param(
        "login_hint", "a@" + "b" * 252, {"login_hint": "a@" + "b" * 252}, id="hint of 254 characters"
    ),
    pytest.param("dpop_jkt", "j" * 43, {"dpop_jkt": "j" * 43}, id="thumbprint"),
]


@pytest.mark.parametrize(("field", "expected", "parameters"), ACCEPTED)
async def test_a_good_request_is_understood(
    provider: Provider, field: str, expected: object, parameters: dict[str, str]
) -> None:
    step, _ = await provider.page(**parameters)

    assert getattr(step.request, field) == expected


async def test_a_hint_names_its_user_however_old_it_is(provider: Provider) -> None:
    step, _ = await provider.page(id_token_hint=provider.id_token(sub="carol"))

    assert step.request.user_id == "carol"


async def test_a_token_of_another_kind_is_no_hint(provider: Provider) -> None:
    answer = await refused(provider, id_token_hint=provider.id_token(typ="Bearer"))

    assert answer["error"] == "invalid_request"


async def test_the_page_comes_with_a_session_that_nobody_has_signed_in_to(provider: Provider) -> None:
    step, browser = await provider.page(login_hint="alice@example.com")

    session = await provider.session(browser)
    assert session is not None
    assert session.authentication is None
    assert not step.is_signed_in
    assert step.cookie
