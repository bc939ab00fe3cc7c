from datetime import timedelta

import pytest

from identity.directory.password_rules.breach_list import NoBreachList
from identity.directory.password_rules.refusal import PasswordReason, PasswordRefused
from identity.directory.tenants.password_policy import PasswordPolicy
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.directory.user import User
from identity.people.account.password_choice import PasswordChoice
from identity.people.user_changes import UserChange
from server.platform.errors import InvalidArgument, NotFound
from tests.identity.administration.administration import ALICE, ROOT, Administration
from tests.identity.browsers import NOON, PASSWORD

NEW_PASSWORD = "a new and quite long one"
OTHER_PASSWORDS = ("the second of several", "the third of several ones", "the fourth of several ones")


async def ask_for(administration: Administration, policy: PasswordPolicy) -> None:
    tenant_id = administration.tenant.tenant_id
    await administration.store.of(TENANTS).insert(
        TenantRecord(tenant_id=DEPLOYMENT, id=tenant_id, name="Default", created_at=NOON)
    )
    await administration.policies.change(administration.tenant, policy, actor=ROOT)


async def choose(administration: Administration, password: str) -> User:
    change = UserChange(password=password)
    return await administration.users.update(administration.tenant, ALICE, change, actor=ROOT)


async def test_the_policy_of_the_tenant_counts_at_once(administration: Administration) -> None:
    await ask_for(administration, PasswordPolicy(length_min=30))

    with pytest.raises(InvalidArgument, match="Minimum password length is 30"):
        await choose(administration, NEW_PASSWORD)

    assert ("Changed", "password policy") in await administration.told_of()


async def test_a_tenant_that_there_is_not_has_no_policy_to_change(administration: Administration) -> None:
    with pytest.raises(NotFound):
        await administration.policies.change(administration.tenant, PasswordPolicy(), actor=ROOT)


@pytest.mark.parametrize(
    "password",
    [
        pytest.param("passwordpassword", id="a known one, twice"),
        pytest.param("P4ssw0rd!P4ssw0rd!", id="a known one with signs"),
        pytest.param("qwertyuiopasdfghjkl", id="keys in a row"),
        pytest.param("123456789012345678", id="digits in a row"),
        pytest.param("aaaaaaaaaaaaaaaaaaaa", id="one letter"),
        pytest.param("LiddellLiddellLiddell", id="the name"),
    ],
)
async def test_what_is_easily_guessed_is_refused(administration: Administration, password: str) -> None:
    before = await administration.user()

    with pytest.raises(InvalidArgument, match="easily guessed"):
        await choose(administration, password)

    assert await administration.user() == before


@pytest.mark.parametrize("password", ["alice@example.com", "Alice@Example.COM"])
async def test_a_password_is_not_the_address(administration: Administration, password: str) -> None:
    with pytest.raises(PasswordRefused, match="is the user name or the e-mail address") as refused:
        await choose(administration, password)

    assert refused.value.metadata["cause"] == PasswordReason.OWN_NAME


@pytest.mark.parametrize(
    ("policy", "password", "reason", "count"),
    [
        (PasswordPolicy(length_min=30), "some old songs", PasswordReason.TOO_SHORT, 30),
        (PasswordPolicy(length_max=64), "ä" * 65, PasswordReason.TOO_LONG, 64),
        (PasswordPolicy(include_lower_case=3), "SEVERAL OLD SONGs", PasswordReason.LACKS_LOWER_CASE, 3),
        (PasswordPolicy(include_upper_case=2), "several old songS", PasswordReason.LACKS_UPPER_CASE, 2),
        (PasswordPolicy(include_digits=3), "several old songs 42", PasswordReason.LACKS_DIGITS, 3),
        (PasswordPolicy(include_special=9), "several old songs!", PasswordReason.LACKS_SPECIAL, 9),
        (PasswordPolicy(), "aaaaaaaaaaaaaaaaaaaa", PasswordReason.EASILY_GUESSED, 0),
        (PasswordPolicy(), PASSWORD, PasswordReason.USED_BEFORE, 3),
    ],
    ids=lambda value: value if isinstance(value, PasswordReason) else "",
)
async def test_a_refusal_names_the_rule_and_its_number(
    administration: Administration, policy: PasswordPolicy, password: str, *, reason: str, count: int
) -> None:
    await ask_for(administration, policy)

    with pytest.raises(PasswordRefused) as refused:
        await choose(administration, password)

    assert refused.value.metadata == {"cause": reason, "count": str(count)}


async def test_none_of_the_last_passwords_is_taken_again(administration: Administration) -> None:
    second, third, fourth = OTHER_PASSWORDS
    for password in (second, third):
        await choose(administration, password)

    for used in (PASSWORD, second, third):
        with pytest.raises(InvalidArgument, match="one of the last 3"):
            await choose(administration, used)
    await choose(administration, fourth)

    assert (await choose(administration, PASSWORD)).password_hash


async def test_no_more_passwords_are_remembered_than_are_asked_for(administration: Administration) -> None:
    for password in OTHER_PASSWORDS:
        user = await choose(administration, password)

    passwords = administration.provider.passwords
    assert [
        await passwords.verify("default", password_hash, used)
        for password_hash, used in zip(user.previous_password_hashes, OTHER_PASSWORDS[1::-1], strict=True)
    ] == [True, True]
    assert not any(password_hash in repr(user) for password_hash in user.previous_password_hashes)


async def test_a_tenant_that_wants_no_history_keeps_none(administration: Administration) -> None:
    await ask_for(administration, PasswordPolicy(not_recently_used=0))
    await choose(administration, NEW_PASSWORD)

    user = await choose(administration, NEW_PASSWORD)

    assert user.previous_password_hashes == ()


@pytest.mark.parametrize(
    ("valid_days", "until"), [(0, None), (90, NOON + timedelta(days=90))], ids=["never", "90 days"]
)
async def test_a_password_ends_when_the_tenant_wants_it_to(
    administration: Administration, valid_days: int, until: object
) -> None:
    await ask_for(administration, PasswordPolicy(valid_days=valid_days))

    assert (await choose(administration, NEW_PASSWORD)).password_until == until


async def test_what_is_chosen_is_hashed_and_the_choice_shows_nothing(administration: Administration) -> None:
    password_choice = PasswordChoice(
        administration.policies,
        administration.provider.passwords,
        administration.clock,
        breach_list=NoBreachList(),
    )

    chosen = await password_choice.choose(administration.tenant, await administration.user(), NEW_PASSWORD)

    assert await administration.provider.passwords.verify("default", chosen.password_hash, NEW_PASSWORD)
    assert chosen.password_hash not in repr(chosen)
