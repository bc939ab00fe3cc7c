"""FAPI 2.0 Message Signing: modules of the plan with signed requests and JARM, as black-box tests.

Modules that this plan shares with the Security Profile are in `test_fapi2.py`, except those that a signed request or
response could change. Left out are grant management and the modules of national profiles.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from server.platform.mutual_tls import MutualTlsConfig
from tests.certification.test_fapi2 import HEADER, HERE, RSA, Client, signed
from tests.edge.oidc.tenants.world import CALLBACK, CHALLENGE, World, world
from tests.identity.certificates import issue
from tests.people.person import Arrival, Page, Person
from tests.waits import until_so

PROFILE = "fapi2_message_signing"
HOUR = 3600


class SigningClient(Client):
    """A client of the profile: its requests are request objects, and its responses are JWTs."""

    async def register(self, **more: object) -> None:
        await super().register(**{"security_profile": PROFILE, **more})

    def request_object(self, *, signer: Any = None, alg: str = "ES256", **claims: Any) -> str:
        default = {
            "iss": self.client_id,
            "aud": self.provider.issuer(),
            "client_id": self.client_id,
            "nbf": self.now,
            "exp": self.now + 300,
            "response_type": "code",
            "response_mode": "jwt",
            "redirect_uri": CALLBACK,
            "scope": "openid email",
            "state": "s",
            "nonce": "n",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        key = signer or (ECKey.import_key(self.certificate.key) if self.certificate else self.key)
        return signed(default | claims, key, alg=alg, typ="oauth-authz-req+jwt")

    async def push(
        self,
        *,
        assertion: str | None = None,
        is_proved: bool = False,
        request: str = "",
        beside: Mapping[str, str] | None = None,
        **claims: Any,
    ) -> tuple[int, Any]:
        form = {"request": request or self.request_object(**claims), **(beside or {})}
        return await self.send("oidc/par", {**form, **self.authenticated(assertion)}, is_proved=is_proved)

    async def refusal(self, **arguments: Any) -> str:
        status, body = await self.push(**arguments)
        assert status == 400, body
        return str(body["error"])

    async def code(self, **parameters: Any) -> str:
        return str((await self.verified(await self.arrival(**parameters)))["code"])

    async def verified(self, arrival: Arrival) -> dict[str, Any]:
        """Return the claims of a signed response, as a client of the profile verifies it: JARM §2.4."""
        assert arrival.parameters.keys() == {"response"}
        metadata: dict[str, Any] = await self.provider.metadata()
        keys = await (await self.provider.http.get(metadata["jwks_uri"])).json()
        response = jwt.decode(
            arrival.parameters["response"], KeySet.import_key_set(keys), algorithms=["ES256"]
        )
        assert response.claims["iss"] == metadata["issuer"]
        assert response.claims["aud"] == self.client_id
        assert 0 < response.claims["exp"] - self.now <= 600
        return response.claims


@pytest.fixture
async def running() -> AsyncIterator[World]:
    async with world(mutual_tls=MutualTlsConfig(header=HEADER, proxies=HERE)) as provider:
        await provider.add_user("default", "alice")
        yield provider


@pytest.fixture(params=["private_key_jwt and DPoP", "mTLS"])
async def client(request: pytest.FixtureRequest, running: World) -> SigningClient:
    certificate = issue("CN=fapi") if request.param == "mTLS" else None
    made = SigningClient(running, "fapi", certificate)
    await made.register()
    return made


@pytest.fixture
async def keyed(running: World) -> SigningClient:
    made = SigningClient(running, "fapi")
    await made.register()
    return made


async def test_fapi2_security_profile_final_discovery_end_point_verification(running: World) -> None:
    settings = {"clients": {"security_profile": PROFILE}}
    free: dict[str, Any] = await running.metadata()
    answer = await running.administer("PUT", "tenants/default/settings", json=settings)
    assert answer.status == 200, await answer.text()

    metadata: dict[str, Any] = await running.metadata()

    signed_modes = {"jwt", "query.jwt", "fragment.jwt", "form_post.jwt"}
    assert signed_modes < set(free["response_modes_supported"])
    assert set(metadata["response_modes_supported"]) == signed_modes
    assert set(metadata["authorization_signing_alg_values_supported"]) == {"ES256", "EdDSA"}
    assert (free["require_signed_request_object"], metadata["require_signed_request_object"]) == (False, True)
    assert metadata["require_pushed_authorization_requests"] is True


async def test_fapi2_security_profile_final_happy_flow(client: SigningClient) -> None:
    claims = await client.verified(await client.arrival())
    assert claims.keys() == {"code", "state", "iss", "aud", "exp"}
    assert claims["state"] == "s"
    status, tokens = await client.redeem(claims["code"])

    assert (status, tokens["scope"]) == (200, "openid email")
    assert await client.user_info(tokens["access_token"]) == 200


@pytest.mark.parametrize("mode", ["jwt", "query.jwt", "fragment.jwt", "form_post.jwt"])
async def test_the_client_chooses_how_the_signed_response_travels(keyed: SigningClient, mode: str) -> None:
    arrival = await keyed.arrival(response_mode=mode)

    parts = urlsplit(arrival.url)
    travels = {
        "query": dict(parse_qsl(parts.query)),
        "fragment": dict(parse_qsl(parts.fragment)),
        "form_post": arrival.posted,
    }
    expected = mode.removesuffix(".jwt") if "." in mode else "query"
    assert [name for name, parameters in travels.items() if "response" in parameters] == [expected]
    assert (await keyed.redeem((await keyed.verified(arrival))["code"]))[0] == 200


async def test_a_response_that_is_not_signed_is_not_asked_for(keyed: SigningClient) -> None:
    assert [await keyed.refusal(response_mode=mode) for mode in (None, "query", "form_post")] == [
        "invalid_request"
    ] * 3


async def test_fapi2_security_profile_final_user_rejects_authentication(running: World) -> None:
    client = SigningClient(running, "asking")
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
    claims = await client.verified(outcome)
    assert (claims["error"], claims["state"]) == ("access_denied", "s")
    assert "code" not in claims


async def test_fapi2_security_profile_final_ensure_request_object_with_multiple_aud_succeeds(
    keyed: SigningClient,
) -> None:
    audiences = ["https://other.example.com/", keyed.provider.issuer()]

    assert (await keyed.tokens(aud=audiences))["token_type"] == "DPoP"


async def test_fapi2_security_profile_final_ensure_authorization_request_without_state_success(
    keyed: SigningClient,
) -> None:
    assert "state" not in await keyed.verified(await keyed.arrival(state=None))


async def test_fapi2_security_profile_final_ensure_authorization_request_with_long_state(
    keyed: SigningClient,
) -> None:
    assert (await keyed.verified(await keyed.arrival(state="s" * 384)))["state"] == "s" * 384


async def test_fapi2_security_profile_final_ensure_request_object_with_nbf_8_seconds_in_the_future_is_accepted(
    keyed: SigningClient,
) -> None:
    assert (await keyed.push(nbf=keyed.now + 8))[0] == 201


@pytest.mark.parametrize(
    "member",
    [
        pytest.param(
            "nonce",
            id="fapi2-security-profile-final-ensure-different-nonce-inside-and-outside-request-object",
        ),
        pytest.param(
            "state",
            id="fapi2-security-profile-final-ensure-different-state-inside-and-outside-request-object",
        ),
    ],
)
async def test_what_stands_beside_the_request_object_counts_for_nothing(
    keyed: SigningClient, member: str
) -> None:
    arrival = await keyed.arrival(beside={member: "another"})
    claims = await keyed.verified(arrival)
    _, tokens = await keyed.redeem(claims["code"])

    id_token = jwt.decode(tokens["id_token"], await published(keyed), algorithms=["ES256"]).claims
    assert (claims["state"], id_token["nonce"]) == ("s", "n")


async def published(client: SigningClient) -> KeySet:
    metadata: dict[str, Any] = await client.provider.metadata()
    return KeySet.import_key_set(await (await client.provider.http.get(metadata["jwks_uri"])).json())


async def test_fapi2_security_profile_final_state_only_outside_request_object_not_used(
    keyed: SigningClient,
) -> None:
    assert "state" not in await keyed.verified(await keyed.arrival(state=None, beside={"state": "outside"}))


REFUSED_OBJECTS: list[Any] = [
    pytest.param({"exp": None}, id="fapi2-security-profile-final-ensure-request-object-without-exp-fails"),
    pytest.param({"nbf": None}, id="fapi2-security-profile-final-ensure-request-object-without-nbf-fails"),
    pytest.param({"exp": -60}, id="fapi2-security-profile-final-ensure-expired-request-object-fails"),
    pytest.param(
        {"aud": "https://other.example.com/"},
        id="fapi2-security-profile-final-ensure-request-object-with-bad-aud-fails",
    ),
    pytest.param(
        {"exp": HOUR + 600},
        id="fapi2-security-profile-final-ensure-request-object-with-exp-over-60-fails",
    ),
    pytest.param(
        {"nbf": -HOUR - 600, "exp": 60},
        id="fapi2-security-profile-final-ensure-request-object-with-nbf-over-60-fails",
    ),
    pytest.param({"nbf": -1800, "exp": 1801}, id="both times are near and an hour lies between them"),
    pytest.param(
        {"signer": RSA, "alg": "RS256"},
        id="fapi2-security-profile-final-ensure-signed-request-object-with-RS256-fails",
    ),
    pytest.param(
        {"signer": ECKey.generate_key("P-256")},
        id="fapi2-security-profile-final-ensure-request-object-with-invalid-signature-fails",
    ),
]


@pytest.mark.parametrize("changes", REFUSED_OBJECTS)
async def test_a_request_object_that_does_not_hold_is_refused(
    keyed: SigningClient, changes: dict[str, Any]
) -> None:
    shifted = {
        name: keyed.now + value if isinstance(value, int) else value for name, value in changes.items()
    }

    assert await keyed.refusal(**shifted) == "invalid_request_object"


async def test_fapi2_security_profile_final_ensure_request_object_without_redirect_uri_fails(
    keyed: SigningClient,
) -> None:
    assert await keyed.refusal(redirect_uri=None, beside={"redirect_uri": CALLBACK}) == "invalid_request"


async def test_fapi2_security_profile_final_ensure_request_object_signature_algorithm_is_not_none(
    keyed: SigningClient,
) -> None:
    head = "eyJhbGciOiJub25lIn0"
    unsigned = f"{head}.{keyed.request_object().split('.')[1]}."

    assert await keyed.refusal(request=unsigned) == "request_not_supported"


async def test_fapi2_security_profile_final_ensure_matching_key_in_authorization_request(
    keyed: SigningClient,
) -> None:
    other = SigningClient(keyed.provider, "other")
    await other.register()

    assert await keyed.refusal(signer=other.key) == "invalid_request_object"


async def test_fapi2_security_profile_final_ensure_unsigned_request_at_par_endpoint_fails(
    keyed: SigningClient,
) -> None:
    status, body = await Client.push(keyed, response_mode="jwt")

    assert (status, body["error"]) == (400, "invalid_request")


async def test_fapi2_security_profile_final_ensure_unsigned_authorization_request_without_using_par_fails(
    keyed: SigningClient,
) -> None:
    """The error is signed, although the request is not."""
    outcome = await keyed.opened(
        response_type="code",
        redirect_uri=CALLBACK,
        scope="openid",
        state="s",
        code_challenge=CHALLENGE,
        code_challenge_method="S256",
    )

    assert isinstance(outcome, Arrival)
    claims = await keyed.verified(outcome)
    assert (claims["error"], claims["state"]) == ("invalid_request", "s")


async def test_a_signed_request_has_to_be_pushed_all_the_same(keyed: SigningClient) -> None:
    outcome = await keyed.opened(request=keyed.request_object(), redirect_uri=CALLBACK)

    assert isinstance(outcome, Arrival)
    assert (await keyed.verified(outcome))["error"] == "invalid_request"


async def test_a_response_is_no_hint_of_a_user(keyed: SigningClient) -> None:
    """Both are JWTs of the provider with the client as audience."""
    response = (await keyed.arrival()).parameters["response"]

    assert await keyed.refusal(id_token_hint=response) == "invalid_request"


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "RS512"])
async def test_a_client_without_the_profile_may_ask_for_signed_responses(
    running: World, algorithm: str
) -> None:
    client = SigningClient(running, "free")
    await client.register(security_profile="none", authorization_signed_response_alg=algorithm)
    address = client.address(
        response_type="code",
        redirect_uri=CALLBACK,
        scope="openid",
        state="s",
        code_challenge=CHALLENGE,
        code_challenge_method="S256",
        response_mode="query.jwt",
    )

    async def is_made() -> bool:
        return any(key.alg == algorithm for key in (await published(client)).keys)

    await until_so(is_made)  # The keys of a new provider are made one after the other.
    arrival = await running.person("", lambda person: person.sign_in(address))

    response = arrival.parameters["response"]
    claims = jwt.decode(response, await published(client), algorithms=[algorithm]).claims
    assert (claims["aud"], claims["state"]) == ("free", "s")


async def test_a_tenant_demands_signed_messages_of_clients_of_the_security_profile(running: World) -> None:
    client = Client(running, "fapi")
    await client.register()
    settings = {"clients": {"security_profile": PROFILE}}
    before, _ = await client.push()
    answer = await running.administer("PUT", "tenants/default/settings", json=settings)
    assert answer.status == 200, await answer.text()

    status, body = await client.push()

    assert (before, status, body["error"]) == (201, 400, "invalid_request")
