"""FAPI-CIBA ID1: modules of the plan in poll and ping mode, with private_key_jwt and DPoP, and with mTLS.

Left out are the modules of national profiles, and the name of the module about certificates of notifications.
"""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from server.platform.mutual_tls import MutualTlsConfig
from tests.certification.test_fapi2 import HEADER, HERE, RSA, Client, signed
from tests.edge.oidc.tenants.test_backchannel_authentication import CIBA, decided
from tests.edge.oidc.tenants.world import EMAIL, World, world
from tests.identity.certificates import issue
from tests.waits import ticks, until

HOUR = 3600
TOKEN = "8d67dc78-7faa-4d41-aabd-67707b374255"
BAD_BINDING_MESSAGE = "1234 \N{THUMBS UP SIGN} \u202e" + "x" * 200


class Bank(Client):
    """A client of the profile: its requests to users are signed."""

    async def register(self, **more: object) -> None:
        asks = {"flows_enabled": [CIBA, "refresh_token"], "redirect_uris": []}
        await super().register(**{**asks, **more})

    def request_object(self, *, signer: Any = None, alg: str = "ES256", **claims: Any) -> str:
        default = {
            "iss": self.client_id,
            "aud": self.provider.issuer(),
            "iat": self.now,
            "nbf": self.now,
            "exp": self.now + 300,
            "jti": f"request-{next(NUMBERS)}",
            "scope": "openid email",
            "login_hint": EMAIL,
            "binding_message": "1234",
        }
        key = signer or (ECKey.import_key(self.certificate.key) if self.certificate else self.key)
        return signed(default | claims, key, alg=alg)

    async def ask(
        self,
        *,
        request: str = "",
        form: dict[str, str] | None = None,
        assertion: str | None = None,
        **claims: Any,
    ) -> tuple[int, Any]:
        sent = {"request": request or self.request_object(**claims)} if form is None else form
        return await self.send(
            "oidc/bc-authorize", {**sent, **self.authenticated(assertion)}, is_proved=False
        )

    async def started(self, **claims: Any) -> str:
        status, body = await self.ask(**claims)
        assert status == 200, body
        assert body["expires_in"] == 300
        return str(body["auth_req_id"])

    async def refusal(self, **arguments: Any) -> str:
        status, body = await self.ask(**arguments)
        assert status == 400, body
        return str(body["error"])

    async def poll(self, auth_req_id: str, *, assertion: str | None = None, **more: Any) -> tuple[int, Any]:
        form = {"grant_type": CIBA, "auth_req_id": auth_req_id}
        return await self.send("oidc/token", {**form, **self.authenticated(assertion)}, **more)

    async def decide(self, decision: str = "accept") -> None:
        await self.provider.person("", lambda person: decided(person, decision))

    async def tokens(self, **claims: Any) -> Any:
        auth_req_id = await self.started(**claims)
        await self.decide()
        status, body = await self.poll(auth_req_id)
        assert status == 200, body
        return body


NUMBERS = iter(range(1_000_000))


@pytest.fixture
async def running() -> AsyncIterator[World]:
    async with world(mutual_tls=MutualTlsConfig(header=HEADER, proxies=HERE)) as provider:
        await provider.add_user("default", "alice")
        yield provider


@pytest.fixture(params=["private_key_jwt and DPoP", "mTLS"])
async def client(request: pytest.FixtureRequest, running: World) -> Bank:
    certificate = issue("CN=fapi") if request.param == "mTLS" else None
    made = Bank(running, "fapi", certificate)
    await made.register()
    return made


@pytest.fixture
async def keyed(running: World) -> Bank:
    made = Bank(running, "fapi")
    await made.register()
    return made


async def test_fapi_ciba_id1_discovery_end_point_verification(running: World) -> None:
    answer = await running.administer(
        "PUT", "tenants/default/settings", json={"clients": {"security_profile": "fapi2"}}
    )
    assert answer.status == 200, await answer.text()

    metadata: dict[str, Any] = await running.metadata()

    assert metadata["backchannel_authentication_endpoint"].startswith(metadata["issuer"])
    assert metadata["backchannel_token_delivery_modes_supported"] == ["poll", "ping"]
    assert CIBA in metadata["grant_types_supported"]
    assert metadata["tls_client_certificate_bound_access_tokens"] is True
    assert set(metadata["backchannel_authentication_request_signing_alg_values_supported"]) == {
        "PS256",
        "ES256",
        "EdDSA",
    }


async def test_fapi_ciba_id1(client: Bank) -> None:
    auth_req_id = await client.started()
    pending = await client.poll(auth_req_id)

    await client.decide()
    status, tokens = await client.poll(auth_req_id)

    metadata: dict[str, Any] = await client.provider.metadata()
    keys = await (await client.provider.http.get(metadata["jwks_uri"])).json()
    claims = jwt.decode(tokens["id_token"], KeySet.import_key_set(keys), algorithms=["ES256"]).claims
    assert (pending[0], pending[1]["error"]) == (400, "authorization_pending")
    assert (status, tokens["scope"]) == (200, "openid email")
    assert (claims["iss"], claims["aud"], claims["sub"]) == (metadata["issuer"], "fapi", "alice")
    assert await client.user_info(tokens["access_token"]) == 200


async def test_fapi_ciba_id1_user_rejects_authentication(client: Bank) -> None:
    auth_req_id = await client.started()

    await client.decide("decline")

    status, body = await client.poll(auth_req_id)
    assert (status, body["error"]) == (400, "access_denied")


async def test_fapi_ciba_id1_multiple_call_to_token_endpoint(keyed: Bank) -> None:
    auth_req_id = await keyed.started()
    await keyed.decide()
    first = await keyed.poll(auth_req_id)

    status, body = await keyed.poll(auth_req_id)

    assert first[0] == 200
    assert (status, body["error"]) == (400, "invalid_grant")


async def test_fapi_ciba_id1_auth_req_id_expired(keyed: Bank) -> None:
    auth_req_id = (await keyed.ask(requested_expiry=30))[1]["auth_req_id"]
    keyed.provider.deployment.clock.advance(timedelta(seconds=30))

    status, body = await keyed.poll(auth_req_id)

    assert (status, body["error"]) == (400, "expired_token")


async def test_fapi_ciba_id1_refresh_token(client: Bank) -> None:
    tokens = await client.tokens()

    status, renewed = await client.refreshed(tokens["refresh_token"])

    assert status == 200, renewed
    assert await client.user_info(renewed["access_token"]) == 200


async def test_fapi_ciba_id1_ensure_other_scope_order_succeeds(keyed: Bank) -> None:
    assert set((await keyed.tokens(scope="email openid"))["scope"].split()) == {"openid", "email"}


async def test_fapi_ciba_id1_ensure_authorization_request_with_binding_message_succeeds(keyed: Bank) -> None:
    assert (await keyed.tokens(binding_message="9876"))["id_token"]


async def test_fapi_ciba_id1_ensure_authorization_request_with_potentially_bad_binding_message(
    keyed: Bank,
) -> None:
    assert await keyed.refusal(binding_message=BAD_BINDING_MESSAGE) == "invalid_binding_message"


async def test_a_client_of_the_profile_sends_a_binding_message(keyed: Bank) -> None:
    assert await keyed.refusal(binding_message=None) == "invalid_request"


async def test_fapi_ciba_id1_ensure_requested_expiry_as_string_succeeds(keyed: Bank) -> None:
    status, body = await keyed.ask(requested_expiry="30")

    assert (status, body["expires_in"]) == (200, 30)


async def test_fapi_ciba_id1_ensure_backchannel_authorization_request_without_request_fails(
    keyed: Bank,
) -> None:
    plain = {"scope": "openid", "login_hint": EMAIL, "binding_message": "1234"}

    assert await keyed.refusal(form=plain) == "invalid_request"


async def test_parameters_beside_a_signed_request_are_refused(keyed: Bank) -> None:
    form = {"request": keyed.request_object(), "scope": "openid"}

    assert await keyed.refusal(form=form) == "invalid_request"


async def test_a_signed_request_is_good_once(keyed: Bank) -> None:
    request = keyed.request_object()

    assert (await keyed.ask(request=request))[0] == 200
    assert await keyed.refusal(request=request) == "invalid_request"


async def test_an_assertion_is_no_request(keyed: Bank) -> None:
    assert await keyed.refusal(sub="fapi") == "invalid_request"


REFUSED: list[Any] = [
    pytest.param(
        {"id_token_hint": "x"}, id="fapi-ciba-id1-ensure-authorization-request-with-multiple-hints-fails"
    ),
    pytest.param(
        {"aud": "https://other.example.com/"}, id="fapi-ciba-id1-ensure-request-object-bad-aud-fails"
    ),
    pytest.param(
        {"iss": "https://other.example.com/"}, id="fapi-ciba-id1-ensure-request-object-bad-iss-fails"
    ),
    pytest.param(
        {"iss": "other"},
        id="fapi-ciba-id1-ensure-different-client-id-and-issuer-in-backchannel-authorization-request",
    ),
    pytest.param(
        {"exp": HOUR + 600}, id="fapi-ciba-id1-ensure-request-object-exp-is-70-minutes-in-future-fails"
    ),
    pytest.param({"exp": -60}, id="fapi-ciba-id1-ensure-request-object-expired-exp-fails"),
    pytest.param({"aud": None}, id="fapi-ciba-id1-ensure-request-object-missing-aud-fails"),
    pytest.param({"exp": None}, id="fapi-ciba-id1-ensure-request-object-missing-exp-fails"),
    pytest.param({"iat": None}, id="fapi-ciba-id1-ensure-request-object-missing-iat-fails"),
    pytest.param({"iss": None}, id="fapi-ciba-id1-ensure-request-object-missing-iss-fails"),
    pytest.param({"jti": None}, id="fapi-ciba-id1-ensure-request-object-missing-jti-fails"),
    pytest.param({"nbf": None}, id="fapi-ciba-id1-ensure-request-object-missing-nbf-fails"),
    pytest.param({"nbf": 600}, id="fapi-ciba-id1-ensure-request-object-nbf-is-10-minutes-in-future-fails"),
    pytest.param(
        {"nbf": -HOUR - 600, "exp": 60},
        id="fapi-ciba-id1-ensure-request-object-nbf-is-70-minutes-in-past-fails",
    ),
    pytest.param({"nbf": -1800, "exp": 1801}, id="both times are near and an hour lies between them"),
    pytest.param({"iat": 600}, id="issued in the future"),
    pytest.param(
        {"signer": RSA, "alg": "RS256"},
        id="fapi-ciba-id1-ensure-request-object-signature-algorithm-is-RS256-fails",
    ),
]


@pytest.mark.parametrize("changes", REFUSED)
async def test_a_request_object_that_does_not_hold_is_refused(keyed: Bank, changes: dict[str, Any]) -> None:
    shifted = {
        name: keyed.now + value if isinstance(value, int) else value for name, value in changes.items()
    }

    assert await keyed.refusal(**shifted) == "invalid_request"


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(
            "eyJhbGciOiJub25lIn0",
            id="fapi-ciba-id1-ensure-request-object-signature-algorithm-is-none-fails",
        ),
        pytest.param(
            "eyJhbGciOiJFUzI1NiJ9",
            id="fapi-ciba-id1-ensure-request-object-signature-algorithm-is-bad-fails",
        ),
    ],
)
async def test_a_request_object_without_a_good_signature_is_refused(keyed: Bank, head: str) -> None:
    signature = "" if head.endswith("In0") else "c2lnbmF0dXJl"
    unsigned = f"{head}.{keyed.request_object().split('.')[1]}.{signature}"

    assert await keyed.refusal(request=unsigned) == "invalid_request"


@pytest.fixture
async def other(running: World) -> Bank:
    made = Bank(running, "other")
    await made.register()
    return made


async def test_fapi_ciba_id1_ensure_request_object_signed_by_other_client_fails(
    keyed: Bank, other: Bank
) -> None:
    assert await keyed.refusal(signer=other.key) == "invalid_request"


async def test_fapi_ciba_id1_ensure_wrong_client_id_in_backchannel_authorization_request(
    keyed: Bank, other: Bank
) -> None:
    assert await other.refusal(request=keyed.request_object()) == "invalid_request"


async def test_fapi_ciba_id1_ensure_wrong_client_id_in_token_endpoint_request(
    keyed: Bank, other: Bank
) -> None:
    auth_req_id = await keyed.started()
    await keyed.decide()

    status, body = await other.poll(auth_req_id)

    assert (status, body["error"]) == (400, "invalid_grant")


async def test_fapi_ciba_id1_ensure_wrong_authentication_request_id_in_token_endpoint_request(
    keyed: Bank,
) -> None:
    status, body = await keyed.poll(f"{await keyed.started()}x")

    assert (status, body["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize(
    "certificate",
    [
        pytest.param(None, id="fapi-ciba-id1-ensure-mtls-holder-of-key-required"),
        pytest.param("CN=stranger", id="the certificate of somebody else"),
    ],
)
async def test_tokens_are_bound(running: World, certificate: str | None) -> None:
    holder = Bank(running, "holder", issue("CN=fapi"))
    await holder.register()
    auth_req_id = await holder.started()
    await holder.decide()
    status, tokens = await holder.poll(auth_req_id)

    stranger = issue(certificate) if certificate else None
    presented = {HEADER: f":{base64.b64encode(stranger.der).decode()}:"} if stranger else {}

    assert status == 200
    assert await holder.user_info(tokens["access_token"], headers=presented) == 401
    holder.certificate = None
    assert (await holder.poll(auth_req_id))[0] == 401


async def test_tokens_of_a_client_without_a_certificate_need_a_proof(keyed: Bank) -> None:
    auth_req_id = await keyed.started()
    await keyed.decide()

    assert (await keyed.poll(auth_req_id, is_proved=False))[0] == 400
    assert (await keyed.poll(auth_req_id))[1]["token_type"] == "DPoP"


async def test_fapi_ciba_id1_ensure_client_assertion_with_iss_aud_to_token_endpoint_succeeds(
    keyed: Bank,
) -> None:
    auth_req_id = await keyed.started()
    await keyed.decide()

    assert (await keyed.poll(auth_req_id, assertion=keyed.assertion(aud=keyed.provider.issuer())))[0] == 200


Step = Callable[[Bank, str | None], Awaitable[tuple[int, Any]]]


async def _asks(bank: Bank, assertion: str | None) -> tuple[int, Any]:
    return await bank.ask(assertion=assertion)


async def _polls(bank: Bank, assertion: str | None) -> tuple[int, Any]:
    return await bank.poll("x" * 64, assertion=assertion)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(
            _asks,
            id="fapi-ciba-id1-ensure-client-assertion-signature-algorithm-in-backchannel-authorization-request-is-RS256-fails",
        ),
        pytest.param(
            _polls,
            id="fapi-ciba-id1-ensure-client-assertion-signature-algorithm-in-token-endpoint-request-is-RS256-fails",
        ),
    ],
)
async def test_an_assertion_of_a_weak_algorithm_proves_nothing(keyed: Bank, step: Step) -> None:
    status, body = await step(keyed, keyed.assertion(key=RSA, alg="RS256"))

    assert (status, body["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    ("path", "form"),
    [
        pytest.param(
            "oidc/bc-authorize",
            {},
            id="fapi-ciba-id1-ensure-without-client-assertion-in-backchannel-authorization-request-fails",
        ),
        pytest.param(
            "oidc/token",
            {"grant_type": CIBA, "auth_req_id": "x" * 64},
            id="fapi-ciba-id1-ensure-without-client-assertion-in-token-endpoint-fails",
        ),
    ],
)
async def test_a_client_without_an_assertion_is_refused(keyed: Bank, path: str, form: dict[str, str]) -> None:
    sent = form or {"request": keyed.request_object()}

    status, body = await keyed.send(path, {**sent, "client_id": "fapi"})

    assert (status, body["error"]) == (401, "invalid_client")


@dataclass
class Endpoint:
    """The notification endpoint of a client, which answers with this status."""

    status: int = 204
    text: str = ""
    received: list[tuple[str, str, Any]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        self.received.append((request.path, request.headers["Authorization"], await request.json()))
        headers = {"Location": "/elsewhere"} if self.status in {301, 307} else {}
        return web.Response(status=self.status, text=self.text or None, headers=headers)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_post("/{path:.*}", self.take)
        async with TestServer(app) as server:
            yield str(server.make_url("/ping"))


async def test_ping_mode_notifies_the_client_which_then_gets_tokens(running: World) -> None:
    endpoint = Endpoint()
    async with endpoint.served() as address:
        bank = Bank(running, "fapi")
        await bank.register(
            backchannel_token_delivery_mode="ping", backchannel_client_notification_endpoint=address
        )
        auth_req_id = await bank.started(client_notification_token=TOKEN)
        await bank.decide()
        await until(lambda: endpoint.received)

    assert endpoint.received == [("/ping", f"Bearer {TOKEN}", {"auth_req_id": auth_req_id})]
    assert (await bank.poll(auth_req_id))[0] == 200


@pytest.mark.parametrize(
    ("status", "text"),
    [
        pytest.param(
            200, "a body", id="fapi-ciba-id1-ping-backchannel-notification-endpoint-response-has-body"
        ),
        pytest.param(401, "", id="fapi-ciba-id1-ping-backchannel-notification-endpoint-response-401"),
        pytest.param(403, "", id="fapi-ciba-id1-ping-backchannel-notification-endpoint-response-403"),
        pytest.param(
            307, "", id="fapi-ciba-id1-ping-backchannel-notification-endpoint-return-redirect-request"
        ),
    ],
)
async def test_a_response_of_the_endpoint_changes_nothing(running: World, status: int, text: str) -> None:
    """No redirect is followed, and no attempt repeated; the tokens wait at the token endpoint."""
    endpoint = Endpoint(status, text)
    async with endpoint.served() as address:
        bank = Bank(running, "fapi")
        await bank.register(
            backchannel_token_delivery_mode="ping", backchannel_client_notification_endpoint=address
        )
        auth_req_id = await bank.started(client_notification_token=TOKEN)
        await bank.decide()
        await until(lambda: endpoint.received)
        await ticks(50)

    assert [path for path, _, _ in endpoint.received] == ["/ping"]
    assert (await bank.poll(auth_req_id))[0] == 200


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"backchannel_token_delivery_mode": "ping"}, id="ping without an endpoint"),
        pytest.param({"backchannel_token_delivery_mode": "push"}, id="push"),
        pytest.param(
            {"backchannel_client_notification_endpoint": "http://10.0.0.1/ping"}, id="an internal address"
        ),
        pytest.param(
            {"backchannel_client_notification_endpoint": "https://10.0.0.1/ping"}, id="a private network"
        ),
        pytest.param({"backchannel_authentication_request_signing_alg": "none"}, id="no signature"),
        pytest.param({"backchannel_authentication_request_signing_alg": "RS256"}, id="a weak signature"),
    ],
)
async def test_metadata_that_no_client_of_the_profile_may_have_is_refused(
    running: World, change: dict[str, object]
) -> None:
    with pytest.raises(AssertionError, match="BadRequest"):
        await Bank(running, "fapi").register(**change)
