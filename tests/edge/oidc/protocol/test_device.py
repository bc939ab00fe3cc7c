from urllib.parse import parse_qs, urlsplit

import pytest

from gnomon.identity.v1 import device_service_pb2 as pb
from gnomon.identity.v1 import token_service_pb2 as tokens
from gnomon.identity.v1.authorization_details_pb2 import AuthorizationDetail, AuthorizationDetailRow
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataResponse, ProviderMetadata
from gnomon.identity.v1.session_service_pb2 import GetSessionResponse, Session
from server.platform.errors import NotFound, OAuthError, ResourceExhausted, ServiceError, Unauthenticated
from tests.edge.oidc.protocol.provider import Provider, page_of

START = "/auth/v1/oidc/device"
PAGE = "/auth/v1/device"
VERIFY = "/auth/v1/oidc/device/verify"

STARTED = pb.StartDeviceAuthorizationResponse(
    device_code="d" * 64,
    user_code="BCDF-GHJK",
    verification_uri="https://id.example.com/auth/v1/device",
    verification_uri_complete="https://id.example.com/auth/v1/device?code=BCDF-GHJK",
    expires_in=300,
    interval=5,
)
SIGNED_IN = GetSessionResponse(session=Session(id="s1", csrf_token="proof"))
NOBODY = Unauthenticated("there is no session")
ISSUER = GetMetadataResponse(metadata=ProviderMetadata(issuer="https://id.example.com/auth/v1/acme/"))


async def test_a_device_starts(provider: Provider) -> None:
    provider.answers(start_device_authorization=STARTED)

    response = await provider.http.post(START, data={"client_id": "tv", "scope": "openid", "nonce": "n"})

    asked = provider.asked(pb.StartDeviceAuthorizationRequest)
    assert (response.status, response.headers["Cache-Control"]) == (200, "no-store")
    assert await response.json() == {
        "device_code": "d" * 64,
        "user_code": "BCDF-GHJK",
        "verification_uri": "https://id.example.com/auth/v1/device",
        "verification_uri_complete": "https://id.example.com/auth/v1/device?code=BCDF-GHJK",
        "expires_in": 300,
        "interval": 5,
    }
    assert (asked.scope, asked.nonce, asked.peer_address) == ("openid", "n", "127.0.0.1")
    assert (asked.client.client_id, asked.client.method) == ("tv", tokens.CLIENT_AUTHENTICATION_NONE)


@pytest.mark.parametrize(
    ("refusal", "status", "error"),
    [
        (OAuthError("invalid_client", "no"), 401, "invalid_client"),
        (OAuthError("unauthorized_client", "no"), 400, "unauthorized_client"),
        (ResourceExhausted("too often", retry_after_secs="5"), 429, "TooManyRequests"),
    ],
)
async def test_a_device_that_may_not_start_is_told_why(
    provider: Provider, refusal: ServiceError, status: int, error: str
) -> None:
    provider.answers(start_device_authorization=refusal)

    response = await provider.http.post(START, data={"client_id": "tv"})

    assert (response.status, (await response.json())["error"]) == (status, error)
    assert ("Retry-After" in response.headers) == (status == 429)


async def test_the_page_has_the_code_of_its_address(provider: Provider) -> None:
    provider.answers(get_session=SIGNED_IN)

    response = await provider.http.get(PAGE, params={"code": "BCDF-GHJK"})

    page = await page_of(response)
    assert page.xpath("//input[@name='user_code']/@value") == ["BCDF-GHJK"]
    assert page.xpath("//label/@for") == ["user-code"]
    assert [button.text for button in page.xpath("//section[@hidden]//button")] == ["Accept", "Decline"]


async def test_who_is_not_signed_in_does_that_first_and_comes_back_with_the_code(provider: Provider) -> None:
    provider.answers(get_session=NOBODY, get_metadata=ISSUER)

    response = await provider.http.get(
        "/auth/v1/acme/device", params={"code": "BCDF-GHJK"}, allow_redirects=False
    )

    location = urlsplit(response.headers["Location"])
    parameters = {name: values[0] for name, values in parse_qs(location.query).items()}
    assert (response.status, location.netloc, location.path) == (302, "", "/auth/v1/acme/oidc/authorize")
    assert len(parameters.pop("code_challenge")) == 43
    assert parameters == {
        "client_id": "gnomon-pages",
        "response_type": "code",
        "redirect_uri": "https://id.example.com/auth/v1/acme/device",
        "scope": "openid",
        "state": "BCDF-GHJK",
        "code_challenge_method": "S256",
    }


async def test_behind_the_sign_in_the_code_is_in_the_state(provider: Provider) -> None:
    provider.answers(get_session=SIGNED_IN)

    sent_back = {"code": "of-the-authorization", "state": "BCDF-GHJK", "iss": "https://id.example.com"}
    page = await page_of(await provider.http.get(PAGE, params=sent_back))

    assert page.xpath("//input[@name='user_code']/@value") == ["BCDF-GHJK"]


async def test_a_sign_in_that_led_to_no_session_does_not_begin_again(provider: Provider) -> None:
    provider.answers(get_session=NOBODY, get_metadata=ISSUER)

    response = await provider.http.get(
        PAGE, params={"error": "access_denied", "iss": "x"}, allow_redirects=False
    )

    assert (response.status, response.content_type) == (401, "text/html")


@pytest.mark.parametrize(
    ("decision", "sent", "status"),
    [
        ("accept", pb.DEVICE_DECISION_ACCEPT, 202),
        ("decline", pb.DEVICE_DECISION_DECLINE, 204),
        ("pending", pb.DEVICE_DECISION_PENDING, 200),
    ],
)
async def test_a_decision_is_passed_on(
    provider: Provider, decision: str, sent: pb.DeviceDecision.ValueType, status: int
) -> None:
    provider.answers(verify_device=pb.VerifyDeviceResponse())

    body = {"user_code": "BCDF-GHJK", "pow": "1:10:x:1", "device_accepted": decision}
    response = await provider.http.post(VERIFY, json=body, headers={"x-csrf-token": "proof"})

    asked = provider.asked(pb.VerifyDeviceRequest)
    assert response.status == status
    assert (asked.decision, asked.user_code, asked.pow) == (sent, "BCDF-GHJK", "1:10:x:1")
    assert asked.browser.csrf_token == "proof"


async def test_a_person_sees_what_asks_and_from_where(provider: Provider) -> None:
    found = pb.VerifyDeviceResponse(
        scopes="openid email",
        client_id="tv",
        client_name="TV",
        peer_address="192.0.2.7",
        started_at=7,
        authorization_details=[
            AuthorizationDetail(
                detail=b'{"type":"watch"}',
                title="Watch",
                rows=[AuthorizationDetailRow(label="Live", values=["true"], is_boolean=True)],
            )
        ],
    )
    provider.answers(verify_device=found)

    response = await provider.http.post(
        VERIFY, json={"user_code": "BCDFGHJK", "pow": "x", "device_accepted": "pending"}
    )

    assert await response.json() == {
        "scopes": "openid email",
        "client_id": "tv",
        "client_name": "TV",
        "ip": "192.0.2.7",
        "started_at": 7,
        "authorization_details": [
            {
                "detail": {"type": "watch"},
                "title": "Watch",
                "description": "",
                "rows": [{"label": "Live", "values": ["true"], "is_boolean": True}],
            }
        ],
    }


@pytest.mark.parametrize(
    ("body", "refusal", "status"),
    [
        ({"user_code": "X", "pow": "x", "device_accepted": "maybe"}, None, 400),
        ({"user_code": "X", "pow": "x"}, None, 400),
        ({"user_code": "X", "pow": "x", "device_accepted": "accept"}, NotFound("no such code"), 404),
        ({"user_code": "X", "pow": "x", "device_accepted": "accept"}, NOBODY, 401),
    ],
)
async def test_a_decision_that_cannot_be_is_refused(
    provider: Provider, body: dict[str, str], refusal: ServiceError | None, status: int
) -> None:
    provider.answers(**({"verify_device": refusal} if refusal else {}))

    response = await provider.http.post(VERIFY, json=body)

    assert response.status == status
