"""Token exchange: RFC 8693. The client `app` signs users in; `api` gets its tokens and acts for these users."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from joserfc.jwk import ECKey

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.dpop.config import DpopConfig
from identity.access.tokens.token_set import TOKEN_SETS
from identity.directory.user import USERS, UserId
from identity.foundation.errors import (
    InvalidDpopProof,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    UnauthorizedClient,
)
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, TokenType
from identity.protocol.grants.grant import ExchangeRequest, TypedToken
from identity.protocol.grants.pipeline import IssuedTokens
from identity.protocol.grants.token_exchange import ACCESS_TOKEN, MAX_ACTORS
from server.platform.records import RecordStore
from tests.identity.protocol.provider import ADA, NOON, SECRET, SIGNED_IN, TENANT, Provider, app
from tests.identity.protocol.test_dpop import KEY, proof

NOW = int(NOON.timestamp())
REFRESH_TOKEN = "urn:ietf:params:oauth:token-type:refresh_token"


async def populated(provider: Provider) -> Provider:
    for name in ("api", "next", "stranger"):
        await provider.add_client(
            replace(app(provider.secrets), id=name, allowed_resources=(f"https://{name}.example.com",))
        )
    await provider.change_client("app", may_act=("api",))
    await provider.change_client("api", may_act=("next",))
    return provider


@pytest.fixture
async def exchanging(provider: Provider) -> Provider:
    return await populated(provider)


@pytest.fixture
def relaxed(exchanging: Provider) -> Provider:
    """A provider that requires no nonce."""
    return Provider(
        exchanging.records, exchanging.clock, exchanging.keys, dpop=DpopConfig(nonce_lifetime_secs=0)
    )


def as_client(client_id: str) -> ClientCredentials:
    return ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, client_id, SECRET)


async def exchanged(
    provider: Provider,
    token: str,
    *,
    by: str = "api",
    actor: TypedToken = TypedToken(),  # noqa: B008  # immutable
    token_type: str = ACCESS_TOKEN,
    requested: str = "",
    **fields: Any,
) -> IssuedTokens:
    exchange = ExchangeRequest(
        subject=TypedToken(token, token_type), actor=actor, requested_token_type=requested
    )
    return await provider.ask(
        GrantType.TOKEN_EXCHANGE, credentials=as_client(by), exchange=exchange, **fields
    )


async def token_of_ada(provider: Provider, **code: Any) -> str:
    default = {"oauth_scopes": ("openid", "email", "offline_access", "job:work")}
    return (await provider.sign_in(**default | code)).access_token


async def test_a_client_that_may_act_gets_a_token_of_the_user_that_names_it(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging)

    issued = await exchanged(exchanging, token, resources=("https://api.example.com",))

    claims, before = await exchanging.claims(issued.access_token), await exchanging.claims(token)
    assert (claims["sub"], claims["azp"], claims["act"]) == (ADA.id, "api", {"sub": "api"})
    assert claims["aud"] == ["api", "https://api.example.com"]
    assert claims["scope"] == "email job:work"
    assert (claims["jti"] != before["jti"], claims["sid"]) == (True, before["sid"])
    assert issued.issued_token_type == ACCESS_TOKEN
    assert (issued.id_token, issued.refresh_token) == ("", "")


async def test_introspection_names_the_actor(exchanging: Provider) -> None:
    issued = await exchanged(exchanging, await token_of_ada(exchanging))

    found = await exchanging.introspection.for_client(TENANT, as_client("api"), token=issued.access_token)

    assert msgspec.to_builtins(found["act"]) == {"sub": "api"}
    assert (found["active"], found["sub"], found["client_id"]) == (True, ADA.id, "api")


async def test_actors_are_a_chain_whose_last_one_stands_first(exchanging: Provider) -> None:
    first = await exchanged(exchanging, await token_of_ada(exchanging))

    second = await exchanged(exchanging, first.access_token, by="next")

    claims = await exchanging.claims(second.access_token)
    assert claims["act"] == {"sub": "next", "act": {"sub": "api"}}


async def test_a_chain_has_so_many_actors_and_no_more(exchanging: Provider) -> None:
    await exchanging.change_client("next", may_act=("api",))
    token = await token_of_ada(exchanging)
    for number in range(MAX_ACTORS):
        token = (await exchanged(exchanging, token, by=("api", "next")[number % 2])).access_token

    with pytest.raises(InvalidRequest):
        await exchanged(exchanging, token, by=("api", "next")[MAX_ACTORS % 2])


async def test_a_client_narrows_its_own_token_and_is_no_actor(exchanging: Provider) -> None:
    issued = await exchanged(exchanging, await token_of_ada(exchanging), by="app", oauth_scopes=("job:work",))

    claims = await exchanging.claims(issued.access_token)
    assert (claims["scope"], "act" in claims) == ("job:work", False)


@pytest.mark.parametrize("by", ["stranger", "next"])
async def test_a_client_that_the_tokens_client_does_not_name_may_not_act(
    exchanging: Provider, by: str
) -> None:
    token = await token_of_ada(exchanging)

    with pytest.raises(InvalidRequest, match="act for its users"):
        await exchanged(exchanging, token, by=by)


async def test_the_rule_is_that_of_now(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging)
    await exchanging.change_client("app", may_act=())

    with pytest.raises(InvalidRequest):
        await exchanged(exchanging, token)


async def test_no_scope_is_gained(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging, oauth_scopes=("openid", "email"))
    await exchanging.change_client("api", oauth_scopes=("openid", "job:work"))

    with pytest.raises(InvalidScope):
        await exchanged(exchanging, token, oauth_scopes=("job:work",))
    with pytest.raises(InvalidScope):
        await exchanged(exchanging, token, oauth_scopes=("email",))
    with pytest.raises(InvalidScope):
        await exchanged(exchanging, token, oauth_scopes=("openid",))
    assert (await exchanged(exchanging, token)).oauth_scopes == ()


async def test_targets_are_those_of_the_client_that_acts(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging)
    await exchanging.change_client("api", default_aud=("ledger",))

    issued = await exchanged(exchanging, token, audience="https://api.example.com")

    assert (await exchanging.claims(issued.access_token))["aud"] == [
        "api",
        "ledger",
        "https://api.example.com",
    ]
    for target in ({"audience": "https://next.example.com"}, {"resources": ("https://next.example.com",)}):
        with pytest.raises(InvalidTarget):
            await exchanged(exchanging, token, **target)


async def test_the_new_token_expires_with_the_old_one_at_the_latest(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging)
    exchanging.clock.advance(timedelta(seconds=1000))

    issued = await exchanged(exchanging, token)
    await exchanging.change_client("api", access_token_lifetime=timedelta(seconds=60))
    brief = await exchanged(exchanging, token)

    assert issued.lifetime == timedelta(seconds=800)
    assert (await exchanging.claims(issued.access_token))["exp"] == NOW + 1800
    assert brief.lifetime == timedelta(seconds=60)


@pytest.mark.parametrize(("seconds", "is_good"), [(1799, True), (1800, False)])
async def test_an_expired_token_is_not_exchanged(
    exchanging: Provider,
    seconds: int,
    is_good: bool,  # noqa: FBT001
) -> None:
    token = await token_of_ada(exchanging)
    exchanging.clock.advance(timedelta(seconds=seconds))

    if is_good:
        assert (await exchanged(exchanging, token)).lifetime == timedelta(seconds=1)
    else:
        with pytest.raises(InvalidRequest, match="expired"):
            await exchanged(exchanging, token)


async def test_it_ends_with_the_token_set_and_makes_none(exchanging: Provider, records: RecordStore) -> None:
    token = await token_of_ada(exchanging)
    issued = await exchanged(exchanging, token)
    sets = await records.of(TOKEN_SETS).page(TENANT.tenant_id)
    was_active = await exchanging.is_active(issued.access_token)

    await exchanging.sets.remove(TENANT, sets[0].id)

    assert (len(sets), was_active) == (1, True)
    assert not await exchanging.is_active(issued.access_token)
    with pytest.raises(InvalidRequest):
        await exchanged(exchanging, token)


async def test_an_actor_token_of_the_client_names_the_actor(exchanging: Provider) -> None:
    own = await exchanging.ask(GrantType.CLIENT_CREDENTIALS, credentials=as_client("api"))

    issued = await exchanged(
        exchanging, await token_of_ada(exchanging), actor=TypedToken(own.access_token, ACCESS_TOKEN)
    )

    assert (await exchanging.claims(issued.access_token))["act"] == {"sub": "api"}


async def test_a_user_at_the_client_can_be_the_actor(exchanging: Provider, records: RecordStore) -> None:
    bob = replace(ADA, id="bob" * 8, email="bob@example.com", preferred_username="bob")
    await records.of(USERS).insert(bob)
    code = await exchanging.code(
        client_id="api", authentication=replace(SIGNED_IN, user_id=UserId(bob.id)), oauth_scopes=("email",)
    )
    signed_in = await exchanging.redeem(code, credentials=as_client("api"))

    issued = await exchanged(
        exchanging, await token_of_ada(exchanging), actor=TypedToken(signed_in.access_token, ACCESS_TOKEN)
    )

    claims = await exchanging.claims(issued.access_token)
    assert (claims["sub"], claims["act"]) == (ADA.id, {"sub": bob.id, "client_id": "api"})


async def test_an_actor_token_of_another_client_or_of_a_chain_is_refused(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging)
    of_another = await exchanging.ask(GrantType.CLIENT_CREDENTIALS)
    of_a_chain = await exchanged(exchanging, token)

    for actor in (of_another, of_a_chain):
        with pytest.raises(InvalidRequest, match="actor_token"):
            await exchanged(exchanging, token, actor=TypedToken(actor.access_token, ACCESS_TOKEN))


async def test_a_token_of_a_client_in_its_own_name_is_not_exchanged(exchanging: Provider) -> None:
    own = await exchanging.ask(GrantType.CLIENT_CREDENTIALS)

    with pytest.raises(InvalidRequest, match="of a user"):
        await exchanged(exchanging, own.access_token)


async def test_other_tokens_are_not_taken_for_access_tokens(exchanging: Provider) -> None:
    issued = await exchanging.sign_in()
    other_key = ECKey.generate_key("P-256")
    forged = proof(key=other_key).proof

    for text in (issued.id_token, issued.refresh_token, forged, "x", ""):
        with pytest.raises(InvalidRequest):
            await exchanged(exchanging, text)


@pytest.mark.parametrize(
    "fields",
    [
        {"token_type": REFRESH_TOKEN},
        {"token_type": ""},
        {"requested": REFRESH_TOKEN},
        {"actor": TypedToken("x", "")},
        {"actor": TypedToken("", ACCESS_TOKEN)},
        {"actor": TypedToken("x", ACCESS_TOKEN)},
    ],
)
async def test_types_of_tokens_are_checked(exchanging: Provider, fields: dict[str, Any]) -> None:
    token = await token_of_ada(exchanging)

    with pytest.raises(InvalidRequest):
        await exchanged(exchanging, token, **fields)
    assert (await exchanged(exchanging, token, requested=ACCESS_TOKEN)).access_token


async def test_the_user_has_to_be_one_whom_the_client_takes(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging)
    await exchanging.change_client("api", requires_mfa=True)
    with pytest.raises(InvalidRequest, match="second factor"):
        await exchanged(exchanging, token)

    await exchanging.change_client("api", requires_mfa=False, restrict_group_prefix="nobody")

    with pytest.raises(InvalidRequest, match="groups"):
        await exchanged(exchanging, token)


async def test_a_disabled_user_and_a_disabled_client_end_it(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging)
    await exchanging.change_client("app", is_enabled=False)
    with pytest.raises(InvalidRequest, match="revoked"):
        await exchanged(exchanging, token)
    await exchanging.change_client("app", is_enabled=True)

    await exchanging.change_user(is_enabled=False)

    with pytest.raises(InvalidRequest, match="revoked"):
        await exchanged(exchanging, token)


async def test_the_grant_is_for_confidential_clients_that_have_it(exchanging: Provider) -> None:
    token = await token_of_ada(exchanging)
    await exchanging.change_client("api", grant_types=frozenset({GrantType.CLIENT_CREDENTIALS}))
    with pytest.raises(UnauthorizedClient):
        await exchanged(exchanging, token)

    await exchanging.change_client(
        "api", grant_types=frozenset(GrantType), token_endpoint_auth_method=AuthenticationMethod.NONE
    )

    with pytest.raises(UnauthorizedClient):
        await exchanged(exchanging, token)


async def test_a_bound_token_is_exchanged_by_its_key_alone_and_stays_bound(relaxed: Provider) -> None:
    bound = await relaxed.redeem(await relaxed.code(), dpop=proof())

    with pytest.raises(InvalidDpopProof):
        await exchanged(relaxed, bound.access_token)
    with pytest.raises(InvalidDpopProof):
        await exchanged(relaxed, bound.access_token, dpop=proof(key=ECKey.generate_key("P-256")))
    issued = await exchanged(relaxed, bound.access_token, dpop=proof(jti="2"))

    assert issued.token_type is TokenType.DPOP
    assert (await relaxed.claims(issued.access_token))["cnf"] == {"jkt": KEY.thumbprint()}
