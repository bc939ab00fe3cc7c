from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from identity.directory.config import UsersConfig
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.directory.user import USERS, User, UserId
from identity.foundation.leadership import Leadership
from identity.foundation.randomness import SystemRandomness
from identity.people.account.expired_accounts import PAGE, PURPOSE, AccountUpkeep
from identity.people.user_changes import UserChange
from server.platform.errors import NotFound
from tests.identity.administration.administration import ROOT, Administration
from tests.identity.browsers import NOON, alice

EVE = UserId("eve")
KEPT_FOR = timedelta(days=30)


def unconfirmed(**fields: object) -> User:
    """Eve, who registered herself a while ago."""
    registered = {"is_self_registered": True, "is_email_verified": False, "created_at": NOON}
    return alice(**{"id": "eve", "email": "eve@example.com"} | registered | fields)


def leadership(administration: Administration) -> Leadership:
    return Leadership(PURPOSE, administration.store, administration.clock, randomness=SystemRandomness())


def upkeep(administration: Administration, config: UsersConfig | None = None) -> AccountUpkeep:
    return AccountUpkeep(
        administration.provider.tenants,
        administration.store.of(USERS),
        removal=administration.users,
        settings=administration.store.of(TENANTS),
        leadership=leadership(administration),
        events=administration.told,
        clock=administration.clock,
        config=config or UsersConfig(),
    )


async def sweep_at(administration: Administration, at: datetime, running: AccountUpkeep) -> None:
    administration.clock.advance(at - administration.clock.now())
    await running.sweep()


async def keep(administration: Administration, settings: TenantSettings) -> TenantRecord:
    tenant_id = administration.tenant.tenant_id
    record = TenantRecord(
        tenant_id=DEPLOYMENT, id=tenant_id, name="Default", created_at=NOON, settings=settings
    )
    return await administration.store.of(TENANTS).insert(record)


async def is_there(administration: Administration, user_id: UserId = EVE) -> bool:
    try:
        await administration.user(user_id)
    except NotFound:
        return False
    return True


async def test_who_never_confirms_goes_after_thirty_days(administration: Administration) -> None:
    await administration.provider.admit(unconfirmed())

    running = upkeep(administration)
    await sweep_at(administration, NOON + KEPT_FOR - timedelta(seconds=1), running)
    before = await is_there(administration)
    await sweep_at(administration, NOON + KEPT_FOR, running)

    assert (before, await is_there(administration)) == (True, False)
    assert await administration.told_of() == {("UserRemovedUnconfirmed", "eve@example.com")}


async def test_the_address_of_who_goes_is_free(administration: Administration) -> None:
    await administration.provider.admit(unconfirmed())
    await sweep_at(administration, NOON + KEPT_FOR, upkeep(administration))

    made = await administration.users.create(administration.tenant, UserChange(email="eve@example.com"), ROOT)

    assert made.id != EVE


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(unconfirmed(is_email_verified=True), id="confirmed"),
        pytest.param(unconfirmed(is_self_registered=False), id="made by an administrator or a provider"),
        pytest.param(unconfirmed(last_login_at=NOON), id="in use"),
    ],
)
async def test_others_stay(administration: Administration, user: User) -> None:
    await administration.provider.admit(user)

    await sweep_at(administration, NOON + timedelta(days=3650), upkeep(administration))

    assert await is_there(administration)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(TenantSettings(unconfirmed_account_days=0), id="0 keeps"),
        pytest.param(TenantSettings(requires_email_confirmation=False), id="nothing to confirm"),
        pytest.param(TenantSettings(unconfirmed_account_days=31), id="more days"),
    ],
)
async def test_a_tenant_may_keep_those_who_never_confirm(
    administration: Administration, settings: TenantSettings
) -> None:
    await administration.provider.admit(unconfirmed())
    await keep(administration, settings)

    await sweep_at(administration, NOON + KEPT_FOR, upkeep(administration))

    assert await is_there(administration)


async def test_fewer_days_count_for_those_who_are_there_at_the_next_pass(
    administration: Administration,
) -> None:
    await administration.provider.admit(unconfirmed())
    record = await keep(administration, TenantSettings())
    running = upkeep(administration)
    administration.clock.advance(timedelta(days=1))
    await running.sweep()
    before = await is_there(administration)

    changed = replace(record, settings=TenantSettings(unconfirmed_account_days=1))
    await administration.store.of(TENANTS).replace(changed)
    await running.sweep()

    assert (before, await is_there(administration)) == (True, False)


async def test_who_is_confirmed_at_that_moment_stays(administration: Administration) -> None:
    await administration.provider.admit(unconfirmed())
    read = await administration.user(EVE)
    confirmed = UserChange(is_email_verified=True)
    await administration.users.update(administration.tenant, EVE, confirmed, actor=ROOT)

    is_removed = await administration.users.remove_unchanged(read)

    assert (is_removed, (await administration.user(EVE)).is_email_verified) == (False, True)


async def test_everybody_is_looked_at_however_many_there_are(administration: Administration) -> None:
    people = [unconfirmed(id=f"u{number:04}", email=f"{number}@example.com") for number in range(PAGE + 1)]
    await administration.provider.admit(*people)

    await sweep_at(administration, NOON + KEPT_FOR, upkeep(administration))

    left = await administration.store.of(USERS).page(administration.tenant.tenant_id, most=PAGE)
    assert [user.id for user in left] == ["alice"]


async def test_one_process_removes_and_the_others_leave_it_to_that(administration: Administration) -> None:
    await administration.provider.admit(unconfirmed())
    administration.clock.advance(KEPT_FOR)
    elsewhere = leadership(administration)
    assert await elsewhere.is_ours()

    await upkeep(administration).sweep()
    before = await is_there(administration)
    await elsewhere.resign()
    await upkeep(administration).sweep()

    assert (before, await is_there(administration)) == (True, False)


async def test_an_account_that_has_ended_stays_unless_it_is_configured(
    administration: Administration,
) -> None:
    await administration.provider.admit(unconfirmed(is_email_verified=True, valid_until=NOON))

    await sweep_at(administration, NOON + timedelta(days=3650), upkeep(administration))

    assert await is_there(administration)


async def test_an_account_that_has_ended_goes_with_everything_where_it_is_configured(
    administration: Administration,
) -> None:
    await administration.provider.admit(unconfirmed(is_email_verified=True, valid_until=NOON))
    await administration.sign_in(EVE)
    await administration.device("phone", EVE)
    running = upkeep(administration, UsersConfig(expired_account_days=7))

    await sweep_at(administration, NOON + timedelta(days=7, seconds=-1), running)
    before = await is_there(administration)
    await sweep_at(administration, NOON + timedelta(days=7), running)

    assert (before, await is_there(administration)) == (True, False)
    assert await administration.live_sessions() == []
    assert await administration.devices.of_user(administration.tenant, EVE) == []
    assert ("Deleted", "user eve@example.com") in await administration.told_of()
