from collections.abc import Mapping
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from identity.directory.user import User
from identity.foundation.continuation import id_of, token_of
from identity.people.user_changes import NEVER_EXPIRES, Labelled, UserChange, applied
from tests.identity.browsers import NOON, alice

LABELLED = Labelled(roles=("admin", "clerk"), groups=("readers", "writers"))

VALUES: Mapping[str, st.SearchStrategy[str]] = {
    "birthdate": st.sampled_from(["", "1852-05-04"]),
    "phone_number": st.sampled_from(["", "+44123456"]),
    "locality": st.sampled_from(["", "Oxford"]),
}


def changes() -> st.SearchStrategy[UserChange]:
    times = st.integers(0, 8760).map(lambda hours: NOON + timedelta(hours=hours))
    return st.builds(
        UserChange,
        email=st.none() | st.sampled_from(["Bob@Example.com", "eve@example.com"]),
        given_name=st.none() | st.text(alphabet="ab '-é", max_size=64),
        language=st.none() | st.sampled_from(["", "de", "pt-BR"]),
        values=st.fixed_dictionaries({}, optional=dict(VALUES)),
        roles=st.none() | st.lists(st.sampled_from(LABELLED.roles)).map(tuple),
        groups=st.none() | st.lists(st.sampled_from(LABELLED.groups)).map(tuple),
        is_enabled=st.none() | st.booleans(),
        is_email_verified=st.none() | st.booleans(),
        valid_until=st.none() | st.just(NEVER_EXPIRES) | times,
    )


def after(change: UserChange, user: User, at: datetime = NOON) -> User:
    return applied(change, user, labelled=LABELLED, now=at)


@given(changes())
def test_a_change_that_is_repeated_changes_nothing_more(change: UserChange) -> None:
    once = after(change, alice())

    assert after(change, once) == once


@given(changes())
def test_nothing_to_change_changes_nothing(change: UserChange) -> None:
    user = after(change, alice())

    assert after(UserChange(), user) == user


@given(changes())
def test_no_change_touches_what_an_administrator_does_not_decide(change: UserChange) -> None:
    user = after(change, alice(), NOON + timedelta(days=1))

    assert (user.id, user.tenant_id, user.revision) == ("alice", "default", 0)
    assert (user.password_hash, user.permissions, user.tenant_ids) == (
        alice().password_hash,
        alice().permissions,
        alice().tenant_ids,
    )


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_page_goes_on_where_the_one_before_ended(last_id: str) -> None:
    assert id_of(token_of(last_id)) == last_id
