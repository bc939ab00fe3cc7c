"""Every change of permissions increments the directory version, and other calls do not."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from identity.directory.labels import Group, Role
from identity.directory.user import USERS
from identity.people.user_changes import UserChange
from server.platform.call import TenantId
from tests.identity.administration.administration import ALICE, ROOT, Administration

DEFAULT = TenantId("default")
CLERK = Role(tenant_id=DEFAULT, id="", name="clerk")
STAFF = Group(tenant_id=DEFAULT, id="", name="staff")


async def change_a_person(administration: Administration) -> None:
    await administration.users.update(administration.tenant, ALICE, UserChange(is_enabled=False), actor=ROOT)


async def remove_a_person(administration: Administration) -> None:
    await administration.users.delete(administration.tenant, ALICE, ROOT)


async def make_a_role(administration: Administration) -> None:
    await administration.roles.add(administration.tenant, CLERK, ROOT)


async def make_a_group(administration: Administration) -> None:
    await administration.groups.add(administration.tenant, STAFF, ROOT)


async def make_change_and_remove_a_role(administration: Administration) -> None:
    tenant = administration.tenant
    role = await administration.roles.add(tenant, CLERK, ROOT)
    await administration.roles.change(
        tenant, role.id, ROOT, changed=lambda found: replace(found, name="worker")
    )
    await administration.roles.remove(tenant, role.id, ROOT)


async def sign_in(administration: Administration) -> None:
    user = await administration.user()
    await administration.store.of(USERS).replace(replace(user, last_login_at=administration.clock.now()))
    await administration.sign_in()


async def read(administration: Administration) -> None:
    await administration.users.page(administration.tenant, after="", most=10)
    await administration.roles.all(administration.tenant)


@pytest.mark.parametrize(
    ("act", "changes"),
    [
        (change_a_person, 1),
        (remove_a_person, 1),
        (make_a_role, 1),
        (make_a_group, 1),
        (make_change_and_remove_a_role, 3),
        (sign_in, 0),
        (read, 0),
    ],
)
async def test_each_change_makes_another_version(
    administration: Administration, act: Callable[[Administration], Awaitable[None]], changes: int
) -> None:
    await act(administration)

    assert (await administration.version.beyond(0, seconds=0)).number == changes
