from urllib.parse import parse_qs, urlsplit

import pytest

from gnomon.identity.v1 import backchannel_authentication_service_pb2 as pb
from gnomon.identity.v1 import token_service_pb2 as tokens
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataResponse, ProviderMetadata
from server.platform.errors import (
    NotFound,
    OAuthError,
    PermissionDenied,
    ResourceExhausted,
    ServiceError,
    Unauthenticated,
)
from tests.edge.oidc.protocol.provider import Provider, hidden_fields, page_of

START = "/auth/v1/oidc/bc-authorize"
PAGE = "/auth/v1/sign-in-requests"

NOBODY = Unauthenticated("there is no session")
ISSUER = GetMetadataResponse(metadata=ProviderMetadata(issuer="https://id.example.com/auth/v1/acme/"))
REQUEST = pb.BackchannelRequest(
    id="r1",
    client_id="bank",
    client_name="The bank",
    binding_message="XQ-17",
    scopes=["openid", "email"],
    started_at=1893499200,
    expires_at=1893499500,
)
STRONGER = pb.RepeatedSignIn(acr_values=["phr", "urn:gnomon:acr:mfa"], max_age=60, is_possible=True)


def listed(*requests: pb.BackchannelRequest) -> pb.ListBackchannelRequestsResponse:
    return pb.ListBackchannelRequestsResponse(
        requests=requests, email="alice@example.com", user_language="en", csrf_token="proof"
    )


def with_repeated_sign_in(repeated: pb.RepeatedSignIn) -> pb.BackchannelRequest:
    request = pb.BackchannelRequest()
    request.CopyFrom(REQUEST)
    request.repeated_sign_in.CopyFrom(repeated)
    return request


async def test_a_client_asks_for_a_user(provider: Provider) -> None:
    started = pb.StartBackchannelAuthenticationResponse(auth_req_id="a" * 64, expires_in=300, interval=5)
    provider.answers(start_backchannel_authentication=started)
    form = {"client_id": "bank", "client_secret": "s", "scope": "openid", "login_hint": "alice@example.com"}

    response = await provider.http.post(START, data=form)

    asked = provider.asked(pb.StartBackchannelAuthenticationRequest)
    assert (response.status, response.headers["Cache-Control"]) == (200, "no-store")
    assert await response.json() == {"auth_req_id": "a" * 64, "expires_in": 300, "interval": 5}
    assert (asked.client.client_id, asked.client.method) == ("bank", tokens.CLIENT_AUTHENTICATION_SECRET_POST)
    assert {each.name: each.value for each in asked.parameters} == {
        "client_id": "bank",
        "scope": "openid",
        "login_hint": "alice@example.com",
    }


@pytest.mark.parametrize(
    ("refusal", "status", "error"),
    [
        (OAuthError("invalid_client", "no"), 401, "invalid_client"),
        (OAuthError("unknown_user_id", "no"), 400, "unknown_user_id"),
        (OAuthError("invalid_binding_message", "no"), 400, "invalid_binding_message"),
        (ResourceExhausted("too many", retry_after_secs="5"), 429, "TooManyRequests"),
    ],
)
async def test_a_client_that_may_not_ask_is_told_why(
    provider: Provider, refusal: ServiceError, status: int, error: str
) -> None:
    provider.answers(start_backchannel_authentication=refusal)

    response = await provider.http.post(START, data={"client_id": "bank", "client_secret": "s"})

    assert (response.status, (await response.json())["error"]) == (status, error)
    assert ("Retry-After" in response.headers) == (status == 429)


async def test_the_page_shows_who_asks_for_what(provider: Provider) -> None:
    provider.answers(list_backchannel_requests=listed(REQUEST))

    page = await page_of(await provider.http.get(PAGE))

    assert page.xpath("//h2/text()") == ["The bank"]
    assert page.xpath("//article//li/text()") == ["Know who you are", "See your email address"]
    assert page.xpath("//article//strong/text()") == ["XQ-17"]
    assert [button.text for button in page.xpath("//button")] == ["Approve", "Decline"]
    assert hidden_fields(page) == {"csrf_token": "proof", "request_id": "r1"}


async def test_what_a_client_chose_is_text(provider: Provider) -> None:
    request = pb.BackchannelRequest(
        id="r", client_id="c", client_name="<b>x</b>", binding_message="<script>1</script>"
    )
    provider.answers(list_backchannel_requests=listed(request))

    page = await page_of(await provider.http.get(PAGE))

    assert page.xpath("//h2/text()") == ["<b>x</b>"]
    assert page.xpath("//article//strong/text()") == ["<script>1</script>"]
    assert not page.xpath("//script")


async def test_the_page_without_requests_says_so(provider: Provider) -> None:
    provider.answers(list_backchannel_requests=listed())

    page = await page_of(await provider.http.get(PAGE))

    assert "No request waits for you." in page.text_content()
    assert page.xpath("//button") == []


async def test_whoever_is_not_signed_in_does_that_first(provider: Provider) -> None:
    provider.answers(list_backchannel_requests=NOBODY, get_metadata=ISSUER)

    response = await provider.http.get("/auth/v1/acme/sign-in-requests", allow_redirects=False)

    location = urlsplit(response.headers["Location"])
    parameters = parse_qs(location.query)
    assert (response.status, location.path) == (302, "/auth/v1/acme/oidc/authorize")
    assert parameters["redirect_uri"] == ["https://id.example.com/auth/v1/acme/sign-in-requests"]
    assert {"acr_values", "max_age"}.isdisjoint(parameters)


async def test_the_response_of_a_sign_in_leaves_the_address(provider: Provider) -> None:
    provider.answers(list_backchannel_requests=listed(REQUEST))

    response = await provider.http.get(PAGE, params={"code": "c", "iss": "x"}, allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (303, PAGE)


async def test_a_sign_in_that_led_to_no_session_does_not_begin_again(provider: Provider) -> None:
    provider.answers(list_backchannel_requests=NOBODY, get_metadata=ISSUER)

    response = await provider.http.get(PAGE, params={"error": "e", "iss": "x"}, allow_redirects=False)

    assert (response.status, response.content_type) == (401, "text/html")


async def test_a_request_that_needs_a_stronger_sign_in_leads_there(provider: Provider) -> None:
    provider.answers(list_backchannel_requests=listed(with_repeated_sign_in(STRONGER)), get_metadata=ISSUER)

    page = await page_of(await provider.http.get(PAGE))
    [link] = page.xpath("//article//a/@href")
    response = await provider.http.get(link, allow_redirects=False)

    assert [button.text for button in page.xpath("//button")] == ["Decline"]
    parameters = parse_qs(urlsplit(response.headers["Location"]).query)
    assert parameters["acr_values"] == ["phr urn:gnomon:acr:mfa"]
    assert parameters["max_age"] == ["60"]


async def test_a_user_without_the_factor_is_sent_to_the_account(provider: Provider) -> None:
    lacking = with_repeated_sign_in(pb.RepeatedSignIn(acr_values=["urn:gnomon:acr:mfa"]))
    provider.answers(list_backchannel_requests=listed(lacking), get_metadata=ISSUER)

    page = await page_of(await provider.http.get(PAGE, params={"confirm": "r1"}))

    assert page.xpath("//article//a/@href") == ["/auth/v1/account"]


@pytest.mark.parametrize(
    ("decision", "heading"), [("accept", "Request approved"), ("decline", "Request declined")]
)
async def test_a_decision_is_passed_on(provider: Provider, decision: str, heading: str) -> None:
    answered = pb.AnswerBackchannelRequestResponse(client_id="bank", client_name="The bank")
    provider.answers(answer_backchannel_request=answered)

    form = {"csrf_token": "proof", "request_id": "r1", "decision": decision}
    page = await page_of(await provider.http.post(PAGE, data=form))

    asked = provider.asked(pb.AnswerBackchannelRequestRequest)
    assert (asked.request_id, asked.is_accepted, asked.browser.csrf_token) == (
        "r1",
        decision == "accept",
        "proof",
    )
    assert page.xpath("//h1/text()") == [heading]
    assert "The bank" in page.text_content()


@pytest.mark.parametrize(
    ("refusal", "status"),
    [(NotFound("no such request"), 404), (PermissionDenied("sign in again"), 403), (NOBODY, 401)],
)
async def test_a_decision_that_is_refused_is_explained_by_a_page(
    provider: Provider, refusal: ServiceError, status: int
) -> None:
    provider.answers(answer_backchannel_request=refusal)

    response = await provider.http.post(PAGE, data={"request_id": "r1", "decision": "accept"})

    assert (response.status, response.content_type) == (status, "text/html")


async def test_a_decision_that_cannot_be_is_refused(provider: Provider) -> None:
    response = await provider.http.post(PAGE, data={"request_id": "r1", "decision": "maybe"})

    assert response.status == 400
    assert not [
        each for each in provider.servicers.requests if isinstance(each, pb.AnswerBackchannelRequestRequest)
    ]


async def test_a_page_of_another_site_decides_nothing(provider: Provider) -> None:
    form = {"csrf_token": "proof", "request_id": "r1", "decision": "accept"}

    response = await provider.http.post(PAGE, data=form, headers={"Sec-Fetch-Site": "cross-site"})

    assert response.status == 400
    assert provider.servicers.requests == []
