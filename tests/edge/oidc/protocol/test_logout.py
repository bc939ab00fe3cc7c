import pytest

from gnomon.identity.v1 import logout_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import ErrorPage, Parameter, Redirect, SessionCookie
from server.platform.errors import OAuthError, Unauthenticated
from tests.edge.oidc.protocol.provider import Provider, directives, hidden_fields, page_of

LOGOUT = "/auth/v1/oidc/logout"

TAKEN_BACK = SessionCookie(value="", max_age=0)
HOME = Redirect(uri="https://shop.example/bye", parameters=[Parameter(name="state", value="a b")])
QUESTION = pb.LogoutPage(
    client_id="shop",
    client_name="Shop",
    logout_id="l1",
    csrf_token="proof",
    redirect_origin="https://shop.example",
)


async def test_a_person_is_asked_first(provider: Provider) -> None:
    provider.answers(begin_logout=pb.BeginLogoutResponse(page=QUESTION))

    response = await provider.http.get(f"{LOGOUT}?client_id=shop&state=x")

    page = await page_of(response)
    asked = provider.asked(pb.BeginLogoutRequest)
    assert [(parameter.name, parameter.value) for parameter in asked.parameters] == [
        ("client_id", "shop"),
        ("state", "x"),
    ]
    assert page.xpath("//form/@action") == [LOGOUT]
    assert hidden_fields(page) == {"csrf_token": "proof", "logout_id": "l1"}
    assert page.xpath("//script") == []
    assert directives(response)["form-action"] == "'self' https://shop.example"


async def test_a_hint_that_fits_leads_back_at_once(provider: Provider) -> None:
    provider.answers(begin_logout=pb.BeginLogoutResponse(redirect=HOME, cookie=TAKEN_BACK))

    response = await provider.http.get(f"{LOGOUT}?id_token_hint=x", allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (302, "https://shop.example/bye?state=a%20b")
    assert response.headers["Set-Cookie"].startswith('__Host-GnomonSession="";')
    assert "Max-Age=0" in response.headers["Set-Cookie"]


async def test_nobody_signed_in_is_a_page(provider: Provider) -> None:
    provider.answers(begin_logout=pb.BeginLogoutResponse(signed_out=pb.SignedOutPage()))

    response = await provider.http.get(LOGOUT)

    assert (response.status, (await page_of(response)).xpath("string(//h1)")) == (200, "You are signed out")


async def test_a_wrong_request_is_a_page_and_leads_nowhere(provider: Provider) -> None:
    error = ErrorPage(status=400, error="invalid_request", description="the hint is not ours")
    provider.answers(begin_logout=pb.BeginLogoutResponse(error=error))

    response = await provider.http.get(LOGOUT, allow_redirects=False)

    assert (response.status, response.content_type) == (400, "text/html")


async def test_a_hint_may_be_posted(provider: Provider) -> None:
    provider.answers(begin_logout=pb.BeginLogoutResponse(redirect=HOME, cookie=TAKEN_BACK))

    form = {"id_token_hint": "x", "csrf_token": "proof"}
    response = await provider.http.post(LOGOUT, data=form, allow_redirects=False)

    asked = provider.asked(pb.BeginLogoutRequest)
    assert response.status == 303
    assert {parameter.name for parameter in asked.parameters} >= {"id_token_hint"}


async def test_the_confirmation_ends_the_session(provider: Provider) -> None:
    provider.answers(confirm_logout=pb.ConfirmLogoutResponse(redirect=HOME, cookie=TAKEN_BACK))

    response = await provider.http.post(
        LOGOUT, data={"csrf_token": "proof", "logout_id": "l1"}, allow_redirects=False
    )

    asked = provider.asked(pb.ConfirmLogoutRequest)
    assert (response.status, response.headers["Location"]) == (303, "https://shop.example/bye?state=a%20b")
    assert "Max-Age=0" in response.headers["Set-Cookie"]
    assert (asked.logout_id, asked.browser.csrf_token, len(asked.parameters)) == ("l1", "proof", 0)


async def test_a_confirmation_without_a_page_describes_the_request(provider: Provider) -> None:
    signed_out = pb.ConfirmLogoutResponse(signed_out=pb.SignedOutPage(), cookie=TAKEN_BACK)
    provider.answers(confirm_logout=signed_out)

    response = await provider.http.post(LOGOUT, data={"client_id": "shop"}, headers={"x-csrf-token": "proof"})

    asked = provider.asked(pb.ConfirmLogoutRequest)
    assert (response.status, asked.browser.csrf_token) == (200, "proof")
    assert [(parameter.name, parameter.value) for parameter in asked.parameters] == [("client_id", "shop")]


async def test_whose_page_was_not_ours_is_asked_again(provider: Provider) -> None:
    provider.answers(
        begin_logout=pb.BeginLogoutResponse(page=QUESTION),
        confirm_logout=Unauthenticated("the page was not ours"),
    )

    response = await provider.http.post(LOGOUT, data={"csrf_token": "wrong", "client_id": "shop"})

    asked = provider.asked(pb.BeginLogoutRequest)
    assert [(parameter.name, parameter.value) for parameter in asked.parameters] == [("client_id", "shop")]
    assert (await page_of(response)).xpath("string(//h1)") == "Sign out?"
    assert "Set-Cookie" not in response.headers


async def test_a_script_whose_page_was_not_ours_confirms_nothing(provider: Provider) -> None:
    provider.answers(confirm_logout=Unauthenticated("the page was not ours"))

    response = await provider.http.post(LOGOUT, data={"client_id": "shop"}, headers={"x-csrf-token": "wrong"})

    assert (response.status, response.content_type) == (401, "text/html")


async def test_a_provider_is_told_that_its_token_was_taken(provider: Provider) -> None:
    provider.answers(receive_logout_token=pb.ReceiveLogoutTokenResponse())

    response = await provider.http.post(LOGOUT, data={"logout_token": "x"})

    assert (response.status, response.headers["Cache-Control"]) == (200, "no-store")
    assert await response.read() == b""
    assert provider.asked(pb.ReceiveLogoutTokenRequest).logout_token == "x"


async def test_a_provider_is_told_that_its_token_was_not_taken(provider: Provider) -> None:
    provider.answers(receive_logout_token=OAuthError("invalid_request", "the logout token is invalid"))

    response = await provider.http.post(LOGOUT, data={"logout_token": "x"})

    assert (response.status, (await response.json())["error"]) == (400, "invalid_request")
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("also", [{"id_token_hint": "h"}, {"csrf_token": "proof"}])
async def test_a_hint_and_a_page_come_before_a_logout_token(provider: Provider, also: dict[str, str]) -> None:
    provider.answers(
        begin_logout=pb.BeginLogoutResponse(signed_out=pb.SignedOutPage()),
        confirm_logout=pb.ConfirmLogoutResponse(signed_out=pb.SignedOutPage()),
    )

    response = await provider.http.post(LOGOUT, data={"logout_token": "x", **also})

    assert (response.status, response.content_type) == (200, "text/html")


CROSS_SITE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
REQUEST = {
    "id_token_hint": "h",
    "post_logout_redirect_uri": "https://shop.example/bye",
    "state": 'a "b"',
    "surprise": "x",
}


@pytest.mark.parametrize("headers", [CROSS_SITE, {}], ids=["another site", "nobody says"])
@pytest.mark.parametrize("path", [LOGOUT, "/auth/v1/acme/oidc/logout"])
async def test_what_another_site_posts_is_posted_again_by_a_page_of_ours(
    provider: Provider, headers: dict[str, str], path: str
) -> None:
    response = await provider.http.post(path, data=REQUEST, headers=headers, allow_redirects=False)

    page = await page_of(response)
    again = {name: value for name, value in REQUEST.items() if name != "surprise"}
    assert (response.status, page.xpath("//form/@action"), page.xpath("//form/@method")) == (
        *(200, [path]),
        ["post"],
    )
    assert hidden_fields(page) == again | {"posted_again": "yes"}
    assert directives(response)["form-action"] == "'self' https://shop.example"
    assert provider.servicers.requests == []


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({"posted_again": "yes"}, {}),
        ({"posted_again": "yes"}, {"Sec-Fetch-Site": "same-origin"}),
        ({}, {"Sec-Fetch-Site": "same-origin"}),
        ({}, {"Sec-Fetch-Site": "same-site"}),
        ({}, CROSS_SITE | {"Cookie": "__Host-GnomonSession=s3cret"}),
    ],
    ids=["posted again", "by our page", "our page", "a site of ours", "a cookie"],
)
async def test_it_is_posted_again_once_and_where_a_cookie_may_lack_alone(
    provider: Provider, fields: dict[str, str], headers: dict[str, str]
) -> None:
    provider.answers(begin_logout=pb.BeginLogoutResponse(redirect=HOME, cookie=TAKEN_BACK))

    response = await provider.http.post(LOGOUT, data=REQUEST | fields, headers=headers, allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (303, "https://shop.example/bye?state=a%20b")


@pytest.mark.parametrize("uri", ["https://[", "https://me@shop.example/", "x y", "https://a.example;b"])
async def test_an_address_that_is_none_opens_no_policy(provider: Provider, uri: str) -> None:
    response = await provider.http.post(LOGOUT, data={"post_logout_redirect_uri": uri}, headers=CROSS_SITE)

    assert (response.status, directives(response)["form-action"]) == (200, "'self'")


LOADED_FIRST = pb.FrontChannelLogout(
    uris=["https://shop.example/front?iss=i&sid=s", "https://shop.example/two", "https://bank.example:8443/f"]
)


async def test_frames_of_relying_parties_come_before_the_way_back(provider: Provider) -> None:
    begun = pb.BeginLogoutResponse(redirect=HOME, cookie=TAKEN_BACK, front_channel=LOADED_FIRST)
    provider.answers(begin_logout=begun)

    response = await provider.http.get(f"{LOGOUT}?id_token_hint=x", allow_redirects=False)

    page = await page_of(response)
    assert response.status == 200
    assert "Max-Age=0" in response.headers["Set-Cookie"]
    assert page.xpath("//iframe/@src") == list(LOADED_FIRST.uris)
    assert set(page.xpath("//iframe/@sandbox")) == {"allow-scripts allow-same-origin"}
    assert page.xpath("//a/@href") == ["https://shop.example/bye?state=a%20b"]


async def test_frames_load_origins_of_these_relying_parties_only(provider: Provider) -> None:
    begun = pb.BeginLogoutResponse(signed_out=pb.SignedOutPage(), front_channel=LOADED_FIRST)
    provider.answers(begin_logout=begun)

    response = await provider.http.get(LOGOUT)

    policy = directives(response)
    assert policy["frame-src"] == "https://bank.example:8443 https://shop.example"
    assert (policy["default-src"], policy["frame-ancestors"]) == ("'none'", "'none'")
    assert (await page_of(response)).xpath("//script") == []


async def test_a_script_that_confirms_gets_the_way_back(provider: Provider) -> None:
    confirmed = pb.ConfirmLogoutResponse(redirect=HOME, cookie=TAKEN_BACK, front_channel=LOADED_FIRST)
    provider.answers(confirm_logout=confirmed)

    response = await provider.http.post(
        LOGOUT, data={"client_id": "shop"}, headers={"x-csrf-token": "proof"}, allow_redirects=False
    )

    assert (response.status, response.headers["Location"]) == (303, "https://shop.example/bye?state=a%20b")
