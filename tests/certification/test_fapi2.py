"""FAPI 2.0 Security Profile: modules of the plan with private_key_jwt and DPoP, and with mTLS, as black-box tests.

Left out are the modules of national profiles.
"""

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from joserfc import jws
from joserfc.jwk import ECKey, Key, RSAKey

from identity.crypto.signed_jwt import ForeignSignatures
from server.platform.mutual_tls import MutualTlsConfig, thumbprint_of
from tests.edge.oidc.tenants.world import CALLBACK, CHALLENGE, VERIFIER, World, world
from tests.identity.certificates import Issued, issue
from tests.people.person import Arrival, Page, Person

HERE = ("127.0.0.0/8", "::1/128")
HEADER = "Client-Cert"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
RSA = RSAKey.generate_key(2048)


def signed(claims: Mapping[str, Any], key: Key, *, alg: str = "ES256", **header: Any) -> str:
    registry = ForeignSignatures(algorithms=[alg], strict_check_header=False)
    written = {name: value for name, value in claims.items() if value is not None}
    return jws.serialize_compact({"alg": alg, **header}, msgspec.json.encode(written), key, registry=registry)


def ath_of(access_token: str) -> str:
    digest = hashlib.sha256(access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass
class Client:
    """A client of the profile; with a `certificate` it uses mTLS, without one private_key_jwt and DPoP."""

    provider: World
    client_id: str
    certificate: Issued | None = None
    key: Key = field(default_factory=lambda: ECKey.generate_key("P-256"))
    dpop_key: Key = field(default_factory=lambda: ECKey.generate_key("P-256"))
    nonce: str = ""

    @property
    def now(self) -> int:
        return int(self.provider.deployment.clock.now().timestamp())

    @property
    def headers(self) -> dict[str, str]:
        if self.certificate is None:
            return {}
        return {HEADER: f":{base64.b64encode(self.certificate.der).decode()}:"}

    async def register(self, **more: object) -> None:
        key = ECKey.import_key(self.certificate.key) if self.certificate else self.key
        new = {"id": self.client_id, "confidential": True, "redirect_uris": [CALLBACK]}
        created = await self.provider.administer("POST", "clients", json=new)
        assert created.status == 200, await created.text()
        body = {
            **new,
            "enabled": True,
            "flows_enabled": ["authorization_code", "refresh_token"],
            "scopes": ["openid", "email", "offline_access"],
            "default_scopes": ["openid"],
            "challenges": ["S256"],
            "access_token_signed_response_alg": "ES256",
            "id_token_signed_response_alg": "ES256",
            "jwks": {"keys": [each.as_dict(private=False) for each in (key, RSA)]},
            "token_endpoint_auth_method": "self_signed_tls_client_auth"
            if self.certificate
            else "private_key_jwt",
            "security_profile": "fapi2",
            **more,
        }
        kept = await self.provider.administer("PUT", f"clients/{self.client_id}", json=body)
        assert kept.status == 200, await kept.text()

    def assertion(self, *, key: Key | None = None, alg: str = "ES256", **claims: Any) -> str:
        default = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": self.provider.issuer(),
            "jti": secrets.token_urlsafe(),
            "iat": self.now,
            "exp": self.now + 60,
        }
        return signed(default | claims, key or self.key, alg=alg)

    def authenticated(self, assertion: str | None = None) -> dict[str, str]:
        if self.certificate is not None:
            return {"client_id": self.client_id}
        return {
            "client_assertion_type": ASSERTION,
            "client_assertion": assertion or self.assertion(),
        }

    def proof(
        self,
        method: str,
        path: str,
        *,
        key: Key | None = None,
        alg: str = "ES256",
        typ: str = "dpop+jwt",
        **claims: Any,
    ) -> str:
        key = key or self.dpop_key
        default = {
            "htm": method,
            "htu": f"{self.provider.issuer()}{path}",
            "iat": self.now,
            "jti": secrets.token_urlsafe(),
            "nonce": self.nonce or None,
        }
        return signed(default | claims, key, alg=alg, typ=typ, jwk=key.as_dict(private=False))

    async def send(
        self, path: str, form: Mapping[str, str], *, is_proved: bool = True, **proof: Any
    ) -> tuple[int, Any]:
        """Post a form, with a DPoP proof unless the client has a certificate; repeat it when a nonce is demanded."""
        for _ in range(2):
            headers = dict(self.headers)
            if is_proved and self.certificate is None:
                headers["DPoP"] = self.proof("POST", path, **proof)
            answer = await self.provider.http.post(
                f"{self.provider.issuer()}{path}", data=dict(form), headers=headers
            )
            self.nonce = answer.headers.get("DPoP-Nonce", self.nonce)
            body = await answer.json()
            if body.get("error") != "use_dpop_nonce":
                break
            form = {**form, **({"client_assertion": self.assertion()} if "client_assertion" in form else {})}
        return answer.status, body

    async def push(
        self, *, assertion: str | None = None, is_proved: bool = False, **parameters: str | None
    ) -> tuple[int, Any]:
        default = {
            "response_type": "code",
            "redirect_uri": CALLBACK,
            "scope": "openid email",
            "state": "s",
            "nonce": "n",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        form = {name: value for name, value in (default | parameters).items() if value is not None}
        return await self.send("oidc/par", {**form, **self.authenticated(assertion)}, is_proved=is_proved)

    async def request_uri(self, **parameters: Any) -> str:
        status, body = await self.push(**parameters)
        assert status == 201, body
        return str(body["request_uri"])

    def address(self, **parameters: str) -> str:
        query = urlencode({"client_id": self.client_id, **parameters})
        return f"{self.provider.issuer()}oidc/authorize?{query}"

    async def opened(self, **parameters: str) -> Page | Arrival:
        return await self.provider.person("", lambda person: person.visit(self.address(**parameters)))

    async def arrival(self, **parameters: Any) -> Arrival:
        """Push a request, and sign Alice in."""
        address = self.address(request_uri=await self.request_uri(**parameters))
        return await self.provider.person("", lambda person: person.sign_in(address))

    async def code(self, **parameters: Any) -> str:
        return (await self.arrival(**parameters)).parameters["code"]

    async def redeem(self, code: str, *, assertion: str | None = None, **more: Any) -> tuple[int, Any]:
        verifier = more.pop("code_verifier", VERIFIER)
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        verified = {"code_verifier": verifier} if verifier else {}
        return await self.send("oidc/token", {**form, **verified, **self.authenticated(assertion)}, **more)

    async def tokens(self, **parameters: Any) -> Any:
        status, body = await self.redeem(await self.code(**parameters))
        assert status == 200, body
        return body

    async def refreshed(self, refresh_token: str, **more: Any) -> tuple[int, Any]:
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return await self.send("oidc/token", {**form, **self.authenticated()}, **more)

    async def user_info(self, token: str, *, scheme: str = "", headers: dict[str, str] | None = None) -> int:
        is_bound_to_key = self.certificate is None
        default = {"DPoP": self.proof("GET", "oidc/userinfo", ath=ath_of(token))} if is_bound_to_key else {}
        presented = {**self.headers, **default} if headers is None else headers
        scheme = scheme or ("DPoP" if is_bound_to_key else "Bearer")
        answer = await self.provider.http.get(
            f"{self.provider.issuer()}oidc/userinfo",
            headers={"Authorization": f"{scheme} {token}", **presented},
        )
        return answer.status


@pytest.fixture
async def running() -> AsyncIterator[World]:
    async with world(mutual_tls=MutualTlsConfig(header=HEADER, proxies=HERE)) as provider:
        await provider.add_user("default", "alice")
        yield provider


@pytest.fixture(params=["private_key_jwt and DPoP", "mTLS"])
async def client(request: pytest.FixtureRequest, running: World) -> Client:
    certificate = issue("CN=fapi") if request.param == "mTLS" else None
    made = Client(running, "fapi", certificate)
    await made.register()
    return made


@pytest.fixture
async def keyed(running: World) -> Client:
    made = Client(running, "fapi")
    await made.register()
    return made


@pytest.fixture
async def other(running: World) -> Client:
    made = Client(running, "other")
    await made.register()
    return made


async def test_fapi2_security_profile_final_discovery_end_point_verification(running: World) -> None:
    settings = {"clients": {"security_profile": "fapi2"}}
    free = await running.metadata()
    answer = await running.administer("PUT", "tenants/default/settings", json=settings)
    assert answer.status == 200, await answer.text()

    metadata: dict[str, Any] = await running.metadata()

    permitted = {"PS256", "ES256", "EdDSA"}
    assert free["require_pushed_authorization_requests"] is False
    assert metadata["require_pushed_authorization_requests"] is True
    assert metadata["pushed_authorization_request_endpoint"].startswith(metadata["issuer"])
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["tls_client_certificate_bound_access_tokens"] is True
    assert set(metadata["token_endpoint_auth_methods_supported"]) == {
        "private_key_jwt",
        "self_signed_tls_client_auth",
    }
    for name in (
        "id_token_signing_alg_values_supported",
        "token_endpoint_auth_signing_alg_values_supported",
        "dpop_signing_alg_values_supported",
        "request_object_signing_alg_values_supported",
    ):
        assert metadata[name]
        assert set(metadata[name]) <= permitted


async def test_fapi2_security_profile_final_happy_flow(client: Client, other: Client) -> None:
    arrival = await client.arrival()
    assert arrival.parameters.keys() == {"code", "state", "iss"}
    assert (arrival.parameters["state"], arrival.parameters["iss"]) == ("s", client.provider.issuer())
    status, tokens = await client.redeem(arrival.parameters["code"])

    assert (status, tokens["scope"]) == (200, "openid email")
    assert tokens["token_type"] == ("Bearer" if client.certificate else "DPoP")
    assert await client.user_info(tokens["access_token"]) == 200
    assert await other.user_info((await other.tokens())["access_token"]) == 200


async def test_fapi2_security_profile_final_user_rejects_authentication(running: World) -> None:
    client = Client(running, "asking")
    await client.register(consent="once")
    address = client.address(request_uri=await client.request_uri())

    def decline(person: Person) -> Page | Arrival:
        sign_in = person.visit(address)
        assert isinstance(sign_in, Page)
        question = person.submit(sign_in)
        assert isinstance(question, Page)
        return person.answer(question, "decline")

    outcome = await running.person("", decline)

    assert isinstance(outcome, Arrival)
    assert (outcome.parameters["error"], outcome.parameters["state"]) == ("access_denied", "s")
    assert outcome.parameters["iss"] == running.issuer()


async def test_fapi2_security_profile_final_ensure_other_scope_order_succeeds(client: Client) -> None:
    assert set((await client.tokens(scope="email openid"))["scope"].split()) == {"openid", "email"}


async def test_fapi2_security_profile_final_ensure_authorization_request_without_state_success(
    client: Client,
) -> None:
    assert (await client.arrival(state=None)).parameters.keys() == {"code", "iss"}


def claims_of(token: str) -> Any:
    payload = token.split(".")[1]
    return msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


async def test_fapi2_security_profile_final_ensure_authorization_request_without_nonce_success(
    client: Client,
) -> None:
    assert "nonce" not in claims_of((await client.tokens(nonce=None))["id_token"])


@pytest.mark.parametrize(
    "length",
    [
        pytest.param(
            64, id="fapi2-security-profile-final-ensure-authorization-request-with-64-char-nonce-success"
        ),
        pytest.param(384, id="fapi2-security-profile-final-ensure-authorization-request-with-long-nonce"),
    ],
)
async def test_a_nonce_comes_back_whole(keyed: Client, length: int) -> None:
    assert claims_of((await keyed.tokens(nonce="n" * length))["id_token"])["nonce"] == "n" * length


async def test_fapi2_security_profile_final_ensure_authorization_request_with_long_state(
    client: Client,
) -> None:
    assert (await client.arrival(state="s" * 384)).parameters["state"] == "s" * 384


async def test_fapi2_security_profile_final_access_token_type_header_case_sensitivity(keyed: Client) -> None:
    token = (await keyed.tokens())["access_token"]

    assert [await keyed.user_info(token, scheme=scheme) for scheme in ("dpop", "DPoP", "DPOP")] == [200] * 3


REFUSED_AT_PAR = [
    pytest.param(
        {"redirect_uri": None},
        "invalid_request",
        id="fapi2-security-profile-final-ensure-redirect-uri-in-authorization-request",
    ),
    pytest.param(
        {"redirect_uri": "https://evil.example.com/"},
        "invalid_request",
        id="fapi2-security-profile-final-ensure-registered-redirect-uri",
    ),
    pytest.param(
        {"response_type": "code id_token"},
        "unsupported_response_type",
        id="fapi2-security-profile-final-ensure-response-type-code-idtoken-fails",
    ),
    pytest.param(
        {"response_type": "token"},
        "unsupported_response_type",
        id="fapi2-security-profile-final-ensure-response-type-token-fails",
    ),
    pytest.param(
        {"request_uri": "urn:ietf:params:oauth:request_uri:x"},
        "invalid_request",
        id="fapi2-security-profile-final-par-authorization-request-containing-request-uri-form-param",
    ),
    pytest.param(
        {"code_challenge": None, "code_challenge_method": None},
        "invalid_request",
        id="fapi2-security-profile-final-par-ensure-pkce-required",
    ),
    pytest.param(
        {"code_challenge": VERIFIER, "code_challenge_method": "plain"},
        "invalid_request",
        id="fapi2-security-profile-final-par-plain-pkce-rejected",
    ),
]


@pytest.mark.parametrize(("parameters", "error"), REFUSED_AT_PAR)
async def test_a_request_is_refused_when_it_is_pushed(
    client: Client, parameters: dict[str, str | None], error: str
) -> None:
    status, body = await client.push(**parameters)

    assert (status, body["error"]) == (400, error)


async def test_fapi2_security_profile_final_ensure_unsigned_authorization_request_without_using_par_fails(
    client: Client,
) -> None:
    outcome = await client.opened(
        response_type="code",
        redirect_uri=CALLBACK,
        scope="openid",
        code_challenge=CHALLENGE,
        code_challenge_method="S256",
    )

    assert isinstance(outcome, Arrival)
    assert outcome.parameters["error"] == "invalid_request"


async def test_fapi2_security_profile_final_par_ensure_reused_request_uri_prior_to_auth_completion_succeeds(
    client: Client,
) -> None:
    request_uri = await client.request_uri()
    first = await client.opened(request_uri=request_uri)
    address = client.address(request_uri=request_uri)

    arrival = await client.provider.person("", lambda person: person.sign_in(address))

    assert isinstance(first, Page)
    assert first.asks_for_a_password
    assert (await client.redeem(arrival.parameters["code"]))[0] == 200


async def test_of_pages_with_the_same_request_uri_one_leads_to_a_code(keyed: Client) -> None:
    address = keyed.address(request_uri=await keyed.request_uri())

    def sign_in_twice(person: Person) -> int:
        first, second = person.visit(address), person.visit(address)
        assert isinstance(first, Page)
        assert isinstance(second, Page)
        person.submit(first)
        return person.submit_credentials(second, person.password).status_code

    assert await keyed.provider.person("", sign_in_twice) == 401


async def test_a_page_that_was_opened_in_time_is_answered_later(keyed: Client) -> None:
    address = keyed.address(request_uri=await keyed.request_uri())

    def hesitate(person: Person) -> Page | Arrival:
        page = person.visit(address)
        assert isinstance(page, Page)
        keyed.provider.deployment.clock.advance(timedelta(minutes=10))
        return person.submit(page)

    assert isinstance(await keyed.provider.person("", hesitate), Arrival)


async def test_fapi2_security_profile_final_par_attempt_reuse_request_uri(client: Client) -> None:
    request_uri = await client.request_uri()
    address = client.address(request_uri=request_uri)
    await client.provider.person("", lambda person: person.sign_in(address))

    outcome = await client.opened(request_uri=request_uri)

    assert isinstance(outcome, Page)
    assert outcome.status == 400


async def test_fapi2_security_profile_final_par_attempt_to_use_expired_request_uri(client: Client) -> None:
    request_uri = await client.request_uri()
    client.provider.deployment.clock.advance(timedelta(seconds=91))

    outcome = await client.opened(request_uri=request_uri)

    assert isinstance(outcome, Page)
    assert outcome.status == 400


async def test_fapi2_security_profile_final_par_attempt_to_use_request_uri_for_different_client(
    client: Client, other: Client
) -> None:
    outcome = await other.opened(request_uri=await client.request_uri())

    assert isinstance(outcome, Page)
    assert outcome.status == 400


async def test_fapi2_security_profile_final_par_attempt_invalid_http_method(client: Client) -> None:
    for method in ("GET", "PUT"):
        answer = await client.provider.http.request(method, f"{client.provider.issuer()}oidc/par")

        assert answer.status == 405


async def test_fapi2_security_profile_final_par_without_duplicate_parameters(client: Client) -> None:
    """Parameters beside the request URI count for nothing."""
    address = client.address(request_uri=await client.request_uri(), scope="offline_access", state="other")

    arrival = await client.provider.person("", lambda person: person.sign_in(address))

    assert arrival.parameters["state"] == "s"


async def test_fapi2_security_profile_final_ensure_pkce_code_verifier_required(client: Client) -> None:
    status, body = await client.redeem(await client.code(), code_verifier="")

    assert (status, body["error"]) == (400, "invalid_grant")


async def test_fapi2_security_profile_final_incorrect_pkce_code_verifier_rejected(client: Client) -> None:
    status, body = await client.redeem(await client.code(), code_verifier="x" * 43)

    assert (status, body["error"]) == (400, "invalid_grant")


async def test_fapi2_security_profile_final_attempt_reuse_authorization_code_after_one_second(
    client: Client,
) -> None:
    code = await client.code()
    _, tokens = await client.redeem(code)
    client.provider.deployment.clock.advance(timedelta(seconds=1))

    status, body = await client.redeem(code)

    assert (status, body["error"]) == (400, "invalid_grant")
    assert await client.user_info(tokens["access_token"]) == 401


async def test_fapi2_security_profile_final_ensure_token_endpoint_fails_with_expired_auth_code(
    client: Client,
) -> None:
    code = await client.code()
    client.provider.deployment.clock.advance(timedelta(seconds=60))

    status, body = await client.redeem(code)

    assert (status, body["error"]) == (400, "invalid_grant")


async def test_fapi2_security_profile_final_ensure_authorization_code_is_bound_to_client(
    client: Client, other: Client
) -> None:
    status, body = await other.redeem(await client.code())

    assert (status, body["error"]) == (400, "invalid_grant")


async def test_fapi2_security_profile_final_ensure_client_id_in_token_endpoint(
    client: Client, other: Client
) -> None:
    form = {"grant_type": "authorization_code", "code": await client.code(), "redirect_uri": CALLBACK}
    claimed = {**form, "code_verifier": VERIFIER, **client.authenticated(), "client_id": other.client_id}

    status, body = await client.send("oidc/token", claimed)

    assert (status, body["error"]) == (401, "invalid_client")


async def test_fapi2_security_profile_final_ensure_client_assertion_in_token_endpoint(keyed: Client) -> None:
    form = {"grant_type": "authorization_code", "code": await keyed.code(), "redirect_uri": CALLBACK}

    status, body = await keyed.send(
        "oidc/token", {**form, "code_verifier": VERIFIER, "client_id": keyed.client_id}
    )

    assert (status, body["error"]) == (401, "invalid_client")


ASSERTIONS = [
    pytest.param(
        {"key": RSA, "alg": "RS256"},
        id="fapi2-security-profile-final-ensure-signed-client-assertion-with-RS256-fails",
    ),
    pytest.param({"sub": None}, id="fapi2-security-profile-final-ensure-client-assertion-with-no-sub-fails"),
    pytest.param(
        {"exp": -300},
        id="fapi2-security-profile-final-ensure-client-assertion-with-exp-is-5-minutes-in-past-fails",
    ),
    pytest.param(
        {"aud": "https://other.example.com/"},
        id="fapi2-security-profile-final-ensure-client-assertion-with-wrong-aud-fails",
    ),
    pytest.param({"aud": ["{issuer}"]}, id="fapi2-security-profile-final-par-test-array-as-audience-fails"),
    pytest.param(
        {"aud": "{issuer}oidc/par"},
        id="fapi2-security-profile-final-par-test-par-endpoint-url-as-audience-fails",
    ),
    pytest.param(
        {"aud": "{issuer}oidc/token"},
        id="fapi2-security-profile-final-par-test-token-endpoint-url-as-audience-fails",
    ),
    pytest.param(
        {"nbf": 61},
        id="fapi2-security-profile-final-par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails",
    ),
]


def written(client: Client, value: Any) -> Any:
    """Fill in the issuer, and count numbers from now."""
    if isinstance(value, list):
        return [written(client, each) for each in value]
    if isinstance(value, int):
        return client.now + value
    return value.replace("{issuer}", client.provider.issuer()) if isinstance(value, str) else value


@pytest.mark.parametrize("changes", ASSERTIONS)
async def test_an_assertion_that_the_profile_does_not_admit_proves_nothing(
    keyed: Client, changes: dict[str, Any]
) -> None:
    assertion = keyed.assertion(**{name: written(keyed, value) for name, value in changes.items()})
    pushed = await keyed.push(assertion=assertion)
    redeemed = await keyed.redeem(await keyed.code(), assertion=assertion)

    assert [(status, body["error"]) for status, body in (pushed, redeemed)] == [(401, "invalid_client")] * 2


async def test_fapi2_security_profile_final_par_ensure_jwt_client_assertions_nbf_8_seconds_in_the_future_is_accepted(
    keyed: Client,
) -> None:
    assert (await keyed.push(assertion=keyed.assertion(nbf=keyed.now + 8, iat=keyed.now + 8)))[0] == 201


async def test_fapi2_security_profile_final_ensure_holder_of_key_required(client: Client) -> None:
    code = await client.code()
    if client.certificate is None:
        status, body = await client.redeem(code, is_proved=False)
        assert (status, body["error"]) == (400, "invalid_request")
    _, tokens = await client.redeem(code)

    assert await client.user_info(tokens["access_token"], scheme="Bearer", headers={}) == 401
    bound = {"x5t#S256": thumbprint_of(client.certificate.der)} if client.certificate else None
    assert claims_of(tokens["access_token"])["cnf"] == (bound or {"jkt": client.dpop_key.thumbprint()})


PROOFS: dict[str, dict[str, Any]] = {
    "RS256": {"key": RSA, "alg": "RS256"},
    "another type": {"typ": "jwt"},
    "another method": {"htm": "GET"},
    "another address": {"htu": "https://other.example.com/"},
    "no address": {"htu": None},
    "no identifier": {"jti": None},
    "no time": {"iat": None},
    "too old": {"iat": -71},
    "too early": {"iat": 11},
}


@pytest.mark.parametrize("changes", PROOFS.values(), ids=PROOFS)
async def test_fapi2_security_profile_final_dpop_negative_tests(
    keyed: Client, changes: dict[str, Any]
) -> None:
    claims = {
        name: keyed.now + value if name == "iat" and value else value for name, value in changes.items()
    }

    status, body = await keyed.redeem(await keyed.code(), **claims)

    assert (status, body["error"]) == (400, "invalid_dpop_proof")


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"nbf": 0, "exp": 60}, id="fapi2-security-profile-final-check-dpop-proof-nbf-exp"),
        pytest.param(
            {"iat": -10},
            id="fapi2-security-profile-final-ensure-dpopproof-with-iat-10seconds-before-succeeds",
        ),
        pytest.param(
            {"iat": 10}, id="fapi2-security-profile-final-ensure-dpopproof-with-iat-10seconds-after-succeeds"
        ),
    ],
)
async def test_a_proof_of_a_clock_that_differs_a_little_is_accepted(
    keyed: Client, claims: dict[str, int]
) -> None:
    shifted = {name: keyed.now + value for name, value in claims.items()}

    assert (await keyed.redeem(await keyed.code(), **shifted))[0] == 200


async def test_fapi2_security_profile_final_ensure_mismatched_dpop_jkt_fails(keyed: Client) -> None:
    """The thumbprint in the request is not that of the proof beside it."""
    other_key = ECKey.generate_key("P-256")

    status, body = await keyed.push(is_proved=True, dpop_jkt=other_key.thumbprint())

    assert (status, body["error"]) == (400, "invalid_request")


async def test_fapi2_security_profile_final_ensure_token_endpoint_fails_with_mismatched_dpop_proof_jkt(
    keyed: Client,
) -> None:
    code = await keyed.code(is_proved=True)

    status, body = await keyed.redeem(code, key=ECKey.generate_key("P-256"))

    assert (status, body["error"]) == (400, "invalid_dpop_proof")


async def test_fapi2_security_profile_final_ensure_token_endpoint_fails_with_mismatched_dpop_jkt(
    keyed: Client,
) -> None:
    code = await keyed.code(dpop_jkt=ECKey.generate_key("P-256").thumbprint())

    status, body = await keyed.redeem(code)

    assert (status, body["error"]) == (400, "invalid_dpop_proof")


async def test_fapi2_security_profile_final_ensure_dpopproof_at_par_endpoint_binding_success(
    keyed: Client,
) -> None:
    assert (await keyed.tokens(is_proved=True))["token_type"] == "DPoP"


async def test_fapi2_security_profile_final_ensure_dpop_auth_code_binding_success(keyed: Client) -> None:
    assert (await keyed.tokens(dpop_jkt=keyed.dpop_key.thumbprint()))["token_type"] == "DPoP"


async def test_fapi2_security_profile_final_refresh_token(client: Client, other: Client) -> None:
    tokens = await client.tokens(scope="openid offline_access")
    first, again = [await client.refreshed(tokens["refresh_token"]) for _ in range(2)]

    assert (first[0], again[0]) == (200, 200)
    # The profile forbids rotation: a client that loses a response keeps its access.
    assert first[1]["refresh_token"] == again[1]["refresh_token"] == tokens["refresh_token"]
    assert await client.user_info(again[1]["access_token"]) == 200
    assert (await other.refreshed(tokens["refresh_token"]))[1]["error"] == "invalid_grant"
    if client.certificate is None:
        key = ECKey.generate_key("P-256")
        assert (await client.refreshed(tokens["refresh_token"], key=key))[1]["error"] == "invalid_dpop_proof"


async def test_a_client_of_the_profile_asks_for_authorization_details(running: World) -> None:
    """RFC 9396: a pushed request carries them, and the bound token contains them."""
    client = Client(running, "paying")
    payment = {"type": "payment", "amount": "123.50"}
    new = {"name": "payment", "title": "Pay", "fields": {"amount": {"label": "Amount"}}}
    assert (await client.provider.administer("POST", "authorization_details_types", json=new)).status == 200
    await client.register(authorization_details_types=["payment"])
    address = client.address(
        request_uri=await client.request_uri(authorization_details=msgspec.json.encode([payment]).decode())
    )

    def accept(person: Person) -> Page | Arrival:
        sign_in = person.visit(address)
        assert isinstance(sign_in, Page)
        question = person.submit(sign_in)
        assert isinstance(question, Page)
        assert "Pay Amount 123.50" in question.words
        return person.answer(question, "accept")

    arrival = await client.provider.person("", accept)
    assert isinstance(arrival, Arrival)
    status, tokens = await client.redeem(arrival.parameters["code"])
    claims = claims_of(tokens["access_token"])

    assert (status, tokens["authorization_details"]) == (200, [payment])
    assert claims["authorization_details"] == [payment]
    assert claims["cnf"]
