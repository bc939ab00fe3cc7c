from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.tokens.token_set import TOKEN_SETS
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.signed_jwt import parse
from identity.foundation.errors import InvalidClient, InvalidRequest, InvalidToken, UnsupportedTokenType
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from tests.identity.protocol.provider import ACME, ADA, AS_APP, NOON, SECRET, TENANT, Provider, app

NOW = int(NOON.timestamp())
INACTIVE = {"active": False}
AS_OTHER = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, "other", SECRET)


@pytest.fixture(autouse=True)
async def other(provider: Provider) -> None:
    await provider.add_client(replace(app(provider.secrets), id="other"))


async def test_an_access_token_that_is_good_is_described(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=("openid", "email"))

    found = await provider.introspection.for_client(TENANT, AS_OTHER, token=issued.access_token)

    claims = await provider.claims(issued.access_token)
    assert {
        "active": True,
        "token_type": "Bearer",
        "iss": TENANT.issuer,
        "sub": ADA.id,
        "aud": "app",
        "client_id": "app",
        "username": "ada",
        "scope": "openid email",
        "sid": "s" * 32,
        "roles": ("engineer",),
        "jti": claims["jti"],
        "iat": NOW,
        "nbf": NOW,
        "exp": NOW + 1800,
    } == found


async def test_a_refresh_token_is_described_to_its_own_client_and_not_used_up(provider: Provider) -> None:
    issued = await provider.sign_in()

    own = await provider.introspection.for_client(TENANT, AS_APP, token=issued.refresh_token)
    others = await provider.introspection.for_client(TENANT, AS_OTHER, token=issued.refresh_token)

    assert (own["active"], own["token_type"], own["exp"]) == (True, "refresh_token", NOW + 48 * 3600)
    assert others == INACTIVE
    assert (await provider.refresh(issued.refresh_token)).access_token


async def expire(provider: Provider, _token: str) -> None:
    provider.clock.advance(timedelta(minutes=31))


async def revoke(provider: Provider, token: str) -> None:
    await provider.revocation.revoke(TENANT, AS_APP, token=token)


async def disable_the_person(provider: Provider, _token: str) -> None:
    await provider.change_user(is_enabled=False)


async def end_the_account(provider: Provider, _token: str) -> None:
    await provider.change_user(valid_until=provider.clock.now())


async def disable_the_client(provider: Provider, _token: str) -> None:
    await provider.change_client(is_enabled=False)


async def end_the_session(provider: Provider, _token: str) -> None:
    await provider.sets.remove_of_session(TENANT, "s" * 32)


async def end_all_of_the_person(provider: Provider, _token: str) -> None:
    await provider.sets.remove_of_user(TENANT, ADA.id)


async def end_all_of_the_client(provider: Provider, _token: str) -> None:
    await provider.records.of(TOKEN_SETS).remove(TENANT.tenant_id, "client_id", "app")


ENDINGS = [
    expire,
    revoke,
    disable_the_person,
    end_the_account,
    disable_the_client,
    end_the_session,
    end_all_of_the_person,
    end_all_of_the_client,
]


@pytest.mark.parametrize("end", ENDINGS)
async def test_of_a_token_that_has_ended_nothing_is_said(
    provider: Provider, end: Callable[[Provider, str], Awaitable[None]]
) -> None:
    issued = await provider.sign_in()
    await end(provider, issued.access_token)

    assert await provider.introspection.for_client(TENANT, AS_OTHER, token=issued.access_token) == INACTIVE


async def test_of_what_is_no_access_token_nothing_is_said(provider: Provider) -> None:
    issued = await provider.sign_in()

    for token in ("", "nonsense", issued.id_token, "x" * 4096):
        assert await provider.introspection.for_client(TENANT, AS_APP, token=token) == INACTIVE


async def test_of_a_token_of_another_tenant_nothing_is_said(provider: Provider) -> None:
    await provider.change_client("other", tenant_ids=(ACME.tenant_id,))
    issued = await provider.sign_in()

    assert await provider.introspection.for_client(ACME, AS_OTHER, token=issued.access_token) == INACTIVE


async def test_whoever_asks_proves_who_it_is_before_the_token_is_looked_at(provider: Provider) -> None:
    with pytest.raises(InvalidClient):
        await provider.introspection.for_client(TENANT, replace(AS_APP, client_secret=""), token="nonsense")


async def test_a_public_client_may_not_ask(provider: Provider) -> None:
    await provider.change_client(secret_hash=None, token_endpoint_auth_method=AuthenticationMethod.NONE)
    as_public = ClientCredentials(AuthenticationMethod.NONE, "app")

    with pytest.raises(InvalidClient):
        await provider.introspection.for_client(TENANT, as_public, token="nonsense")


async def test_an_access_token_lets_its_holder_ask(provider: Provider) -> None:
    bearer = (await provider.ask(GrantType.CLIENT_CREDENTIALS)).access_token
    issued = await provider.sign_in()

    found = await provider.introspection.for_bearer(TENANT, bearer, token=issued.access_token)

    assert found["active"]
    assert await provider.introspection.for_bearer(TENANT, bearer, token="nonsense") == INACTIVE


async def test_a_token_that_does_not_hold_lets_nobody_ask(provider: Provider) -> None:
    with pytest.raises(InvalidToken):
        await provider.introspection.for_bearer(TENANT, "nonsense", token="nonsense")


async def test_a_revoked_refresh_token_takes_its_access_tokens_with_it(provider: Provider) -> None:
    issued = await provider.sign_in()

    await revoke(provider, issued.refresh_token)

    assert not await provider.is_active(issued.access_token)
    assert not await provider.is_active(issued.refresh_token)


async def test_a_revoked_access_token_leaves_the_others(provider: Provider) -> None:
    first = await provider.sign_in()
    second = await provider.refresh(first.refresh_token)

    await revoke(provider, first.access_token)

    assert not await provider.is_active(first.access_token)
    assert await provider.is_active(second.access_token)


async def test_a_revoked_token_is_not_good_again_within_the_tolerance_of_clocks(provider: Provider) -> None:
    issued = await provider.sign_in()
    await revoke(provider, issued.access_token)

    provider.clock.advance(timedelta(seconds=1802))

    assert not await provider.is_active(issued.access_token)


async def test_revoking_twice_and_revoking_nonsense_succeed(provider: Provider) -> None:
    issued = await provider.sign_in()

    for token in (issued.access_token, issued.access_token, issued.refresh_token, issued.refresh_token, "x"):
        await revoke(provider, token)

    assert not await provider.is_active(issued.access_token)


async def test_nobody_revokes_the_tokens_of_another_client(provider: Provider) -> None:
    issued = await provider.sign_in()

    for token in (issued.access_token, issued.refresh_token):
        await provider.revocation.revoke(TENANT, AS_OTHER, token=token)

    assert await provider.is_active(issued.access_token)
    assert (await provider.refresh(issued.refresh_token)).access_token


async def test_an_id_token_cannot_be_revoked(provider: Provider) -> None:
    issued = await provider.sign_in()

    with pytest.raises(UnsupportedTokenType):
        await revoke(provider, issued.id_token)


async def test_a_revocation_needs_a_token_and_its_client(provider: Provider) -> None:
    with pytest.raises(InvalidRequest):
        await revoke(provider, "")
    with pytest.raises(InvalidClient):
        await provider.revocation.revoke(TENANT, replace(AS_APP, client_secret="wrong"), token="x")


async def test_a_signed_response_is_for_its_caller_and_no_token(provider: Provider) -> None:
    await provider.change_client("other", introspection_signed_response_alg=SigningAlgorithm.ES256)
    issued = await provider.sign_in(oauth_scopes=("openid", "email"))

    jwt = await provider.introspection.signed_for_client(TENANT, AS_OTHER, token=issued.access_token)

    found = await provider.introspection.for_client(TENANT, AS_OTHER, token=issued.access_token)
    header, claims = parse(jwt).header, await provider.claims(jwt)
    assert (header["typ"], header["alg"]) == ("token-introspection+jwt", "ES256")
    assert claims == {
        "iss": TENANT.issuer,
        "aud": "other",
        "iat": NOW,
        "token_introspection": {**found, "roles": ["engineer"]},
    }
    assert not await provider.is_active(jwt)


async def test_a_signed_response_says_of_a_bad_token_that_it_is_inactive_and_no_more(
    provider: Provider,
) -> None:
    jwt = await provider.introspection.signed_for_client(TENANT, AS_APP, token="x")

    assert (await provider.claims(jwt))["token_introspection"] == INACTIVE
    assert parse(jwt).header["alg"] == "RS256"


async def test_a_signed_response_to_a_bearer_is_for_the_client_of_its_token(provider: Provider) -> None:
    bearer = (await provider.ask(GrantType.CLIENT_CREDENTIALS, credentials=AS_OTHER)).access_token
    issued = await provider.sign_in()

    jwt = await provider.introspection.signed_for_bearer(TENANT, bearer, token=issued.access_token)

    claims = await provider.claims(jwt)
    assert (claims["aud"], claims["token_introspection"]["sub"]) == ("other", ADA.id)
    with pytest.raises(InvalidToken):
        await provider.introspection.signed_for_bearer(TENANT, "x", token=issued.access_token)


async def test_a_public_client_gets_no_signed_response(provider: Provider) -> None:
    await provider.change_client("other", token_endpoint_auth_method=AuthenticationMethod.NONE)
    public = ClientCredentials(AuthenticationMethod.NONE, "other")

    with pytest.raises(InvalidClient):
        await provider.introspection.signed_for_client(TENANT, public, token="x")
