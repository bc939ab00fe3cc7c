"""Properties of the parts of the protocol."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from identity.access.dpop.addresses import normalised
from identity.access.dpop.config import DpopConfig
from identity.access.dpop.nonces import DpopNonces
from identity.access.tokens.refresh_token import RefreshTokens
from identity.directory.oauth_scopes import Extent, granted_scopes, parse
from identity.directory.secrets import SecretHasher
from identity.foundation.randomness import SystemRandomness
from identity.protocol.devices.user_codes import ALPHABET, canonical, new_user_code, shown
from server.platform.clock import VirtualClock
from tests.identity.protocol.provider import ACME, NOON, TENANT

SECRETS = SecretHasher(b"0" * 32)
REFRESH_TOKENS = RefreshTokens(SECRETS, SystemRandomness())
WORDS = st.lists(st.text("abcd:", min_size=1, max_size=3), max_size=6)


@given(st.integers(8, 16))
def test_what_is_shown_of_a_user_code_is_read_as_that_code(length: int) -> None:
    user_code = new_user_code(SystemRandomness(), length)

    assert len(user_code) == length
    assert set(user_code) <= set(ALPHABET)
    assert canonical(shown(user_code).lower()) == user_code


@given(st.text())
def test_reading_a_user_code_twice_changes_nothing(typed: str) -> None:
    assert canonical(canonical(typed)) == canonical(typed)


@given(st.text())
def test_spelling_an_address_in_the_one_way_twice_changes_nothing(address: str) -> None:
    assert normalised(normalised(address)) == normalised(address)


@given(st.integers(1, 20))
def test_a_refresh_token_names_its_set_through_all_generations(generations: int) -> None:
    seen = {token := REFRESH_TOKENS.first("a-set")}
    for _ in range(generations):
        token = REFRESH_TOKENS.following(token)
        seen.add(token)

    assert len(seen) == generations + 1
    assert {REFRESH_TOKENS.token_set_id(one) for one in seen} == {"a-set"}


@given(st.data())
def test_a_refresh_token_that_was_tampered_with_is_none_of_ours(data: Any) -> None:
    token = REFRESH_TOKENS.first("a-set")
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.characters(codec="ascii").filter(lambda letter: letter != token[place]))

    assert REFRESH_TOKENS.token_set_id(token[:place] + letter + token[place + 1 :]) is None


@given(WORDS, WORDS)
def test_a_scope_that_is_granted_was_asked_for_and_admitted(asked: list[str], widest: list[str]) -> None:
    extent = Extent(tuple(widest), tuple(widest))
    wanted = tuple(word for word in parse(" ".join(asked)) if word in widest)

    granted = granted_scopes(wanted, extent)

    assert set(granted) <= set(widest)
    assert granted == (wanted or tuple(widest))


@given(st.integers(0, 3600))
def test_a_nonce_is_good_for_its_lifetime_and_never_for_twice_that(seconds: int) -> None:
    clock = VirtualClock(pinned=NOON + timedelta(seconds=seconds))
    nonces = DpopNonces(SECRETS, clock, DpopConfig())
    nonce = nonces.current(TENANT)

    clock.advance(timedelta(seconds=900))
    is_good_after_its_lifetime = nonces.is_fresh(TENANT, nonce)
    clock.advance(timedelta(seconds=900))

    assert is_good_after_its_lifetime
    assert not nonces.is_fresh(TENANT, nonce)
    assert nonces.current(TENANT) != nonces.current(ACME)
