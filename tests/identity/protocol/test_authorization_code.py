from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.foundation.errors import (
    InvalidGrant,
    InvalidRequest,
    InvalidTarget,
    ProtocolError,
    UnauthorizedClient,
)
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, TokenType
from tests.identity.protocol.provider import ADA, NOON, TENANT, VERIFIER, Provider, app, challenge_of


async def test_a_code_becomes_an_access_token_an_id_token_and_a_refresh_token(provider: Provider) -> None:
    issued = await provider.redeem(await provider.code())

    assert (TokenType.BEARER, timedelta(minutes=30)) == (issued.token_type, issued.lifetime)
    assert issued.oauth_scopes == ("openid", "profile", "email")
    assert ADA.id == (await provider.claims(issued.access_token))["sub"]
    assert ADA.id == (await provider.claims(issued.id_token))["sub"]
    assert issued.refresh_token


async def test_without_openid_there_is_no_id_token(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=("email",))

    assert not issued.id_token


async def test_a_client_that_may_not_refresh_gets_no_refresh_token(provider: Provider) -> None:
    await provider.change_client(grant_types=frozenset({GrantType.AUTHORIZATION_CODE}))

    issued = await provider.sign_in()

    assert not issued.refresh_token
    assert await provider.is_active(issued.access_token)


WRONG = [
    pytest.param({"redirect_uri": "https://app.example.com/callback/"}, {}, id="another redirect URI"),
    pytest.param({"code": "x" * 64}, {}, id="unknown code"),
    pytest.param({"code_verifier": ""}, {}, id="no verifier"),
    pytest.param({"code_verifier": "w" * 43}, {}, id="wrong verifier"),
    pytest.param(
        {"code_verifier": "v" * 42}, {"code_challenge": challenge_of("v" * 42)}, id="verifier too short"
    ),
    pytest.param(
        {"code_verifier": "v" * 129}, {"code_challenge": challenge_of("v" * 129)}, id="verifier too long"
    ),
    pytest.param(
        {"code_verifier": "v" * 42 + "+"},
        {"code_challenge": challenge_of("v" * 42 + "+")},
        id="verifier of other characters",
    ),
    pytest.param({}, {"code_challenge": VERIFIER}, id="plain challenge"),
    pytest.param({}, {"code_challenge": ""}, id="verifier that nobody asked for"),
    pytest.param({}, {"client_id": "another"}, id="code of another client"),
    pytest.param({}, {"redeemable_until": int(NOON.timestamp())}, id="expired code"),
]


@pytest.mark.parametrize(("request_fields", "code_fields"), WRONG)
async def test_a_code_is_bound_to_all_that_its_request_was(
    provider: Provider, request_fields: dict[str, str], code_fields: dict[str, str]
) -> None:
    code = await provider.code(**code_fields)

    with pytest.raises(InvalidGrant):
        await provider.redeem(**{"code": code} | request_fields)


REFUSALS = [
    pytest.param(InvalidRequest, {"code": ""}, id="missing code"),
    pytest.param(InvalidRequest, {"redirect_uri": ""}, id="missing redirect URI"),
    pytest.param(InvalidTarget, {"resources": ("https://other.example.com",)}, id="resource not granted"),
]


@pytest.mark.parametrize(("error", "fields"), REFUSALS)
async def test_a_refusal_has_the_code_of_its_rfc(
    provider: Provider, error: type[ProtocolError], fields: dict[str, object]
) -> None:
    code = await provider.code()

    with pytest.raises(error):
        await provider.redeem(**{"code": code} | fields)


async def test_what_was_refused_does_not_use_the_code_up(provider: Provider) -> None:
    code = await provider.code()
    with pytest.raises(InvalidGrant):
        await provider.redeem(code, code_verifier="w" * 43)

    issued = await provider.redeem(code)

    assert issued.access_token


async def test_a_code_that_is_presented_again_takes_back_what_came_of_it(provider: Provider) -> None:
    code = await provider.code()
    issued = await provider.redeem(code)

    with pytest.raises(InvalidGrant):
        await provider.redeem(code)

    assert not await provider.is_active(issued.access_token)
    with pytest.raises(InvalidGrant):
        await provider.refresh(issued.refresh_token)


async def test_a_replay_is_told_of(provider: Provider) -> None:
    code = await provider.code()
    await provider.redeem(code)

    with pytest.raises(InvalidGrant):
        await provider.redeem(code)

    (told,) = await provider.records.of(EVENTS).page(TENANT.tenant_id)
    assert (told.type, told.client_id, told.user_id) == (EventType.CODE_REPLAY, "app", ADA.id)
    assert code not in repr(told)


async def test_that_a_token_was_issued_is_told_only_where_it_is_asked_for(provider: Provider) -> None:
    await provider.sign_in()
    telling = replace(provider, events=EventsConfig(generate_token_issued=True))
    before = await provider.records.of(EVENTS).page(TENANT.tenant_id)

    await telling.sign_in()

    (told,) = await provider.records.of(EVENTS).page(TENANT.tenant_id)
    assert before == []
    assert (told.type, told.text) == (EventType.TOKEN_ISSUED, f"authorization_code / app / {ADA.id}")


async def test_a_replay_is_still_known_after_the_code_expired(provider: Provider) -> None:
    code = await provider.code()
    issued = await provider.redeem(code)
    provider.clock.advance(timedelta(seconds=90))

    with pytest.raises(InvalidGrant):
        await provider.redeem(code)

    assert not await provider.is_active(issued.access_token)


async def test_another_client_that_presents_a_used_code_takes_nothing_back(provider: Provider) -> None:
    code = await provider.code()
    issued = await provider.redeem(code)
    await provider.add_client(replace(app(provider.secrets), id="other"))
    as_other = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_POST, "other", "s3cret-of-the-app")

    with pytest.raises(InvalidGrant):
        await provider.redeem(code, credentials=as_other)

    assert await provider.is_active(issued.access_token)


async def test_the_scope_of_a_code_was_settled_before(provider: Provider) -> None:
    issued = await provider.redeem(await provider.code(), oauth_scopes=("openid", "groups", "unknown"))

    assert issued.oauth_scopes == ("openid", "profile", "email")


async def test_a_resource_that_was_granted_becomes_an_audience(provider: Provider) -> None:
    granted = ("https://api.example.com", "https://files.example.com")
    code = await provider.code(resources=granted)

    issued = await provider.redeem(code, resources=granted[:1])

    assert (await provider.claims(issued.access_token))["aud"] == ["app", "https://api.example.com"]


async def test_a_public_client_needs_a_challenge(provider: Provider) -> None:
    await provider.change_client(
        secret_hash=None, token_endpoint_auth_method=AuthenticationMethod.NONE, requires_pkce=False
    )
    as_public = ClientCredentials(AuthenticationMethod.NONE, "app")

    with pytest.raises(InvalidGrant):
        await provider.redeem(await provider.code(code_challenge=""), code_verifier="", credentials=as_public)

    assert (await provider.redeem(await provider.code(), credentials=as_public)).access_token


async def test_a_disabled_person_gets_nothing(provider: Provider) -> None:
    code = await provider.code()
    await provider.change_user(is_enabled=False)

    with pytest.raises(InvalidGrant):
        await provider.redeem(code)


async def test_a_person_outside_the_groups_of_a_client_gets_nothing(provider: Provider) -> None:
    await provider.change_client(restrict_group_prefix="admin")

    with pytest.raises(InvalidGrant):
        await provider.sign_in()


async def test_a_client_may_not_use_a_grant_that_it_is_not_registered_for(provider: Provider) -> None:
    await provider.change_client(grant_types=frozenset())

    with pytest.raises(UnauthorizedClient):
        await provider.sign_in()
