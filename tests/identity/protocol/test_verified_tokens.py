"""The signature of an access token is verified once; all that can end the token is looked up each time."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from identity.access.tokens.verified_tokens import VerifiedTokens
from identity.crypto.jose.key_set import KeySet
from identity.foundation.errors import InvalidToken
from server.platform.call import TenantId
from tests.identity.protocol.provider import ACME, AS_APP, TENANT, Provider, app


@dataclass
class Keys:
    """The key set of the provider; `lookups` counts how often it is asked for."""

    keys: KeySet
    lookups: int = 0

    async def key_set(self, _tenant_id: TenantId, /) -> KeySet:
        self.lookups += 1
        return self.keys


@pytest.fixture
async def published(provider: Provider) -> Keys:
    return Keys(await provider.keys.key_set(TENANT.tenant_id))


async def test_a_token_is_verified_once_with_the_same_keys(provider: Provider, published: Keys) -> None:
    token = (await provider.sign_in()).access_token
    tokens = VerifiedTokens(published)

    found = [await tokens.claims(token, TENANT) for _ in range(3)]

    assert found[0] is found[1] is found[2]
    # One for each call, and one for the verification.
    assert published.lookups == 4


async def test_a_key_that_is_gone_ends_its_tokens(provider: Provider, published: Keys) -> None:
    token = (await provider.sign_in()).access_token
    tokens = VerifiedTokens(published)
    await tokens.claims(token, TENANT)

    published.keys = KeySet(())

    with pytest.raises(InvalidToken):
        await tokens.claims(token, TENANT)


async def test_a_token_of_one_tenant_is_none_of_another(provider: Provider, published: Keys) -> None:
    token = (await provider.sign_in()).access_token
    tokens = VerifiedTokens(published)
    await tokens.claims(token, TENANT)

    with pytest.raises(InvalidToken):
        await tokens.claims(token, ACME)


@pytest.mark.parametrize("change", ["x", "\udc80", "A" * 20_000], ids=["letter", "surrogate", "length"])
async def test_a_changed_token_is_not_taken_for_the_verified_one(
    provider: Provider, published: Keys, change: str
) -> None:
    token = (await provider.sign_in()).access_token
    tokens = VerifiedTokens(published)
    await tokens.claims(token, TENANT)

    for changed in (token + change, change + token, token[:-1]):
        with pytest.raises(InvalidToken):
            await tokens.claims(changed, TENANT)

    assert len(tokens) == 1


async def test_the_number_of_tokens_is_bounded(provider: Provider, published: Keys) -> None:
    tokens = VerifiedTokens(published, most=2)

    for _ in range(4):
        await tokens.claims((await provider.sign_in()).access_token, TENANT)

    assert len(tokens) == 2


async def test_a_verified_token_ends_with_its_time(provider: Provider) -> None:
    token = (await provider.sign_in()).access_token
    assert (await provider.introspection.for_client(TENANT, AS_APP, token=token))["active"]

    provider.clock.advance(timedelta(minutes=31))

    assert await provider.introspection.for_client(TENANT, AS_APP, token=token) == {"active": False}


async def test_a_verified_token_ends_with_its_revocation(provider: Provider) -> None:
    token = (await provider.sign_in()).access_token
    assert (await provider.introspection.for_client(TENANT, AS_APP, token=token))["active"]

    await provider.revocation.revoke(TENANT, AS_APP, token=token)

    assert await provider.introspection.for_client(TENANT, AS_APP, token=token) == {"active": False}


async def test_a_verified_token_ends_with_its_client(provider: Provider) -> None:
    await provider.add_client(replace(app(provider.secrets), id="other"))
    other = replace(AS_APP, client_id="other")
    token = (await provider.sign_in()).access_token
    assert (await provider.introspection.for_client(TENANT, other, token=token))["active"]

    await provider.change_client(is_enabled=False)

    assert await provider.introspection.for_client(TENANT, other, token=token) == {"active": False}


async def test_a_verified_token_ends_with_its_user(provider: Provider) -> None:
    token = (await provider.sign_in()).access_token
    assert await provider.is_active(token)

    await provider.change_user(is_enabled=False)

    assert not await provider.is_active(token)
