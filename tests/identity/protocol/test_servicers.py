"""The protocol over gRPC: every field of the messages is mapped."""

import json
from collections.abc import Mapping

import grpc
import pytest

from gnomon.identity.v1 import (
    browser_pb2,
    device_service_pb2,
    token_service_pb2,
    user_info_service_pb2,
)
from gnomon.identity.v1.device_service_pb2_grpc import DeviceServiceStub
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from gnomon.identity.v1.user_info_service_pb2_grpc import UserInfoServiceStub
from identity.access.rpc.admission import TenantAdmission
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.protocol.rpc.device import DeviceServicer
from identity.protocol.rpc.token import TokenServicer
from identity.protocol.rpc.user_info import UserInfoServicer
from server.platform.call import Call
from server.platform.channels import LocalChannel, error_of
from server.platform.dispatch import Dispatcher
from server.platform.errors import InvalidArgument, OAuthError
from server.platform.interceptors import interceptors
from server.platform.peer import LOCAL_EDGE
from server.platform.policy import Mode
from tests.identity.protocol.provider import ADA, REDIRECT_URI, SECRET, TENANTS, VERIFIER, Provider
from tests.identity.protocol.test_dpop import TOKEN_PATH, USER_INFO_PATH, ath, proof

AS_APP = token_service_pb2.ClientProof(
    client_id="app",
    client_secret=SECRET,
    method=token_service_pb2.CLIENT_AUTHENTICATION_SECRET_POST,
)
FORM: Mapping[str, object] = {
    "client_id": "app",
    "client_secret": SECRET,
    "client_authentication": token_service_pb2.CLIENT_AUTHENTICATION_SECRET_POST,
}


@pytest.fixture
def channel(provider: Provider) -> LocalChannel:
    admission = TenantAdmission(TENANTS)
    token = TokenServicer(
        TENANTS, provider.pipeline, introspection=provider.introspection, revocation=provider.revocation
    )
    user_info = UserInfoServicer(
        TENANTS, provider.user_info, forward=provider.forward, nonces=provider.nonces
    )
    device = DeviceServicer(admission, provider.devices, provider.verification)
    servicers = {
        token_service_pb2.DESCRIPTOR.services_by_name["TokenService"]: token,
        user_info_service_pb2.DESCRIPTOR.services_by_name["UserInfoService"]: user_info,
        device_service_pb2.DESCRIPTOR.services_by_name["DeviceService"]: device,
    }
    return LocalChannel(Dispatcher(servicers, interceptors(Mode.EMBEDDED, _admit)), peer=LOCAL_EDGE)


def _admit(_call: Call) -> None:
    """Admit every call."""


def dpop_of(path: str, method: str, **claims: object) -> token_service_pb2.DpopProof:
    shown = proof(path=path, method=method, **claims)
    return token_service_pb2.DpopProof(proof=shown.proof, http_method=method, path=path)


async def test_a_code_becomes_tokens_that_are_examined_and_taken_back(
    channel: LocalChannel, provider: Provider
) -> None:
    token = TokenServiceStub(channel)
    issued = await token.IssueToken(
        token_service_pb2.IssueTokenRequest(
            grant_type="authorization_code",
            code=await provider.code(),
            redirect_uri=REDIRECT_URI,
            code_verifier=VERIFIER,
            **FORM,
        )
    )
    examined = token_service_pb2.IntrospectTokenRequest(client=AS_APP, token=issued.access_token)
    before = json.loads((await token.IntrospectToken(examined)).document)
    await token.RevokeToken(token_service_pb2.RevokeTokenRequest(client=AS_APP, token=issued.refresh_token))
    after = json.loads((await token.IntrospectToken(examined)).document)

    assert (issued.token_type, issued.expires_in, issued.scope) == ("Bearer", 1800, "openid profile email")
    assert issued.HasField("id_token")
    assert not issued.HasField("dpop_nonce")
    assert (before["active"], before["sub"], after) == (True, ADA.id, {"active": False})


async def test_a_client_in_its_own_name_gets_neither_id_token_nor_refresh_token(
    channel: LocalChannel,
) -> None:
    request = token_service_pb2.IssueTokenRequest(grant_type="client_credentials", scope="job:work", **FORM)

    issued = await TokenServiceStub(channel).IssueToken(request)

    assert issued.scope == "job:work"
    assert not issued.HasField("id_token")
    assert not issued.HasField("refresh_token")


async def test_a_proof_travels_with_its_request(channel: LocalChannel, provider: Provider) -> None:
    code, nonce = await provider.code(), provider.nonces.current(TENANTS.default)
    issued = await TokenServiceStub(channel).IssueToken(
        token_service_pb2.IssueTokenRequest(
            grant_type="authorization_code",
            code=code,
            redirect_uri=REDIRECT_URI,
            code_verifier=VERIFIER,
            dpop=dpop_of(TOKEN_PATH, "POST", nonce=nonce),
            **FORM,
        )
    )
    htu = f"https://id.example.com{USER_INFO_PATH}"
    shown = dpop_of(
        USER_INFO_PATH, "GET", htm="GET", htu=htu, jti="2", nonce=nonce, ath=ath(issued.access_token)
    )
    presented = user_info_service_pb2.PresentedToken(
        access_token=issued.access_token, is_dpop=True, dpop=shown
    )
    found = await UserInfoServiceStub(channel).GetUserInfo(
        user_info_service_pb2.GetUserInfoRequest(token=presented)
    )

    assert (issued.token_type, issued.dpop_nonce, found.dpop_nonce) == ("DPoP", nonce, nonce)
    assert json.loads(found.claims)["sub"] == ADA.id


async def test_a_proof_without_a_nonce_is_sent_back_with_one(
    channel: LocalChannel, provider: Provider
) -> None:
    request = token_service_pb2.IssueTokenRequest(
        grant_type="client_credentials", dpop=dpop_of(TOKEN_PATH, "POST"), **FORM
    )

    with pytest.raises(grpc.RpcError) as failure:
        await TokenServiceStub(channel).IssueToken(request)

    refusal = error_of(failure.value)
    assert isinstance(refusal, OAuthError)
    assert refusal.error == "use_dpop_nonce"
    assert provider.nonces.current(TENANTS.default).encode() in refusal.status().SerializeToString()


async def test_a_document_that_is_signed_comes_as_a_jwt(channel: LocalChannel, provider: Provider) -> None:
    await provider.change_client(userinfo_signed_response_alg=SigningAlgorithm.ES256)
    presented = user_info_service_pb2.PresentedToken(access_token=(await provider.sign_in()).access_token)

    found = await UserInfoServiceStub(channel).GetUserInfo(
        user_info_service_pb2.GetUserInfoRequest(token=presented)
    )

    assert found.WhichOneof("document") == "jwt"
    assert (await provider.claims(found.jwt))["sub"] == ADA.id


async def test_an_access_token_lets_its_holder_examine_others(
    channel: LocalChannel, provider: Provider
) -> None:
    bearer = (await provider.ask("client_credentials")).access_token
    request = token_service_pb2.IntrospectTokenRequest(bearer=bearer, token=bearer)

    found = json.loads((await TokenServiceStub(channel).IntrospectToken(request)).document)

    assert (found["active"], found["client_id"]) == (True, "app")


async def test_a_proxy_is_told_who_calls(channel: LocalChannel, provider: Provider) -> None:
    token = (await provider.sign_in(oauth_scopes=("openid", "email", "groups", "profile"))).access_token
    presented = user_info_service_pb2.PresentedToken(access_token=token)

    caller = await UserInfoServiceStub(channel).AuthorizeForward(
        user_info_service_pb2.AuthorizeForwardRequest(token=presented)
    )

    assert (caller.user_id, list(caller.roles), list(caller.groups)) == (
        ADA.id,
        ["engineer"],
        ["analysts", "writers"],
    )
    assert (caller.email, caller.email_verified, caller.is_mfa) == ("ada@example.com", True, False)
    assert (caller.given_name, caller.family_name) == ("Ada", "Lovelace")


async def test_a_device_is_let_in(channel: LocalChannel, provider: Provider) -> None:
    device = DeviceServiceStub(channel)
    started = await device.StartDeviceAuthorization(
        device_service_pb2.StartDeviceAuthorizationRequest(
            client=AS_APP, scope="openid email", nonce="n1", peer_address="203.0.113.7"
        )
    )
    place = (await provider.question(started.user_code)).browser
    browser = browser_pb2.Browser(
        session=place.cookie, csrf_token=place.csrf_token, peer_address=place.peer_address
    )
    asked_for = await device.VerifyDevice(
        device_service_pb2.VerifyDeviceRequest(
            browser=browser,
            user_code=started.user_code,
            pow="done",
            decision=device_service_pb2.DEVICE_DECISION_ACCEPT,
        )
    )
    issued = await TokenServiceStub(channel).IssueToken(
        token_service_pb2.IssueTokenRequest(
            grant_type="urn:ietf:params:oauth:grant-type:device_code",
            device_code=started.device_code,
            **FORM,
        )
    )

    assert (started.expires_in, started.interval) == (300, 5)
    assert (asked_for.scopes, asked_for.client_id, asked_for.client_name) == (
        "openid email",
        "app",
        "The app",
    )
    assert (asked_for.peer_address, issued.scope) == ("203.0.113.7", "openid email")


async def test_a_decision_has_to_be_made(channel: LocalChannel) -> None:
    request = device_service_pb2.VerifyDeviceRequest(user_code="BBBB-BBBB")

    with pytest.raises(grpc.RpcError) as failure:
        await DeviceServiceStub(channel).VerifyDevice(request)

    assert isinstance(error_of(failure.value), InvalidArgument)


async def test_secrets_and_tokens_never_reach_the_log(
    channel: LocalChannel, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    code = await provider.code()
    request = token_service_pb2.IssueTokenRequest(
        grant_type="authorization_code", code=code, redirect_uri=REDIRECT_URI, code_verifier="w" * 43, **FORM
    )

    with pytest.raises(grpc.RpcError):
        await TokenServiceStub(channel).IssueToken(request)

    logged = json.dumps([vars(record) for record in caplog.records], default=str)
    assert "token refused" in logged
    assert not any(secret in logged for secret in (code, SECRET, "w" * 43))
