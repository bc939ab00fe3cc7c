"""FedCM requests as browsers send them: FedCM §3."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientResponse

from edge.oidc.config import AccessConfig, CookieMode
from gnomon.identity.v1 import fed_cm_service_pb2 as pb
from gnomon.identity.v1.authorization_service_pb2 import SubmitCredentialsResponse
from gnomon.identity.v1.browser_pb2 import Redirect, SessionCookie
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataResponse, ProviderMetadata
from gnomon.identity.v1.logout_service_pb2 import ConfirmLogoutResponse, SignedOutPage
from gnomon.identity.v1.session_service_pb2 import BeginSessionResponse, GetSessionResponse, Session
from server.platform.errors import InvalidArgument, NotFound, Unauthenticated, Unavailable
from tests.edge.oidc.protocol.provider import FORM, Provider, running

BASE = "/auth/v1/fed_cm"
ORIGIN = "https://shop.example"
ISSUER = "https://id.example.com/auth/v1/"
ITSELF = {"Sec-Fetch-Dest": "webidentity", "Sec-Fetch-Site": "cross-site", "Accept": "application/json"}
FOR_A_PAGE = ITSELF | {"Origin": ORIGIN}
COOKIE = {"Cookie": "__Host-GnomonFedCM=s1.secret; __Host-GnomonSession=theirs"}

CONFIGURATION = pb.GetFedCmConfigurationResponse(
    config_url=f"{ISSUER}fed_cm/config",
    accounts_endpoint=f"{ISSUER}fed_cm/accounts",
    client_metadata_endpoint=f"{ISSUER}fed_cm/client_meta",
    id_assertion_endpoint=f"{ISSUER}fed_cm/token",
    disconnect_endpoint=f"{ISSUER}fed_cm/disconnect",
    login_url=f"{ISSUER}fed_cm/login",
)
ACCOUNT = pb.FedCmAccount(
    id="ada",
    name="Ada Lovelace",
    email="ada@example.com",
    approved_clients=["shop"],
    login_hints=["ada", "ada@example.com"],
    domain_hints=["example.com"],
)
TOKEN = pb.IssueFedCmAssertionResponse(token="e30.e30.x")
# As Chromium sends it.
ASSERTION = (
    "client_id=shop&nonce=n1&account_id=ada&disclosure_text_shown=true&is_auto_selected=false&mode=passive"
    "&fields=name,email,picture&disclosure_shown_for=name,email&params=%7B%22nonce%22:%22n1%22,%22x%22:1%7D"
)
NOBODY = Unauthenticated("no user is signed in")
SOMEBODY_ELSE = Unauthenticated("another user is signed in", cause="ANOTHER_ACCOUNT")
ASKED_BY_THE_BROWSER = [
    ("GET", "/accounts"),
    ("GET", "/client_meta?client_id=shop"),
    ("POST", "/token"),
    ("POST", "/disconnect"),
]


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with running(has_fed_cm=True) as found:
        yield found


async def post(provider: Provider, path: str, body: str, **headers: str) -> ClientResponse:
    return await provider.http.post(
        f"{BASE}{path}", data=body, headers=FOR_A_PAGE | COOKIE | {"Content-Type": FORM} | headers
    )


def cors_of(response: ClientResponse) -> dict[str, str]:
    return {
        name: value
        for name, value in response.headers.items()
        if name.lower().startswith("access-control-allow")
    }


def cookies_of(response: ClientResponse) -> list[str]:
    return sorted(response.headers.getall("Set-Cookie", ()))


async def test_the_host_names_its_provider_to_anybody(provider: Provider) -> None:
    provider.answers(get_fed_cm_configuration=CONFIGURATION)

    response = await provider.http.get("/.well-known/web-identity")

    assert (response.status, response.content_type) == (200, "application/json")
    assert await response.json() == {
        "provider_urls": [f"{ISSUER}fed_cm/config"],
        "accounts_endpoint": f"{ISSUER}fed_cm/accounts",
        "login_url": f"{ISSUER}fed_cm/login",
    }
    assert cors_of(response) == {"Access-Control-Allow-Origin": "*"}


@pytest.mark.parametrize(("issuer", "tenant_id"), [("/auth/v1", ""), ("/auth/v1/acme", "acme")])
async def test_the_configuration_is_public_too(provider: Provider, issuer: str, tenant_id: str) -> None:
    provider.answers(get_fed_cm_configuration=CONFIGURATION)

    response = await provider.http.get(f"{issuer}/fed_cm/config", headers=ITSELF)

    assert await response.json() == {
        "accounts_endpoint": f"{ISSUER}fed_cm/accounts",
        "client_metadata_endpoint": f"{ISSUER}fed_cm/client_meta",
        "id_assertion_endpoint": f"{ISSUER}fed_cm/token",
        "disconnect_endpoint": f"{ISSUER}fed_cm/disconnect",
        "login_url": f"{ISSUER}fed_cm/login",
    }
    assert cors_of(response) == {"Access-Control-Allow-Origin": "*"}
    assert provider.asked(pb.GetFedCmConfigurationRequest).tenant_id == tenant_id


async def test_without_fed_cm_nothing_of_it_is_there() -> None:
    async with running() as provider:
        well_known = await provider.http.get("/.well-known/web-identity", headers=ITSELF)
        accounts = await provider.http.get(f"{BASE}/accounts", headers=ITSELF, allow_redirects=False)

    assert (well_known.status, accounts.status) == (404, 308)
    assert provider.servicers.requests == []


@pytest.mark.parametrize(("method", "path"), ASKED_BY_THE_BROWSER)
@pytest.mark.parametrize("destination", ["", "empty", "document", "WebIdentity"])
async def test_what_a_page_sends_is_not_answered(
    provider: Provider, method: str, path: str, destination: str
) -> None:
    sent = {"Origin": ORIGIN} | COOKIE | ({"Sec-Fetch-Dest": destination} if destination else {})

    response = await provider.http.request(method, f"{BASE}{path}", headers=sent)

    assert (response.status, (await response.json())["error"]) == (400, "BadRequest")
    assert cors_of(response) == {}
    assert provider.servicers.requests == []


@pytest.mark.parametrize(("method", "path"), ASKED_BY_THE_BROWSER)
async def test_no_page_is_told_that_it_may_ask(provider: Provider, method: str, path: str) -> None:
    preflight = await provider.http.options(
        f"{BASE}{path}", headers={"Origin": ORIGIN, "Access-Control-Request-Method": method}
    )

    assert cors_of(preflight) == {}


async def test_the_account_that_is_signed_in_is_listed(provider: Provider) -> None:
    provider.answers(list_fed_cm_accounts=pb.ListFedCmAccountsResponse(accounts=[ACCOUNT]))

    response = await provider.http.get(f"{BASE}/accounts", headers=ITSELF | COOKIE)

    assert response.status == 200
    assert await response.json() == {
        "accounts": [
            {
                "id": "ada",
                "name": "Ada Lovelace",
                "email": "ada@example.com",
                "approved_clients": ["shop"],
                "login_hints": ["ada", "ada@example.com"],
                "domain_hints": ["example.com"],
            }
        ]
    }
    assert cors_of(response) == {}
    assert provider.asked(pb.ListFedCmAccountsRequest) == pb.ListFedCmAccountsRequest(
        way="s1.secret", peer_address="127.0.0.1"
    )


async def test_without_a_session_no_account_is_listed_and_the_browser_knows(provider: Provider) -> None:
    provider.answers(list_fed_cm_accounts=NOBODY)

    response = await provider.http.get(f"{BASE}/accounts", headers=ITSELF)

    assert (response.status, await response.json()) == (401, {"accounts": []})
    assert response.headers["Set-Login"] == "logged-out"


async def test_while_nobody_can_tell_the_browser_is_told_nothing(provider: Provider) -> None:
    provider.answers(list_fed_cm_accounts=Unavailable("the store is away"))

    response = await provider.http.get(f"{BASE}/accounts", headers=ITSELF | COOKIE)

    assert (response.status, "Set-Login" in response.headers) == (503, False)


async def test_a_client_says_what_it_promises(provider: Provider) -> None:
    provider.answers(
        get_fed_cm_client=pb.GetFedCmClientResponse(
            policy_uri="https://shop.example/privacy", tos_uri="https://shop.example/terms"
        )
    )

    response = await provider.http.get(f"{BASE}/client_meta?client_id=shop", headers=FOR_A_PAGE)

    assert await response.json() == {
        "privacy_policy_url": "https://shop.example/privacy",
        "terms_of_service_url": "https://shop.example/terms",
    }
    assert cors_of(response) == {
        "Access-Control-Allow-Origin": ORIGIN,
        "Access-Control-Allow-Credentials": "true",
    }
    assert response.headers["Vary"] == "Origin"
    assert provider.asked(pb.GetFedCmClientRequest) == pb.GetFedCmClientRequest(
        client_id="shop", origin=ORIGIN
    )


async def test_a_client_that_promises_nothing_says_nothing(provider: Provider) -> None:
    response = await provider.http.get(f"{BASE}/client_meta?client_id=shop", headers=FOR_A_PAGE)

    assert await response.json() == {}


@pytest.mark.parametrize("origin", [None, "", "https://shop.example\u00fc", "https://" + "x" * 300])
@pytest.mark.parametrize(("method", "path"), ASKED_BY_THE_BROWSER[1:])
async def test_without_an_origin_no_client_is_looked_for(
    provider: Provider, method: str, path: str, origin: str | None
) -> None:
    headers = ITSELF | COOKIE | {"Content-Type": FORM} | ({} if origin is None else {"Origin": origin})

    response = await provider.http.request(method, f"{BASE}{path}", headers=headers)

    assert response.status == 400
    assert provider.servicers.requests == []


@pytest.mark.parametrize(
    ("method", "path", "rpc"),
    [
        ("GET", "/client_meta?client_id=shop", "get_fed_cm_client"),
        ("POST", "/token", "issue_fed_cm_assertion"),
        ("POST", "/disconnect", "disconnect_fed_cm_client"),
    ],
)
async def test_a_page_that_is_not_the_clients_reads_nothing(
    provider: Provider, method: str, path: str, rpc: str
) -> None:
    provider.answers(**{rpc: InvalidArgument("there is no client with this id and origin")})

    response = await provider.http.request(
        method, f"{BASE}{path}", headers=FOR_A_PAGE | COOKIE | {"Content-Type": FORM}
    )

    assert (response.status, cors_of(response), "Set-Login" in response.headers) == (400, {}, False)


async def test_a_token_is_issued_to_the_page_alone(provider: Provider) -> None:
    provider.answers(issue_fed_cm_assertion=TOKEN)

    response = await post(provider, "/token", ASSERTION)

    assert (response.status, await response.json()) == (200, {"token": "e30.e30.x"})
    assert cors_of(response) == {
        "Access-Control-Allow-Origin": ORIGIN,
        "Access-Control-Allow-Credentials": "true",
    }
    assert (response.headers["Vary"], response.headers["Cache-Control"]) == ("Origin", "no-store")
    assert provider.asked(pb.IssueFedCmAssertionRequest) == pb.IssueFedCmAssertionRequest(
        way="s1.secret",
        peer_address="127.0.0.1",
        client_id="shop",
        origin=ORIGIN,
        account_id="ada",
        nonce="n1",
        fields=["name", "email", "picture"],
        disclosure_text_shown=True,
        disclosed_fields=["name", "email"],
    )


@pytest.mark.parametrize(
    ("nonces", "nonce"),
    [
        ("nonce=n1", "n1"),
        ("params=%7B%22nonce%22:%22n1%22%7D", "n1"),
        ("params=%7B%22other%22:%5B1%5D%7D", ""),
        ("", ""),
    ],
)
async def test_the_nonce_may_be_among_what_the_page_passes_on(
    provider: Provider, nonces: str, nonce: str
) -> None:
    provider.answers(issue_fed_cm_assertion=TOKEN)

    await post(provider, "/token", f"client_id=shop&account_id=ada&is_auto_selected=true&{nonces}")

    asked = provider.asked(pb.IssueFedCmAssertionRequest)
    assert (asked.nonce, asked.is_auto_selected, asked.disclosure_text_shown) == (nonce, True, False)


@pytest.mark.parametrize(
    "body",
    [
        "nonce=n1&params=%7B%22nonce%22:%22n2%22%7D",
        "params=%7B%22nonce%22:1%7D",
        "params=%5B%5D",
        "params=%7B",
        "nonce=n1&nonce=n1",
        f"nonce={'n' * 1025}",
        f"fields={','.join(['f'] * 17)}",
        "account_id=" + "x" * 20_000,
    ],
    ids=lambda body: body[:40],
)
async def test_what_contradicts_itself_or_has_no_bounds_is_refused(provider: Provider, body: str) -> None:
    response = await post(provider, "/token", body)

    assert response.status in {400, 413}
    assert cors_of(response) == {}


async def test_a_page_is_told_why_there_is_no_token(provider: Provider) -> None:
    provider.answers(issue_fed_cm_assertion=pb.IssueFedCmAssertionResponse(error="access_denied"))

    response = await post(provider, "/token", ASSERTION)

    assert (response.status, await response.json()) == (403, {"error": {"code": "access_denied"}})
    assert cors_of(response)["Access-Control-Allow-Origin"] == ORIGIN


@pytest.mark.parametrize(
    ("path", "rpc"), [("/token", "issue_fed_cm_assertion"), ("/disconnect", "disconnect_fed_cm_client")]
)
@pytest.mark.parametrize(("refusal", "status"), [(NOBODY, "logged-out"), (SOMEBODY_ELSE, None)])
async def test_the_browser_learns_that_nobody_is_signed_in_any_more(
    provider: Provider, path: str, rpc: str, refusal: Exception, status: str | None
) -> None:
    provider.answers(**{rpc: refusal})

    response = await post(provider, path, ASSERTION)

    assert (response.status, response.headers.get("Set-Login")) == (401, status)
    assert cors_of(response) == {}


async def test_a_client_is_disconnected(provider: Provider) -> None:
    provider.answers(disconnect_fed_cm_client=pb.DisconnectFedCmClientResponse(account_id="ada"))

    response = await post(provider, "/disconnect", "client_id=shop&account_hint=ada%40example.com")

    assert (response.status, await response.json()) == (200, {"account_id": "ada"})
    assert cors_of(response)["Access-Control-Allow-Origin"] == ORIGIN
    assert provider.asked(pb.DisconnectFedCmClientRequest) == pb.DisconnectFedCmClientRequest(
        way="s1.secret",
        peer_address="127.0.0.1",
        client_id="shop",
        origin=ORIGIN,
        account_hint="ada@example.com",
    )


async def test_a_tenant_sees_no_way_of_another(provider: Provider) -> None:
    provider.answers(list_fed_cm_accounts=NOBODY)

    await provider.http.get(
        "/auth/v1/acme/fed_cm/accounts",
        headers=ITSELF | {"Cookie": "__Host-GnomonFedCM=default; __Host-GnomonFedCM.umbrella=theirs"},
    )

    asked = provider.asked(pb.ListFedCmAccountsRequest)
    assert (asked.tenant_id, asked.way) == ("acme", "")


async def test_an_identity_service_without_fed_cm_is_not_found(provider: Provider) -> None:
    provider.answers(list_fed_cm_accounts=NotFound("FedCM is disabled"))

    response = await provider.http.get(f"{BASE}/accounts", headers=ITSELF)

    assert response.status == 404


SIGNED_IN = SessionCookie(value="c1", max_age=600, csrf_token="proof", fed_cm="s1.secret")


def session_of(cookie: SessionCookie) -> GetSessionResponse:
    return GetSessionResponse(session=Session(id="s1", user_id="ada"), cookie=cookie)


async def test_a_browser_asks_whether_somebody_is_signed_in_and_gets_what_it_lacks(
    provider: Provider,
) -> None:
    provider.answers(get_session=session_of(SIGNED_IN))

    response = await provider.http.get(f"{BASE}/status", headers={"Sec-Fetch-Site": "same-origin"})

    assert (response.status, await response.json()) == (200, {"status": "logged-in"})
    assert response.headers["Set-Login"] == "logged-in"
    assert [cookie.partition("=")[0] for cookie in cookies_of(response)] == ["__Host-GnomonFedCM"]


async def test_a_browser_asks_and_nobody_is_signed_in(provider: Provider) -> None:
    provider.answers(get_session=NOBODY)

    response = await provider.http.get(f"{BASE}/status")

    assert (response.status, await response.json()) == (200, {"status": "logged-out"})
    assert response.headers["Set-Login"] == "logged-out"


async def test_no_other_page_asks_who_is_signed_in(provider: Provider) -> None:
    response = await provider.http.get(
        f"{BASE}/status", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "empty"}
    )

    assert response.status == 400
    assert provider.servicers.requests == []


async def test_the_document_of_the_session_tells_the_browser_too(provider: Provider) -> None:
    provider.answers(get_session=session_of(SIGNED_IN))
    signed_in = await provider.http.get("/auth/v1/oidc/sessioninfo")
    provider.answers(get_session=NOBODY)
    signed_out = await provider.http.get("/auth/v1/oidc/sessioninfo")

    assert (signed_in.status, signed_in.headers["Set-Login"]) == (200, "logged-in")
    assert (signed_out.status, signed_out.headers["Set-Login"]) == (401, "logged-out")
    assert cookies_of(signed_in) == []


@pytest.mark.parametrize(
    ("query", "hint"),
    [("", None), ("?login_hint=ada%40example.com&domain_hint=x", "ada%40example.com")],
)
async def test_the_browsers_window_leads_to_the_sign_in_page(
    provider: Provider, query: str, hint: str | None
) -> None:
    provider.answers(get_metadata=GetMetadataResponse(metadata=ProviderMetadata(issuer=ISSUER)))

    response = await provider.http.get(f"{BASE}/login{query}", allow_redirects=False)

    location = response.headers["Location"]
    assert (response.status, location.partition("?")[0]) == (302, "/auth/v1/oidc/authorize")
    assert "redirect_uri=https%3A%2F%2Fid.example.com%2Fauth%2Fv1%2Fsign-in" in location
    assert ("login_hint" in location, f"login_hint={hint}" in location) == (bool(hint), bool(hint))


async def test_the_window_ends_with_what_the_browser_waits_for(provider: Provider) -> None:
    provider.answers(get_session=session_of(SIGNED_IN))

    response = await provider.http.get("/auth/v1/sign-in?iss=https%3A%2F%2Fid.example.com&code=c")

    page = await response.text()
    assert response.headers["Set-Login"] == "logged-in"
    assert [cookie.partition("=")[0] for cookie in cookies_of(response)] == ["__Host-GnomonFedCM"]
    assert "/static/signed_in." in page


@pytest.mark.parametrize(
    ("mode", "name", "path"),
    [
        (CookieMode.HOST, "__Host-GnomonFedCM", "/"),
        (CookieMode.SECURE, "__Secure-GnomonFedCM", "/auth"),
        (CookieMode.DANGER_INSECURE, "GnomonFedCM", "/auth"),
    ],
)
async def test_the_cookie_goes_along_from_other_sites_and_over_tls_alone(
    mode: CookieMode, name: str, path: str
) -> None:
    async with running(AccessConfig(cookie_mode=mode), has_fed_cm=True) as provider:
        provider.answers(get_session=session_of(SIGNED_IN))

        response = await provider.http.get(f"{BASE}/status")

    pair, *attributes = cookies_of(response)[0].split("; ")
    assert pair == f"{name}=s1.secret"
    assert set(attributes) == {"HttpOnly", "Secure", "SameSite=None", "Max-Age=600", f"Path={path}"}


async def test_whoever_has_not_signed_in_gets_no_way(provider: Provider) -> None:
    provider.answers(get_session=session_of(SessionCookie(value="c1", max_age=600)))

    response = await provider.http.get(f"{BASE}/status")

    assert (cookies_of(response), "Set-Login" in response.headers) == ([], False)


@pytest.mark.parametrize("has_fed_cm", [True, False])
async def test_a_sign_in_and_a_logout_tell_the_browser(*, has_fed_cm: bool) -> None:
    redirect = Redirect(uri="https://shop.example/cb")
    async with running(has_fed_cm=has_fed_cm) as provider:
        provider.answers(
            submit_credentials=SubmitCredentialsResponse(redirect=redirect, cookie=SIGNED_IN),
            confirm_logout=ConfirmLogoutResponse(signed_out=SignedOutPage(), cookie=SessionCookie(max_age=0)),
        )

        sign_in = await provider.http.post(
            "/auth/v1/oidc/authorize",
            json={"authorization_id": "r", "email": "a", "password": "p", "pow": "x"},
        )
        logout = await provider.http.post("/auth/v1/oidc/logout", data={"csrf_token": "proof"})

    names = ["__Host-GnomonFedCM", "__Host-GnomonSession"] if has_fed_cm else ["__Host-GnomonSession"]
    told = ["logged-in", "logged-out"] if has_fed_cm else [None, None]
    assert [response.headers.get("Set-Login") for response in (sign_in, logout)] == told
    assert [cookie.partition("=")[0] for cookie in cookies_of(sign_in)] == names
    assert [cookie.partition("=")[0] for cookie in cookies_of(logout)] == names
    assert all("Max-Age=0" in cookie for cookie in cookies_of(logout))


async def test_a_tenant_below_the_prefix_does_not_speak_for_the_host(provider: Provider) -> None:
    redirect = Redirect(uri="https://shop.example/cb")
    provider.answers(
        submit_credentials=SubmitCredentialsResponse(redirect=redirect, cookie=SIGNED_IN),
        get_session=NOBODY,
    )

    sign_in = await provider.http.post(
        "/auth/v1/acme/oidc/authorize",
        json={"authorization_id": "r", "email": "a", "password": "p", "pow": "x"},
    )
    info = await provider.http.get("/auth/v1/acme/oidc/sessioninfo")

    assert "__Host-GnomonFedCM.acme=s1.secret" in cookies_of(sign_in)[0]
    assert not {"Set-Login"} & {*sign_in.headers, *info.headers}


async def test_a_session_that_nobody_has_signed_in_to_tells_nothing(provider: Provider) -> None:
    provider.answers(
        begin_session=BeginSessionResponse(
            session=Session(id="s1"), cookie=SessionCookie(value="c1", max_age=600)
        )
    )

    response = await provider.http.post("/auth/v1/oidc/session")

    assert [cookie.partition("=")[0] for cookie in cookies_of(response)] == ["__Host-GnomonSession"]
    assert "Set-Login" not in response.headers
