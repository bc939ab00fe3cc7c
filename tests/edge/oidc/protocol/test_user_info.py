import pytest

from gnomon.identity.v1 import user_info_service_pb2 as pb
from server.platform.errors import InvalidArgument, OAuthError, ServiceError, Unavailable
from tests.edge.oidc.protocol.provider import Provider

USER_INFO = "/auth/v1/oidc/userinfo"
FORWARD = "/auth/v1/oidc/forward_auth"

CLAIMS = pb.GetUserInfoResponse(claims=b'{"sub":"ada"}')
MINE = {"Authorization": "Bearer mine"}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(("scheme", "is_dpop"), [("Bearer", False), ("bearer", False), ("DPoP", True)])
async def test_the_claims_are_answered_as_they_are(
    provider: Provider, method: str, scheme: str, *, is_dpop: bool
) -> None:
    provider.answers(get_user_info=CLAIMS)

    response = await provider.http.request(
        method, USER_INFO, headers={"Authorization": f"{scheme} mine", "DPoP": "a.b.c"}
    )

    token = provider.asked(pb.GetUserInfoRequest).token
    assert (response.status, await response.json()) == (200, {"sub": "ada"})
    assert (token.access_token, token.is_dpop) == ("mine", is_dpop)
    assert (token.dpop.proof, token.dpop.http_method, token.dpop.path) == ("a.b.c", method, USER_INFO)


async def test_signed_claims_are_a_jwt(provider: Provider) -> None:
    provider.answers(get_user_info=pb.GetUserInfoResponse(jwt="a.b.c", dpop_nonce="n1"))

    response = await provider.http.get(USER_INFO, headers=MINE)

    assert (response.content_type, await response.text()) == ("application/jwt", "a.b.c")
    assert response.headers["DPoP-Nonce"] == "n1"


async def test_the_token_may_stand_in_the_form(provider: Provider) -> None:
    provider.answers(get_user_info=CLAIMS)

    response = await provider.http.post(USER_INFO, data={"access_token": "mine"})

    assert (response.status, provider.asked(pb.GetUserInfoRequest).token.access_token) == (200, "mine")


async def test_the_token_stands_in_one_place(provider: Provider) -> None:
    response = await provider.http.post(USER_INFO, data={"access_token": "mine"}, headers=MINE)

    assert (response.status, (await response.json())["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("path", [USER_INFO, FORWARD])
@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {}),
        ("?access_token=mine", {}),
        ("", {"Authorization": "Basic x"}),
        ("", {"Authorization": "Bearer"}),
    ],
)
async def test_without_a_token_one_is_told_how_to_show_it(
    provider: Provider, path: str, query: str, headers: dict[str, str]
) -> None:
    response = await provider.http.get(f"{path}{query}", headers=headers)

    assert response.status == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer, DPoP algs=")
    assert provider.servicers.requests == []


@pytest.mark.parametrize("path", [USER_INFO, FORWARD])
@pytest.mark.parametrize(
    ("refusal", "scheme", "status", "challenge"),
    [
        (OAuthError("invalid_token", "expired"), "Bearer", 401, 'Bearer error="invalid_token"'),
        (OAuthError("insufficient_scope", "openid"), "Bearer", 403, 'Bearer error="insufficient_scope"'),
        (OAuthError("invalid_token", "expired"), "DPoP", 401, 'DPoP error="invalid_token"'),
        (OAuthError("invalid_dpop_proof", "late"), "DPoP", 401, 'DPoP error="invalid_dpop_proof"'),
        (OAuthError("use_dpop_nonce", "none"), "Bearer", 401, 'DPoP error="use_dpop_nonce"'),
        (InvalidArgument("too long"), "Bearer", 400, 'Bearer error="invalid_request"'),
    ],
)
async def test_a_refusal_names_its_reason_in_the_challenge(
    provider: Provider, path: str, *, refusal: ServiceError, scheme: str, status: int, challenge: str
) -> None:
    provider.answers(get_user_info=refusal, authorize_forward=refusal)

    response = await provider.http.get(path, headers={"Authorization": f"{scheme} mine"})

    assert response.status == status
    assert response.headers["WWW-Authenticate"].startswith(challenge)
    assert (await response.json())["error_description"] == str(refusal)


async def test_a_service_that_is_away_is_no_reason_to_drop_the_token(provider: Provider) -> None:
    provider.answers(get_user_info=Unavailable("not now"))

    response = await provider.http.get(USER_INFO, headers=MINE)

    assert (response.status, "WWW-Authenticate" in response.headers) == (503, False)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_proxy_is_told_who_calls(provider: Provider, method: str) -> None:
    caller = pb.AuthorizeForwardResponse(
        user_id="ada",
        roles=["admin", "a,b"],
        groups=["100%"],
        email="ada@example.com",
        email_verified=True,
        family_name="Lovelace\r\nX: y",
        given_name="Ada Мария",
    )
    provider.answers(authorize_forward=caller)

    response = await provider.http.request(method, FORWARD, headers=MINE)

    told = {name.lower(): value for name, value in response.headers.items() if name.lower().startswith("x-f")}
    told.pop("x-frame-options")
    assert (response.status, await response.read()) == (200, b"")
    assert told == {
        "x-forwarded-user": "ada",
        "x-forwarded-user-roles": "admin,a%2Cb",
        "x-forwarded-user-groups": "100%25",
        "x-forwarded-user-email": "ada@example.com",
        "x-forwarded-user-email-verified": "true",
        "x-forwarded-user-family-name": "Lovelace%0D%0AX: y",
        "x-forwarded-user-given-name": "Ada %D0%9C%D0%B0%D1%80%D0%B8%D1%8F",
        "x-forwarded-user-mfa": "false",
    }
