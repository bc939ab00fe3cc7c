import json
from datetime import timedelta

import pytest

from identity.access.tokens.claims import PERSON_CLAIMS, ClaimRule, Document, person_claims
from identity.access.tokens.id_token import at_hash
from identity.access.tokens.verification import verified
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.signed_jwt import parse
from identity.directory.user import User
from identity.foundation.errors import InvalidRequest, InvalidToken
from identity.foundation.vocabulary import AccessTokenTyp, GrantType
from server.platform.call import TenantId
from tests.identity.protocol.provider import ACME, ADA, NOON, TENANT, Provider

NOW = int(NOON.timestamp())
ALL = ("openid", "profile", "email", "address", "phone", "groups")


async def test_an_access_token_says_who_may_do_what_for_whom_and_until_when(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=("openid", "email", "groups"))

    claims = await provider.claims(issued.access_token)

    assert {
        "iss": TENANT.issuer,
        "sub": ADA.id,
        "aud": "app",
        "azp": "app",
        "iat": NOW,
        "nbf": NOW,
        "exp": NOW + 1800,
        "jti": claims["jti"],
        "typ": "Bearer",
        "scope": "openid email groups",
        "sid": "s" * 32,
        "email": "ada@example.com",
        "email_verified": True,
        "roles": ["engineer"],
        "groups": ["analysts", "writers"],
    } == claims


async def test_an_access_token_of_the_profile_says_who_asked_and_how_its_user_signed_in(
    provider: Provider,
) -> None:
    await provider.change_client(access_token_typ=AccessTokenTyp.RFC_9068)

    issued = await provider.sign_in()
    own = await provider.ask(GrantType.CLIENT_CREDENTIALS)

    claims = await provider.claims(issued.access_token)
    assert parse(issued.access_token).header["typ"] == parse(own.access_token).header["typ"] == "at+jwt"
    assert {"iss", "exp", "aud", "sub", "client_id", "iat", "jti"} <= claims.keys()
    assert {
        "client_id": "app",
        "auth_time": NOW,
        "amr": ["pwd"],
        "acr": "urn:example:pwd",
    }.items() <= claims.items()
    assert not {"auth_time", "amr", "acr"} & (await provider.claims(own.access_token)).keys()
    assert parse(issued.id_token).header["typ"] == "JWT"
    assert await provider.is_active(issued.access_token)


async def test_a_token_of_an_earlier_version_names_its_set_in_a_claim_and_ends_with_it(
    provider: Provider,
) -> None:
    issued = await provider.sign_in()
    claims = await provider.claims(issued.access_token)
    set_id, _, rest = claims["jti"].partition(".")
    key = (await provider.keys.key_set(TENANT.tenant_id)).signing_key(SigningAlgorithm.RS256)
    old = key.sign(json.dumps(claims | {"jti": rest, "set_id": set_id}).encode())
    was_active = await provider.is_active(old)

    await provider.sets.remove(TENANT, set_id)

    assert (was_active, await provider.is_active(old)) == (True, False)
    assert not await provider.is_active(issued.access_token)


async def test_an_id_token_says_who_signed_in_when_and_how(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=("openid",))

    claims = await provider.claims(issued.id_token)

    assert {
        "iss": TENANT.issuer,
        "sub": ADA.id,
        "aud": "app",
        "azp": "app",
        "iat": NOW,
        "nbf": NOW,
        "exp": NOW + 1800,
        "typ": "Id",
        "auth_time": NOW,
        "amr": ["pwd"],
        "acr": "urn:example:pwd",
        "sid": "s" * 32,
        "nonce": "n-0S6_WzA2Mj",
        "at_hash": at_hash(issued.access_token, SigningAlgorithm.RS256),
        "roles": ["engineer"],
    } == claims


PROFILE = {
    "name": "Ada Lovelace",
    "given_name": "Ada",
    "family_name": "Lovelace",
    "preferred_username": "ada",
    "locale": "en",
    "birthdate": "1815-12-10",
    "updated_at": NOW,
}
BY_SCOPE = [
    pytest.param("profile", PROFILE, id="profile"),
    pytest.param("email", {"email": "ada@example.com", "email_verified": True}, id="email"),
    pytest.param("address", {"address": {"formatted": "London", "locality": "London"}}, id="address"),
    pytest.param("phone", {"phone_number": "+44 20", "phone_number_verified": False}, id="phone"),
    pytest.param("groups", {"groups": ["analysts", "writers"]}, id="groups"),
]


@pytest.mark.parametrize(("scope", "opened"), BY_SCOPE)
async def test_a_scope_opens_its_claims(provider: Provider, scope: str, opened: dict[str, object]) -> None:
    bare = await provider.claims((await provider.sign_in(oauth_scopes=("openid",))).id_token)

    claims = await provider.claims((await provider.sign_in(oauth_scopes=("openid", scope))).id_token)

    assert opened == {name: claims[name] for name in claims.keys() - bare.keys()}


async def test_a_scope_that_only_contains_the_name_of_another_opens_nothing(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=("openid", "my_email_x"))

    assert "email" not in await provider.claims(issued.id_token)


async def test_the_claims_parameter_opens_single_claims_in_the_id_token(provider: Provider) -> None:
    asked = '{"id_token":{"given_name":null,"auth_time":{"essential":true}},"userinfo":{"email":null}}'

    issued = await provider.sign_in(oauth_scopes=("openid",), claims=asked)
    refreshed = await provider.refresh(issued.refresh_token)

    for token in (issued.id_token, refreshed.id_token):
        claims = await provider.claims(token)
        assert claims["given_name"] == "Ada"
        assert not {"email", "family_name"} & claims.keys()


async def test_a_deployment_adds_claims_by_rows() -> None:
    def cost_centre(user: User) -> object:
        return f"{user.given_name}-1"

    row = ClaimRule("cost_centre", "billing", frozenset({Document.ACCESS_TOKEN}), cost_centre)
    rules = (*PERSON_CLAIMS, row)

    opened, closed = (
        person_claims(
            ADA, document, issuer=TENANT.issuer, subject=ADA.id, oauth_scopes=("billing",), rules=rules
        )
        for document in (Document.ACCESS_TOKEN, Document.ID_TOKEN)
    )

    assert opened == {"roles": ("engineer",), "cost_centre": "Ada-1"}
    assert "cost_centre" not in closed


async def test_a_client_chooses_the_algorithms_of_its_tokens(provider: Provider) -> None:
    await provider.change_client(
        access_token_signed_response_alg=SigningAlgorithm.ES256,
        id_token_signed_response_alg=SigningAlgorithm.EDDSA,
    )

    issued = await provider.sign_in()

    assert parse(issued.access_token).header["alg"] == "ES256"
    assert parse(issued.id_token).header["alg"] == "EdDSA"
    claims = await provider.claims(issued.id_token)
    assert claims["at_hash"] == at_hash(issued.access_token, SigningAlgorithm.EDDSA)


# The example of OpenID Connect Core 1.0 §A.3, and the lengths of half a hash in base64url.
AT_HASHES = [
    pytest.param(SigningAlgorithm.RS256, 22, id="RS256"),
    pytest.param(SigningAlgorithm.ES256, 22, id="ES256"),
    pytest.param(SigningAlgorithm.RS384, 32, id="RS384"),
    pytest.param(SigningAlgorithm.RS512, 43, id="RS512"),
    pytest.param(SigningAlgorithm.EDDSA, 43, id="EdDSA"),
]


@pytest.mark.parametrize(("algorithm", "length"), AT_HASHES)
def test_the_hash_of_the_access_token_is_that_of_the_signature(
    algorithm: SigningAlgorithm, length: int
) -> None:
    assert len(at_hash("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", algorithm)) == length


def test_the_hash_of_the_access_token_is_that_of_the_standards_example() -> None:
    hashed = at_hash("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", SigningAlgorithm.RS256)

    assert hashed == "77QmUPtjPfzWtF2AnpK9RQ"


async def test_tokens_of_a_person_in_a_hundred_groups_stay_within_the_length(provider: Provider) -> None:
    await provider.change_user(groups=tuple(f"department-{number:03}" for number in range(100)))

    issued = await provider.sign_in(oauth_scopes=("openid", "email", "groups"))

    assert max(len(issued.access_token), len(issued.id_token)) <= 4096


async def test_a_token_that_no_receiver_would_take_is_not_issued(provider: Provider) -> None:
    await provider.change_user(groups=tuple(f"department-{number:03}" for number in range(400)))

    with pytest.raises(InvalidRequest):
        await provider.sign_in(oauth_scopes=("openid", "groups"))


@pytest.mark.parametrize("tenant_ids", [(TENANT.tenant_id,), (TENANT.tenant_id, ACME.tenant_id)])
async def test_a_token_of_the_default_tenant_is_bound_to_none(
    provider: Provider, tenant_ids: tuple[TenantId, ...]
) -> None:
    await provider.change_user(tenant_ids=tenant_ids)

    issued = await provider.sign_in()

    assert "tid" not in await provider.claims(issued.access_token)


async def test_a_nonce_comes_back_as_it_was(provider: Provider) -> None:
    nonce = "ñ/+=&" * 80

    issued = await provider.sign_in(nonce=nonce)

    assert (await provider.claims(issued.id_token))["nonce"] == nonce


async def test_without_a_nonce_there_is_none(provider: Provider) -> None:
    issued = await provider.sign_in(nonce="")

    assert "nonce" not in await provider.claims(issued.id_token)


async def test_an_expired_token_is_still_one_of_ours(provider: Provider) -> None:
    issued = await provider.sign_in()
    provider.clock.advance(timedelta(days=1))

    assert (await verified(issued.id_token, TENANT, provider.keys))["sub"] == ADA.id


@pytest.mark.parametrize("spoil", [lambda t: f"{t}x", lambda t: t[:-5], lambda _: "x", lambda t: t * 10])
async def test_what_this_provider_did_not_sign_is_none_of_ours(provider: Provider, spoil: object) -> None:
    issued = await provider.ask(GrantType.CLIENT_CREDENTIALS)
    assert callable(spoil)

    with pytest.raises(InvalidToken):
        await verified(spoil(issued.access_token), TENANT, provider.keys)


async def test_a_token_of_one_tenant_is_none_of_anothers(provider: Provider) -> None:
    issued = await provider.ask(GrantType.CLIENT_CREDENTIALS)

    with pytest.raises(InvalidToken):
        await verified(issued.access_token, ACME, provider.keys)
