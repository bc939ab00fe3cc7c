from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from joserfc import jws
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from identity.access.client_authentication.assertions import ClientAssertions
from identity.access.client_authentication.authenticator import ClientAuthenticator, ClientCredentials
from identity.access.client_authentication.certificates import ClientCertificates
from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.client_authentication.config import ClientAuthenticationConfig
from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, ForeignSignatures
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import InvalidClient
from identity.foundation.single_use import SingleUse
from identity.foundation.vocabulary import AuthenticationMethod
from tests.identity.protocol.provider import ACME, AS_APP, NOON, SECRET, TENANT, Provider, app

KEYS: dict[str, Key] = {
    "RS256": RSAKey.generate_key(2048),
    "ES256": ECKey.generate_key("P-256"),
    "PS256": RSAKey.generate_key(2048),
    "EdDSA": OKPKey.generate_key("Ed25519"),
}
NOW = int(NOON.timestamp())
CLAIMS = {"iss": "robot", "sub": "robot", "aud": TENANT.issuer, "jti": "1", "iat": NOW, "exp": NOW + 600}


def signed(claims: dict[str, Any], key: Key, *, alg: str = "ES256") -> str:
    registry = ForeignSignatures(algorithms=[alg])
    return jws.serialize_compact({"alg": alg}, msgspec.json.encode(claims), key, registry=registry)


def asserted(assertion: str, client_id: str = "") -> ClientCredentials:
    return ClientCredentials(AuthenticationMethod.PRIVATE_KEY_JWT, client_id, client_assertion=assertion)


def key_set(*keys: Key) -> str:
    return msgspec.json.encode({"keys": [key.as_dict(private=False) for key in keys]}).decode()


@pytest.fixture
async def robot(provider: Provider) -> Provider:
    """A provider that knows a client with keys."""
    await provider.add_client(
        replace(
            app(provider.secrets),
            id="robot",
            secret_hash=None,
            jwks=key_set(*KEYS.values()),
            token_endpoint_auth_method=AuthenticationMethod.PRIVATE_KEY_JWT,
        )
    )
    return provider


@pytest.mark.parametrize(
    "method", [AuthenticationMethod.CLIENT_SECRET_BASIC, AuthenticationMethod.CLIENT_SECRET_POST]
)
async def test_a_secret_proves_a_client_wherever_it_stands(
    provider: Provider, method: AuthenticationMethod
) -> None:
    client = await provider.authenticator.authenticate(ClientCredentials(method, "app", SECRET), TENANT)

    assert client.client_id == "app"


REFUSED = [
    pytest.param({}, replace(AS_APP, client_id="nobody"), id="unknown client"),
    pytest.param({}, replace(AS_APP, client_secret="wrong"), id="wrong secret"),
    pytest.param({}, replace(AS_APP, client_secret=""), id="no secret"),
    pytest.param({}, ClientCredentials(AuthenticationMethod.NONE, "app"), id="no authentication"),
    pytest.param({"is_enabled": False}, AS_APP, id="disabled client"),
    pytest.param({"secret_hash": None}, replace(AS_APP, client_secret=""), id="neither has a secret"),
    pytest.param(
        {"token_endpoint_auth_method": AuthenticationMethod.PRIVATE_KEY_JWT}, AS_APP, id="client with keys"
    ),
    pytest.param({}, asserted("nonsense", "app"), id="nonsense for an assertion"),
]


@pytest.mark.parametrize(("changes", "credentials"), REFUSED)
async def test_whoever_is_refused_learns_the_same(
    provider: Provider, changes: dict[str, Any], credentials: ClientCredentials
) -> None:
    await provider.change_client(**changes)

    with pytest.raises(InvalidClient) as refusal:
        await provider.authenticator.authenticate(credentials, TENANT)

    assert refusal.value.detail == "client authentication failed"


@pytest.mark.parametrize("client_id", ["app", "nobody"])
async def test_a_secret_is_hashed_once_whether_the_client_exists_or_not(
    provider: Provider, client_id: str
) -> None:
    hashed: list[str] = []

    class CountingHasher(SecretHasher):
        def hash(self, secret: str) -> bytes:
            hashed.append(secret)
            return super().hash(secret)

    hasher = CountingHasher(b"0" * 32)
    unasked: Any = None
    authenticator = ClientAuthenticator(
        provider.clients, hasher, assertions=unasked, certificates=unasked, clock=provider.clock
    )
    hashed.clear()

    with pytest.raises(InvalidClient):
        await authenticator.authenticate(
            ClientCredentials(AuthenticationMethod.CLIENT_SECRET_POST, client_id, "wrong"), TENANT
        )

    assert hashed == ["wrong"]


async def test_a_secret_that_was_replaced_stays_good_for_a_while(provider: Provider) -> None:
    until = int((NOON + timedelta(hours=1)).timestamp())
    await provider.change_client(
        secret_hash=provider.secrets.hash("new"),
        previous_secret_hash=provider.secrets.hash(SECRET),
        previous_secret_until=until,
    )

    assert await provider.authenticator.authenticate(replace(AS_APP, client_secret="new"), TENANT)
    assert await provider.authenticator.authenticate(AS_APP, TENANT)
    provider.clock.advance(timedelta(hours=1))
    with pytest.raises(InvalidClient):
        await provider.authenticator.authenticate(AS_APP, TENANT)


async def test_a_public_client_is_whom_it_says_it_is(provider: Provider) -> None:
    await provider.change_client(secret_hash=None, token_endpoint_auth_method=AuthenticationMethod.NONE)

    client = await provider.authenticator.authenticate(
        ClientCredentials(AuthenticationMethod.NONE, "app"), TENANT
    )

    assert client.is_public


async def test_a_client_of_another_tenant_is_unknown_there(provider: Provider) -> None:
    with pytest.raises(InvalidClient):
        await provider.authenticator.authenticate(AS_APP, ACME)


async def test_the_default_tenants_client_serves_the_tenants_that_it_acts_in(provider: Provider) -> None:
    await provider.change_client(tenant_ids=(ACME.tenant_id,))

    assert await provider.authenticator.authenticate(AS_APP, ACME)


@pytest.mark.parametrize("algorithm", CLIENT_ALGORITHMS)
async def test_a_key_proves_a_client(robot: Provider, algorithm: str) -> None:
    assertion = signed(CLAIMS, KEYS[algorithm], alg=algorithm)

    client = await robot.authenticator.authenticate(asserted(assertion, "robot"), TENANT)

    assert client.client_id == "robot"


ACCEPTED = [
    pytest.param({"aud": [TENANT.issuer]}, id="for a list of one"),
    pytest.param({"exp": NOW + 1}, id="about to expire"),
    pytest.param({"iat": NOW + 10}, id="issued by a clock that is ahead"),
    pytest.param({"iat": None, "nbf": NOW + 10}, id="good in a moment"),
]


@pytest.mark.parametrize("changes", ACCEPTED)
async def test_an_assertion_is_for_this_provider_and_now(robot: Provider, changes: dict[str, Any]) -> None:
    claims = {name: value for name, value in (CLAIMS | changes).items() if value is not None}
    assertion = signed(claims, KEYS["ES256"])

    assert await robot.authenticator.authenticate(asserted(assertion), TENANT)


ASSERTIONS = [
    pytest.param({"aud": "https://other.example.com/"}, id="for another provider"),
    pytest.param({"aud": None}, id="for nobody"),
    pytest.param({"aud": []}, id="for a list of nobody"),
    pytest.param({"aud": {TENANT.issuer: 1}}, id="for no text"),
    pytest.param({"aud": f"{TENANT.issuer}oidc/token"}, id="for the token endpoint"),
    pytest.param({"aud": [f"{TENANT.issuer}oidc/token"]}, id="for a list of the token endpoint"),
    pytest.param({"aud": f"{TENANT.issuer}oidc/bc-authorize"}, id="for the backchannel endpoint"),
    pytest.param({"aud": [TENANT.issuer, "https://other.example.com/"]}, id="for another provider, too"),
    pytest.param({"aud": [TENANT.issuer, f"{TENANT.issuer}oidc/token"]}, id="for two names of this one"),
    pytest.param({"aud": TENANT.issuer.rstrip("/")}, id="for nearly this provider"),
    pytest.param({"iss": "app"}, id="made by another client"),
    pytest.param({"sub": "app"}, id="about another client"),
    pytest.param({"exp": NOW - 5}, id="expired"),
    pytest.param({"exp": NOW + 606}, id="good for longer than ten minutes"),
    pytest.param({"exp": None}, id="good for ever"),
    pytest.param({"nbf": NOW + 11}, id="not good yet"),
    pytest.param({"nbf": str(NOW)}, id="good from no number on"),
    pytest.param({"iat": NOW + 11}, id="issued in the future"),
    pytest.param({"iat": "now"}, id="issued at no number"),
    pytest.param({"jti": ""}, id="without an id"),
    pytest.param({"jti": "x" * 257}, id="with an id that is too long"),
]


@pytest.mark.parametrize("changes", ASSERTIONS)
async def test_an_assertion_that_does_not_hold_proves_nothing(
    robot: Provider, changes: dict[str, Any]
) -> None:
    assertion = signed(CLAIMS | changes, KEYS["ES256"])

    with pytest.raises(InvalidClient):
        await robot.authenticator.authenticate(asserted(assertion), TENANT)


LEGACY = [
    pytest.param(f"{TENANT.issuer}oidc/token", id="the token endpoint"),
    pytest.param(f"{TENANT.issuer}oidc/bc-authorize", id="the backchannel endpoint"),
    pytest.param(["https://other.example.com", TENANT.issuer], id="several"),
]


@pytest.mark.parametrize("audience", LEGACY)
async def test_legacy_audiences_prove_a_client_only_where_they_are_switched_on(
    robot: Provider, audience: object
) -> None:
    assertion = signed(CLAIMS | {"aud": audience}, KEYS["ES256"])
    legacy = ClientAuthenticator(
        robot.clients,
        robot.secrets,
        assertions=ClientAssertions(
            ClientKeys(PublishedKeys(robot.documents, robot.clock)),
            SingleUse(robot.records),
            robot.clock,
            config=ClientAuthenticationConfig(legacy_audiences=True),
        ),
        certificates=ClientCertificates(ClientKeys(PublishedKeys(robot.documents, robot.clock)), robot.clock),
        clock=robot.clock,
    )

    with pytest.raises(InvalidClient):
        await robot.authenticator.authenticate(asserted(assertion), TENANT)
    assert await legacy.authenticate(asserted(assertion), TENANT)


async def test_an_assertion_is_good_once(robot: Provider) -> None:
    assertion = asserted(signed(CLAIMS, KEYS["ES256"]))
    await robot.authenticator.authenticate(assertion, TENANT)

    with pytest.raises(InvalidClient):
        await robot.authenticator.authenticate(assertion, TENANT)


async def test_an_assertion_of_an_unregistered_key_proves_nothing(robot: Provider) -> None:
    assertion = signed(CLAIMS, ECKey.generate_key("P-256"))

    with pytest.raises(InvalidClient):
        await robot.authenticator.authenticate(asserted(assertion), TENANT)


async def test_an_assertion_is_about_the_client_that_the_request_names(robot: Provider) -> None:
    with pytest.raises(InvalidClient):
        await robot.authenticator.authenticate(asserted(signed(CLAIMS, KEYS["ES256"]), "app"), TENANT)


async def test_published_keys_are_read_once_and_again_when_a_new_one_is_named(provider: Provider) -> None:
    before = ECKey.generate_key("P-256", {"kid": "before"})
    after = ECKey.generate_key("P-256", {"kid": "after"})
    uri = "https://robot.example.com/keys"
    provider.documents.texts[uri] = key_set(before)
    await provider.add_client(
        replace(
            app(provider.secrets),
            id="robot",
            jwks_uri=uri,
            token_endpoint_auth_method=AuthenticationMethod.PRIVATE_KEY_JWT,
        )
    )

    async def prove(jti: str, key: ECKey) -> None:
        header = {"alg": "ES256", "kid": key.kid}
        assertion = jws.serialize_compact(header, msgspec.json.encode(CLAIMS | {"jti": jti}), key)
        await provider.authenticator.authenticate(asserted(assertion), TENANT)

    await prove("1", before)
    await prove("2", before)
    provider.documents.texts[uri] = key_set(before, after)
    await prove("3", after)
    with pytest.raises(InvalidClient):
        await prove("4", ECKey.generate_key("P-256", {"kid": "invented"}))
    with pytest.raises(InvalidClient):
        await prove("5", ECKey.generate_key("P-256", {"kid": "invented too"}))

    assert provider.documents.asked == [uri, uri, uri]
