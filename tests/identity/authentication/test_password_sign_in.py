"""Sign-in with a password, and facts that its errors must not reveal."""

import asyncio
from datetime import datetime, timedelta

import pytest
from argon2 import PasswordHasher

from identity.authentication.password_sign_in import PasswordSignIn
from identity.directory.password_config import PasswordConfig
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.password_hashes.foreign_hash import OWN, read
from identity.directory.passwords import Passwords
from identity.directory.user import User
from identity.people.user_changes import Labelled, UserChange, applied
from server.platform.errors import PermissionDenied, ResourceExhausted, Unauthenticated
from tests.identity.browsers import ADDRESS, NOON, PASSWORD, PASSWORD_HASH, NoBrowsers, Provider, alice
from tests.identity.directory.password_hashes.hashes import MADE
from tests.identity.directory.password_hashes.hashes import PASSWORD as FOREIGN_PASSWORD

LATER, EARLIER = NOON + timedelta(seconds=1), NOON


@pytest.fixture
def provider() -> Provider:
    return Provider()


async def verify(provider: Provider, *, email: str = "alice@example.com", password: str = PASSWORD) -> User:
    sign_in = PasswordSignIn(
        provider.users,
        provider.passwords,
        protection=provider.protection,
        browsers=NoBrowsers(),
        confirmation=provider.confirmation,
        clock=provider.clock,
        events=provider.events,
        costliest=CostliestHashes(provider.store),
    )
    return await sign_in.verify(provider.tenant, email=email, password=password, peer_address=ADDRESS)


async def test_the_right_password_signs_in(provider: Provider) -> None:
    await provider.admit(alice())

    user = await verify(provider, email=" ALICE@example.com")

    assert (user.user_id, user.last_login_at) == ("alice", NOON)


async def test_a_username_signs_in_where_usernames_are_taken(provider: Provider) -> None:
    await provider.admit(alice(preferred_username="liddell"))
    with pytest.raises(Unauthenticated):
        await verify(provider, email="liddell")
    provider.users.takes_usernames = True

    user = await verify(provider, email=" Liddell")

    assert user.user_id == "alice"
    assert (await verify(provider, email="alice@example.com")).user_id == "alice"
    for unknown in ("alice", "nobody", "", "liddell@example.com"):
        with pytest.raises(Unauthenticated):
            await verify(provider, email=unknown)


async def test_guesses_for_a_username_are_counted(provider: Provider) -> None:
    await provider.admit(alice(preferred_username="liddell"))
    provider.users.takes_usernames = True
    for _ in range(7):
        with pytest.raises(Unauthenticated):
            await verify(provider, email="liddell", password="wrong")

    with pytest.raises(ResourceExhausted):
        await verify(provider, email="LIDDELL")


NOBODY = [
    pytest.param(alice(id="bob", email="bob@example.com"), id="unknown address"),
    pytest.param(alice(password_hash=""), id="account without a password"),
    pytest.param(alice(is_enabled=False), id="disabled account"),
    pytest.param(alice(valid_until=EARLIER), id="expired account"),
]


@pytest.mark.parametrize("user", NOBODY)
async def test_an_account_that_cannot_sign_in_looks_like_none(provider: Provider, user: User) -> None:
    await provider.admit(user)

    with pytest.raises(Unauthenticated) as refusal:
        await verify(provider)

    assert str(refusal.value) == "the e-mail address or the password is wrong"


@pytest.mark.parametrize("user", NOBODY)
async def test_every_failure_counts_alike(provider: Provider, user: User) -> None:
    await provider.admit(user)

    for _ in range(4):
        with pytest.raises(Unauthenticated):
            await verify(provider)

    assert provider.pauses.seconds == [6, 8]


async def test_who_signed_in_unconfirmed_is_not_locked_out_later(provider: Provider) -> None:
    provider.confirmation.is_required = False
    await provider.admit(alice(is_email_verified=False, is_self_registered=True))
    await verify(provider)
    provider.confirmation.is_required = True

    user = await verify(provider)

    assert (user.user_id, user.is_email_verified) == ("alice", False)


async def test_who_signed_in_unconfirmed_may_change_the_account(provider: Provider) -> None:
    used = alice(is_email_verified=False, is_self_registered=True).signed_in(EARLIER)
    await provider.admit(applied(UserChange(given_name="Al"), used, labelled=Labelled((), ()), now=LATER))

    assert (await verify(provider)).given_name == "Al"


@pytest.mark.parametrize("changed_at", [None, NOON - timedelta(seconds=1)])
async def test_a_record_of_an_earlier_version_shows_a_sign_in_after_every_change(
    provider: Provider, changed_at: datetime | None
) -> None:
    old = alice(
        is_email_verified=False, is_self_registered=True, last_login_at=EARLIER, changed_at=changed_at
    )
    await provider.admit(old)

    assert (await verify(provider)).unconfirmed_login_at == NOON


@pytest.mark.parametrize("changed_at", [NOON, LATER])
async def test_a_record_of_an_earlier_version_that_was_changed_since_is_to_be_confirmed(
    provider: Provider, changed_at: datetime
) -> None:
    old = alice(
        is_email_verified=False, is_self_registered=True, last_login_at=EARLIER, changed_at=changed_at
    )
    await provider.admit(old)

    with pytest.raises(PermissionDenied) as refusal:
        await verify(provider)

    assert refusal.value.metadata["cause"] == "EMAIL_NOT_CONFIRMED"


async def test_an_address_that_an_administrator_enters_is_to_be_confirmed(provider: Provider) -> None:
    used = alice(email="al@example.com", is_email_verified=False, is_self_registered=True).signed_in(EARLIER)
    change = UserChange(email="alice@example.com")
    await provider.admit(applied(change, used, labelled=Labelled((), ()), now=LATER))

    with pytest.raises(PermissionDenied) as refusal:
        await verify(provider)

    assert refusal.value.metadata["cause"] == "EMAIL_NOT_CONFIRMED"


async def test_an_address_that_an_administrator_marks_unconfirmed_is_to_be_confirmed_again(
    provider: Provider,
) -> None:
    signed_in = alice(is_email_verified=True, is_self_registered=True, last_login_at=EARLIER)
    change = UserChange(is_email_verified=False)
    await provider.admit(applied(change, signed_in, labelled=Labelled((), ()), now=LATER))

    with pytest.raises(PermissionDenied) as refusal:
        await verify(provider)

    assert refusal.value.metadata["cause"] == "EMAIL_NOT_CONFIRMED"


async def test_an_unconfirmed_address_is_to_be_confirmed_first(provider: Provider) -> None:
    await provider.admit(alice(is_email_verified=False, is_self_registered=True))

    with pytest.raises(PermissionDenied) as refusal:
        await verify(provider)

    assert refusal.value.metadata == {"cause": "EMAIL_NOT_CONFIRMED", "resend": "true"}


async def test_only_who_has_the_password_learns_that_the_address_is_unconfirmed(provider: Provider) -> None:
    await provider.admit(alice(is_email_verified=False, is_self_registered=True))

    with pytest.raises(Unauthenticated):
        await verify(provider, password="wrong")


async def test_where_no_confirmation_is_required_an_unconfirmed_address_signs_in(provider: Provider) -> None:
    provider.confirmation.is_required = False
    await provider.admit(alice(is_email_verified=False, is_self_registered=True))

    assert (await verify(provider)).user_id == "alice"


async def test_whom_an_administrator_made_has_nothing_to_confirm(provider: Provider) -> None:
    await provider.admit(alice(is_email_verified=False))

    assert (await verify(provider)).user_id == "alice"


async def test_an_expired_password_is_to_be_replaced(provider: Provider) -> None:
    await provider.admit(alice(password_until=EARLIER))

    with pytest.raises(PermissionDenied) as refusal:
        await verify(provider)

    assert refusal.value.metadata == {"cause": "PASSWORD_EXPIRED"}


async def test_a_password_is_good_until_it_expires(provider: Provider) -> None:
    await provider.admit(alice(password_until=LATER))

    assert (await verify(provider)).user_id == "alice"


async def test_of_many_guesses_at_a_time_no_more_count_than_one_after_the_other(provider: Provider) -> None:
    await provider.admit(alice())
    guesses = [f"wrong-{number}" for number in range(40)]

    outcomes = await asyncio.gather(
        *(verify(provider, password=password) for password in (*guesses, PASSWORD)), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [Unauthenticated] * 7 + [ResourceExhausted] * 34


async def test_a_blocked_sign_in_is_told_nothing_about_a_password(provider: Provider) -> None:
    await provider.admit(alice())
    for _ in range(7):
        with pytest.raises(Unauthenticated):
            await verify(provider, password="wrong")

    with pytest.raises(ResourceExhausted):
        await verify(provider)


async def test_a_password_of_an_older_cost_is_hashed_anew(provider: Provider) -> None:
    outdated = PasswordHasher(2, 8, 1).hash(PASSWORD)
    await provider.admit(alice(password_hash=outdated))

    user = await verify(provider)

    assert not provider.passwords.is_outdated(user.password_hash)
    assert await provider.passwords.verify("default", user.password_hash, PASSWORD)


@pytest.mark.parametrize("kind", MADE)
async def test_a_hash_of_another_system_signs_in_and_is_replaced_by_one_of_ours(
    provider: Provider, kind: str
) -> None:
    await provider.admit(alice(password_hash=read(MADE[kind]()).text))

    user = await verify(provider, password=FOREIGN_PASSWORD)

    assert user.password_hash.startswith(OWN)
    assert not provider.passwords.is_outdated(user.password_hash)
    assert await verify(provider, password=FOREIGN_PASSWORD)


async def test_a_wrong_password_leaves_a_hash_of_another_system(provider: Provider) -> None:
    foreign = read(MADE["bcrypt 2b"]()).text
    await provider.admit(alice(password_hash=foreign))

    with pytest.raises(Unauthenticated):
        await verify(provider, password="wrong")

    kept = await provider.users.find_by_email(provider.tenant, "alice@example.com")
    assert kept is not None
    assert kept.password_hash == foreign


@pytest.mark.parametrize(
    ("password_hash", "password", "is_right"),
    [
        pytest.param(PASSWORD_HASH, PASSWORD, True, id="right"),
        pytest.param(PASSWORD_HASH, "wrong", False, id="wrong"),
        pytest.param(PASSWORD_HASH, "", False, id="empty"),
        pytest.param(None, PASSWORD, False, id="no account"),
        pytest.param("", PASSWORD, False, id="no password"),
    ],
)
async def test_whether_a_password_is_right(
    provider: Provider, password_hash: str | None, password: str, *, is_right: bool
) -> None:
    assert await provider.passwords.verify("default", password_hash, password) == is_right


async def test_no_tenant_waits_for_the_sign_ins_of_another() -> None:
    passwords = Passwords(PasswordConfig(memory_kib=8, iterations=1, lanes=1, workers=1))
    finished: list[str] = []

    async def verify(tenant_id: str) -> None:
        await passwords.verify(tenant_id, None, PASSWORD)
        finished.append(tenant_id)

    async with asyncio.TaskGroup() as tasks:
        for tenant_id in (*["acme"] * 190, "umbrella"):
            tasks.create_task(verify(tenant_id))
    passwords.close()

    assert finished.index("umbrella") <= 2


async def test_a_tenant_with_too_many_sign_ins_is_turned_away_alone() -> None:
    passwords = Passwords(PasswordConfig(memory_kib=8, iterations=1, lanes=1, workers=1))
    calls = [passwords.verify(tenant_id, None, PASSWORD) for tenant_id in (*["acme"] * 260, "umbrella")]

    *outcomes, other = await asyncio.gather(*calls, return_exceptions=True)
    refused = [each for each in outcomes if isinstance(each, ResourceExhausted)]
    passwords.close()

    assert other is False
    assert refused
    assert all(each.metadata["retry_after_secs"] == "1" for each in refused)


async def test_a_crowd_is_turned_away_before_it_costs_memory() -> None:
    passwords = Passwords(PasswordConfig(memory_kib=8, iterations=1, lanes=1, workers=1), most_waiting=0)

    with pytest.raises(ResourceExhausted):
        await passwords.verify("default", None, PASSWORD)

    passwords.close()
