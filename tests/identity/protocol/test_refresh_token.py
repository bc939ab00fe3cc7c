from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.tokens.config import TokenConfig
from identity.access.tokens.token_set import TOKEN_SETS
from identity.directory.client import ClientId
from identity.directory.terms_of_use.terms import TERMS_VERSIONS, TermsVersion
from identity.foundation.errors import InvalidClient, InvalidGrant, InvalidRequest, InvalidScope
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from server.platform.records import RecordStore
from tests.identity.protocol.provider import ADA, AS_APP, SECRET, TENANT, Provider, app


async def test_each_refresh_token_is_followed_by_another(provider: Provider) -> None:
    first = await provider.sign_in()

    second = await provider.refresh(first.refresh_token)
    third = await provider.refresh(second.refresh_token)

    assert len({issued.refresh_token for issued in (first, second, third)}) == 3
    assert first.oauth_scopes == third.oauth_scopes


async def test_whoever_lost_the_answer_may_ask_again_at_once_and_gets_the_same_refresh_token(
    provider: Provider,
) -> None:
    first = await provider.sign_in()
    lost = await provider.refresh(first.refresh_token)
    provider.clock.advance(timedelta(seconds=4))

    again = await provider.refresh(first.refresh_token)

    assert lost.refresh_token == again.refresh_token
    assert await provider.is_active(again.access_token)


async def test_a_refresh_token_that_was_replaced_takes_all_that_came_of_the_grant_with_it(
    provider: Provider,
) -> None:
    first = await provider.sign_in()
    second = await provider.refresh(first.refresh_token)
    provider.clock.advance(timedelta(seconds=5))

    with pytest.raises(InvalidGrant):
        await provider.refresh(first.refresh_token)

    assert len(provider.reused) == 1
    assert not await provider.is_active(first.access_token)
    assert not await provider.is_active(second.access_token)
    with pytest.raises(InvalidGrant):
        await provider.refresh(second.refresh_token)


async def test_a_token_of_many_generations_ago_is_still_known_to_be_stolen(provider: Provider) -> None:
    first = await provider.sign_in()
    last = first
    for _ in range(4):
        last = await provider.refresh(last.refresh_token)

    with pytest.raises(InvalidGrant):
        await provider.refresh(first.refresh_token)

    assert not await provider.is_active(last.refresh_token)


async def test_an_invented_refresh_token_harms_nobody(provider: Provider) -> None:
    issued = await provider.sign_in()
    token_set_id, secret, seal = issued.refresh_token.split(".")

    for invented in (
        f"{token_set_id}.{'x' * 43}.{seal}",
        f"{token_set_id}.{secret}.{'0' * 32}",
        token_set_id,
    ):
        with pytest.raises(InvalidGrant):
            await provider.refresh(invented)

    assert await provider.is_active(issued.access_token)


async def test_a_refresh_token_consists_of_visible_characters(provider: Provider) -> None:
    issued = await provider.refresh((await provider.sign_in()).refresh_token)

    assert all("!" <= character <= "~" for character in issued.refresh_token)


async def test_no_refresh_token_is_kept(provider: Provider, records: RecordStore) -> None:
    issued = await provider.sign_in()

    kept = await records.of(TOKEN_SETS).page(TENANT.tenant_id)

    assert issued.refresh_token not in repr(kept)
    assert issued.refresh_token.split(".")[1] not in repr(kept)


async def test_another_clients_refresh_token_is_refused_and_not_used_up(provider: Provider) -> None:
    issued = await provider.sign_in()
    await provider.add_client(replace(app(provider.secrets), id="other"))
    as_other = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, "other", SECRET)

    with pytest.raises(InvalidGrant):
        await provider.refresh(issued.refresh_token, credentials=as_other)

    assert (await provider.refresh(issued.refresh_token)).access_token


async def test_a_confidential_client_has_to_prove_who_it_is(provider: Provider) -> None:
    issued = await provider.sign_in()

    with pytest.raises(InvalidClient):
        await provider.refresh(issued.refresh_token, credentials=replace(AS_APP, client_secret=""))


async def test_a_request_without_a_refresh_token_is_malformed(provider: Provider) -> None:
    with pytest.raises(InvalidRequest):
        await provider.refresh("")


async def test_the_scope_may_narrow_for_one_access_token(provider: Provider) -> None:
    first = await provider.sign_in()

    narrow = await provider.refresh(first.refresh_token, oauth_scopes=("email",))
    wide = await provider.refresh(narrow.refresh_token)

    assert (narrow.oauth_scopes, narrow.id_token) == (("email",), "")
    assert first.oauth_scopes == wide.oauth_scopes


async def test_the_scope_never_widens(provider: Provider) -> None:
    issued = await provider.sign_in()

    with pytest.raises(InvalidScope):
        await provider.refresh(issued.refresh_token, oauth_scopes=("openid", "groups"))


async def test_a_refreshed_id_token_says_the_same_sign_in_without_its_nonce(provider: Provider) -> None:
    first = await provider.sign_in()
    provider.clock.advance(timedelta(minutes=20))

    second = await provider.refresh(first.refresh_token)

    before, after = await provider.claims(first.id_token), await provider.claims(second.id_token)
    kept = ("iss", "sub", "aud", "azp", "auth_time", "amr", "acr", "sid")
    assert {name: before[name] for name in kept} == {name: after[name] for name in kept}
    assert before["iat"] < after["iat"]
    assert "nonce" not in after


async def test_a_family_lives_as_long_as_it_is_used(provider: Provider) -> None:
    issued = await provider.sign_in()
    for _ in range(3):
        provider.clock.advance(timedelta(hours=47))
        issued = await provider.refresh(issued.refresh_token)

    provider.clock.advance(timedelta(hours=48))

    with pytest.raises(InvalidGrant):
        await provider.refresh(issued.refresh_token)


async def test_a_family_ends_however_much_it_is_used(provider: Provider) -> None:
    issued = await provider.sign_in()
    for _ in range(29):
        provider.clock.advance(timedelta(days=1))
        issued = await provider.refresh(issued.refresh_token)
    provider.clock.advance(timedelta(days=1, minutes=-10))

    last = await provider.refresh(issued.refresh_token)
    provider.clock.advance(timedelta(minutes=10))

    assert timedelta(minutes=10) == last.lifetime
    with pytest.raises(InvalidGrant):
        await provider.refresh(last.refresh_token)


async def test_a_disabled_person_cannot_refresh(provider: Provider) -> None:
    issued = await provider.sign_in()
    await provider.change_user(is_enabled=False)

    with pytest.raises(InvalidGrant):
        await provider.refresh(issued.refresh_token)


async def test_r11_who_has_to_confirm_an_address_cannot_refresh(provider: Provider) -> None:
    issued = await provider.sign_in()
    await provider.change_user(is_self_registered=True, is_email_verified=False)

    with pytest.raises(InvalidGrant, match="confirm"):
        await provider.refresh(issued.refresh_token)


async def test_a_disabled_client_cannot_refresh(provider: Provider) -> None:
    issued = await provider.sign_in()
    await provider.change_client(is_enabled=False)

    with pytest.raises(InvalidClient):
        await provider.refresh(issued.refresh_token)


async def test_what_belongs_to_a_session_ends_with_it_unless_it_may_work_offline(provider: Provider) -> None:
    online = await provider.sign_in()
    offline = await provider.sign_in(oauth_scopes=("openid", "offline_access"))

    await provider.sets.remove_of_session(TENANT, "s" * 32)

    assert not await provider.is_active(online.access_token)
    assert (await provider.refresh(offline.refresh_token)).access_token


async def test_without_grace_a_token_is_good_once(provider: Provider) -> None:
    strict = Provider(
        provider.records, provider.clock, provider.keys, token=TokenConfig(refresh_grace_secs=0)
    )
    issued = await strict.sign_in()
    await strict.refresh(issued.refresh_token)

    with pytest.raises(InvalidGrant):
        await strict.refresh(issued.refresh_token)


async def test_refreshing_is_a_grant_that_a_client_is_registered_for(provider: Provider) -> None:
    issued = await provider.sign_in()

    refreshed = await provider.ask(GrantType.REFRESH_TOKEN, refresh_token=issued.refresh_token)

    assert refreshed.refresh_token


async def test_refresh_tokens_end_when_the_user_has_to_accept_terms_of_use(provider: Provider) -> None:
    issued = await provider.sign_in()
    provider.clock.advance(timedelta(seconds=1))
    now = provider.clock.now()
    version = TermsVersion(
        tenant_id=TENANT.tenant_id,
        id="1",
        uri="https://example.com/terms",
        texts=(),
        holds_from=now,
        is_accepted_again=True,
        accept_until=now + timedelta(minutes=5),
        published_at=now,
    )
    await provider.records.of(TERMS_VERSIONS).insert(version)
    provider.terms.forget(TENANT)

    issued = await provider.refresh(issued.refresh_token)
    provider.clock.advance(timedelta(minutes=5))
    with pytest.raises(InvalidGrant, match="terms of use"):
        await provider.refresh(issued.refresh_token)

    # The client goes on when the user has accepted them, because the refused request used nothing up.
    await provider.terms.accept(TENANT, ADA.user_id, version, client_id=ClientId("app"))
    assert (await provider.refresh(issued.refresh_token)).access_token
