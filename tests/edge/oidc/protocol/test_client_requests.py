import base64
from typing import Any

import pytest

from gnomon.identity.v1 import authorization_service_pb2
from gnomon.identity.v1 import token_service_pb2 as pb
from server.platform.errors import OAuthError
from tests.edge.oidc.protocol.provider import FORM, Provider

TOKEN = "/auth/v1/oidc/token"
INTROSPECT = "/auth/v1/oidc/introspect"
REVOKE = "/auth/v1/oidc/token/revoke"
PAR = "/auth/v1/oidc/par"

JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
AS_SERVICE = {"Authorization": f"Basic {base64.b64encode(b'service:s3cret').decode()}"}
BY_ASSERTION = {"client_assertion": "a.b.c", "client_assertion_type": JWT_BEARER}
ISSUED = pb.IssueTokenResponse(access_token="at", token_type="Bearer", expires_in=60, scope="openid")


def use_dpop_nonce() -> OAuthError:
    error = OAuthError("use_dpop_nonce", "the proof needs a nonce of ours")
    error.metadata = {"nonce": "n1"}
    return error


async def test_every_parameter_of_every_grant_is_passed_on(provider: Provider) -> None:
    provider.answers(issue_token=ISSUED)

    form = {
        "grant_type": "authorization_code",
        "code": "c",
        "redirect_uri": "https://shop.example/cb",
        "code_verifier": "v",
        "refresh_token": "r",
        "device_code": "d",
        "subject_token": "s",
        "subject_token_type": "st",
        "actor_token": "a",
        "actor_token_type": "at",
        "requested_token_type": "rt",
        "client_id": "shop",
    }
    response = await provider.http.post(TOKEN, data=form)

    asked = provider.asked(pb.IssueTokenRequest)
    assert response.status == 200
    assert form == {name: getattr(asked, name) for name in form}
    assert asked.client_authentication == pb.CLIENT_AUTHENTICATION_NONE
    assert not asked.HasField("dpop")


async def test_what_was_not_issued_is_not_in_the_answer(provider: Provider) -> None:
    provider.answers(issue_token=ISSUED)

    issued = await (await provider.http.post(TOKEN, data={"grant_type": "x"})).json()

    assert issued == {"access_token": "at", "token_type": "Bearer", "expires_in": 60, "scope": "openid"}


async def test_a_proof_travels_with_what_it_is_for(provider: Provider) -> None:
    issued = pb.IssueTokenResponse(access_token="at", token_type="DPoP", dpop_nonce="n2")
    provider.answers(issue_token=issued)

    response = await provider.http.post(
        "/auth/v1/acme/oidc/token", data={"grant_type": "x"}, headers={"DPOP": "a.b.c"}
    )

    proof = provider.asked(pb.IssueTokenRequest).dpop
    assert (proof.proof, proof.http_method, proof.path) == ("a.b.c", "POST", "/auth/v1/acme/oidc/token")
    assert response.headers["DPoP-Nonce"] == "n2"
    assert "dpop_nonce" not in await response.json()


@pytest.mark.parametrize("path", [TOKEN, PAR])
async def test_two_proofs_are_refused(provider: Provider, path: str) -> None:
    response = await provider.http.post(
        path, data={"grant_type": "x"}, headers=[("DPoP", "a.b.c"), ("DPoP", "a.b.c")]
    )

    assert (response.status, (await response.json())["error"]) == (400, "invalid_dpop_proof")


async def test_a_proof_without_a_nonce_is_given_one(provider: Provider) -> None:
    provider.answers(issue_token=use_dpop_nonce())

    response = await provider.http.post(TOKEN, data={"grant_type": "x"}, headers={"DPoP": "a.b.c"})

    assert (response.status, (await response.json())["error"]) == (400, "use_dpop_nonce")
    assert response.headers["DPoP-Nonce"] == "n1"
    assert "DPoP-Nonce" in response.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize(
    ("path", "form", "client_of"),
    [
        (INTROSPECT, {"token": "t"}, pb.IntrospectTokenRequest),
        (REVOKE, {"token": "t"}, pb.RevokeTokenRequest),
        (PAR, {"scope": "openid"}, authorization_service_pb2.PushAuthorizationRequest),
    ],
)
@pytest.mark.parametrize(
    ("credentials", "headers", "proof"),
    [
        pytest.param(
            {},
            AS_SERVICE,
            pb.ClientProof(
                client_id="service", client_secret="s3cret", method=pb.CLIENT_AUTHENTICATION_SECRET_BASIC
            ),
            id="basic",
        ),
        pytest.param(
            {"client_id": "service", "client_secret": "s3cret"},
            {},
            pb.ClientProof(
                client_id="service", client_secret="s3cret", method=pb.CLIENT_AUTHENTICATION_SECRET_POST
            ),
            id="post",
        ),
        pytest.param(
            BY_ASSERTION,
            {},
            pb.ClientProof(client_assertion="a.b.c", method=pb.CLIENT_AUTHENTICATION_PRIVATE_KEY_JWT),
            id="assertion",
        ),
        pytest.param(
            {"client_id": "app"},
            {},
            pb.ClientProof(client_id="app", method=pb.CLIENT_AUTHENTICATION_NONE),
            id="public",
        ),
    ],
)
async def test_a_client_proves_itself_in_one_of_four_ways(
    provider: Provider,
    path: str,
    *,
    form: dict[str, str],
    client_of: type[Any],
    credentials: dict[str, str],
    headers: dict[str, str],
    proof: pb.ClientProof,
) -> None:
    response = await provider.http.post(path, data=form | credentials, headers=headers)

    assert response.ok
    assert proof == provider.asked(client_of).client


@pytest.mark.parametrize(
    ("status", "error", "form", "headers"),
    [
        pytest.param(400, "invalid_request", BY_ASSERTION, AS_SERVICE, id="assertion and Basic"),
        pytest.param(
            400, "invalid_request", BY_ASSERTION | {"client_secret": "x"}, {}, id="assertion and secret"
        ),
        pytest.param(401, "invalid_client", {"client_assertion": "a.b.c"}, {}, id="assertion of no type"),
        pytest.param(
            401,
            "invalid_client",
            {"client_assertion": "a.b.c", "client_assertion_type": "saml"},
            {},
            id="assertion of another type",
        ),
    ],
)
@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE, PAR])
async def test_an_ambiguous_client_is_refused(
    provider: Provider,
    path: str,
    *,
    status: int,
    error: str,
    form: dict[str, str],
    headers: dict[str, str],
) -> None:
    response = await provider.http.post(path, data={"token": "t", **form}, headers=headers)

    assert (response.status, (await response.json())["error"]) == (status, error)
    assert provider.servicers.requests == []


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE, PAR])
async def test_who_used_basic_in_vain_is_told_of_it(provider: Provider, path: str) -> None:
    refusal = OAuthError("invalid_client", "the client is unknown")
    provider.answers(
        issue_token=refusal, introspect_token=refusal, revoke_token=refusal, push_authorization=refusal
    )

    response = await provider.http.post(path, data={"token": "t"}, headers=AS_SERVICE)

    assert (response.status, (await response.json())["error"]) == (401, "invalid_client")
    assert response.headers["WWW-Authenticate"].startswith("Basic ")


async def test_introspection_answers_with_the_document_as_it_is(provider: Provider) -> None:
    provider.answers(introspect_token=pb.IntrospectTokenResponse(document=b'{"active":false}'))

    form = {"token": "t", "token_type_hint": "refresh_token"}
    response = await provider.http.post(INTROSPECT, data=form, headers=AS_SERVICE)

    asked = provider.asked(pb.IntrospectTokenRequest)
    assert (response.status, await response.json()) == (200, {"active": False})
    assert (asked.token, asked.token_type_hint, asked.bearer) == ("t", "refresh_token", "")


async def test_introspection_takes_an_access_token_of_the_caller(provider: Provider) -> None:
    provider.answers(introspect_token=pb.IntrospectTokenResponse(document=b"{}"))

    await provider.http.post(INTROSPECT, data={"token": "t"}, headers={"Authorization": "bearer mine"})

    asked = provider.asked(pb.IntrospectTokenRequest)
    assert (asked.bearer, asked.HasField("client")) == ("mine", False)


@pytest.mark.parametrize(
    ("accept", "is_signed"),
    [
        ("application/token-introspection+jwt", True),
        ("application/json;q=0.5, Application/Token-Introspection+JWT;q=0.9", True),
        ("application/token-introspection+jwt;q=0", False),
        ("application/token-introspection+jwt; q=0.000, application/json", False),
        ("application/jwt", False),
        ("*/*", False),
    ],
)
async def test_a_caller_that_accepts_it_by_name_gets_a_signed_response(
    provider: Provider,
    accept: str,
    is_signed: bool,  # noqa: FBT001
) -> None:
    answer = {"jwt": "a.b.c"} if is_signed else {"document": b"{}"}
    provider.answers(introspect_token=pb.IntrospectTokenResponse(**answer))  # type: ignore[arg-type]  # one of two members

    response = await provider.http.post(
        INTROSPECT, data={"token": "t"}, headers={**AS_SERVICE, "Accept": accept}
    )

    assert provider.asked(pb.IntrospectTokenRequest).wants_jwt is is_signed
    assert (response.content_type, await response.text()) == (
        ("application/token-introspection+jwt", "a.b.c") if is_signed else ("application/json", "{}")
    )


async def test_introspection_with_a_bad_token_of_the_caller_is_refused(provider: Provider) -> None:
    provider.answers(introspect_token=OAuthError("invalid_token", 'not "ours"'))

    response = await provider.http.post(
        INTROSPECT, data={"token": "t"}, headers={"Authorization": "Bearer mine"}
    )

    assert response.status == 401
    assert response.headers["WWW-Authenticate"] == (
        'Bearer error="invalid_token", error_description="not \'ours\'"'
    )


async def test_revocation_answers_with_nothing(provider: Provider) -> None:
    response = await provider.http.post(REVOKE, data={"token": "t", "client_id": "app"})

    assert (response.status, await response.read()) == (200, b"")


async def test_a_pushed_request_is_created_without_the_clients_secrets(provider: Provider) -> None:
    answer = authorization_service_pb2.PushAuthorizationResponse(request_uri="urn:x:1", expires_in=60)
    provider.answers(push_authorization=answer)

    form = {"client_id": "shop", "scope": "openid", "client_secret": "s3cret"}
    response = await provider.http.post(PAR, data=form)

    asked = provider.asked(authorization_service_pb2.PushAuthorizationRequest)
    assert (response.status, await response.json()) == (201, {"request_uri": "urn:x:1", "expires_in": 60})
    assert [(parameter.name, parameter.value) for parameter in asked.parameters] == [
        ("client_id", "shop"),
        ("scope", "openid"),
    ]


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE, PAR])
async def test_only_forms_are_read(provider: Provider, path: str) -> None:
    response = await provider.http.post(path, json={"token": "t"})
    wrong_method = await provider.http.get(path)
    repeated = await provider.http.post(path, data="a=1&a=2", headers={"Content-Type": FORM})

    assert [response.status, wrong_method.status, repeated.status] == [400, 405, 400]
    assert wrong_method.headers["Allow"] == "POST, OPTIONS"
