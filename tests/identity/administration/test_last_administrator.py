"""The last person who administers stays, whoever makes the change and by whatever it would take administration."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from identity.access.callers import Actor, ActorKind
from identity.access.last_administrator import LAST_ADMINISTRATOR
from identity.directory.client import CLIENTS
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.provider import PROVIDER_LINKS, ProviderLink
from identity.directory.tenants.ldap_directory import LDAP_LINKS, LdapLink
from identity.directory.user import USERS, AccountType, User
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Permission
from identity.people.mapping_rules import MappingRules, RuleDraft
from identity.people.user_changes import UserChange
from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.errors import InvalidState
from server.platform.records import Changed
from tests.identity.administration.administration import ALICE, ROOT, Administration
from tests.identity.browsers import NOON, alice, app

WRITE = (Permission.IDENTITY_WRITE,)
DEFAULT, ACME = TenantId("default"), TenantId("acme")
ITSELF = Actor(
    ActorKind.USER, "alice", "alice@example.com", is_administrator=True, permissions=frozenset(Permission)
)
"""Alice herself, who is the last administrator in these tests."""

NOTE = AuditNote(
    tenant_id=DEFAULT,
    timestamp=NOON,
    operation_type="DELETE",
    actor_type="USER",
    actor_id="root",
    entity_type="MAPPING_RULE",
    entity_id="rule",
    related_entity_type=None,
    related_entity_id=None,
    request_id="",
)

Change = Callable[[Administration], Awaitable[object]]


def delete(administration: Administration) -> Awaitable[object]:
    return administration.users.delete(administration.tenant, ALICE, ITSELF)


def update(change: UserChange) -> Change:
    return lambda administration: administration.users.update(
        administration.tenant, ALICE, change, actor=ROOT
    )


def change_role(administration: Administration) -> Awaitable[object]:
    return administration.roles.change(
        administration.tenant, "r-1", ROOT, changed=lambda role: replace(role, permissions=())
    )


def change_group(administration: Administration) -> Awaitable[object]:
    return administration.groups.change(
        administration.tenant, "g-1", ROOT, changed=lambda group: replace(group, roles=())
    )


def remove_role(administration: Administration) -> Awaitable[object]:
    return administration.roles.remove(administration.tenant, "r-1", ROOT)


def remove_group(administration: Administration) -> Awaitable[object]:
    return administration.groups.remove(administration.tenant, "g-1", ROOT)


async def admit(administration: Administration, *people: User, tenant_id: TenantId = DEFAULT) -> None:
    """Store the people, a role that administers, and a group that has this role."""
    store = administration.store
    await store.of(ROLES).insert(Role(tenant_id=tenant_id, id="r-1", name="boss", permissions=WRITE))
    await store.of(GROUPS).insert(Group(tenant_id=tenant_id, id="g-1", name="bosses", roles=("boss",)))
    for person in people:
        present = await store.of(USERS).get(person.tenant_id, person.id)
        if present is None:
            await store.of(USERS).insert(person)
        else:
            await store.of(USERS).replace(replace(person, revision=present.revision))


def bob(**fields: object) -> User:
    return alice(id="bob", email="bob@example.com", **fields)


async def refusal_of(call: Awaitable[object]) -> InvalidState:
    with pytest.raises(InvalidState) as refusal:
        await call
    return refusal.value


LOSSES = [
    pytest.param(alice(permissions=WRITE), delete, id="a user with permissions is deleted"),
    pytest.param(alice(roles=("admin",)), delete, id="a user with the built-in role is deleted"),
    pytest.param(alice(groups=("bosses",)), delete, id="a user with a group is deleted"),
    pytest.param(alice(roles=("admin",)), update(UserChange(is_enabled=False)), id="a user is disabled"),
    pytest.param(
        alice(roles=("admin",)), update(UserChange(valid_until=NOON + timedelta(days=9))), id="a user expires"
    ),
    pytest.param(alice(roles=("admin",)), update(UserChange(roles=())), id="a user leaves the role"),
    pytest.param(
        alice(groups=("bosses",)), update(UserChange(leaves=("bosses",))), id="a user leaves the group"
    ),
    pytest.param(alice(roles=("boss",)), change_role, id="the role is narrowed"),
    pytest.param(alice(groups=("bosses",)), change_role, id="the role of the group is narrowed"),
    pytest.param(alice(groups=("bosses",)), change_group, id="the group is narrowed"),
    pytest.param(alice(roles=("boss",)), remove_role, id="the role is deleted"),
    pytest.param(alice(groups=("bosses",)), remove_group, id="the group is deleted"),
]


@pytest.mark.parametrize(("person", "change"), LOSSES)
async def test_the_last_administrator_stays(
    administration: Administration, person: User, change: Change
) -> None:
    await admit(administration, person)
    before = await administration.user("alice")

    refusal = await refusal_of(change(administration))

    assert refusal.metadata["cause"] == LAST_ADMINISTRATOR
    assert str(refusal) == (
        "this would leave the deployment without an administrator; first make another person an administrator, "
        "whose account is enabled and does not expire"
    )
    assert await administration.user("alice") == before
    assert await administration.roles.get(administration.tenant, "r-1")
    assert await administration.groups.get(administration.tenant, "g-1")


@pytest.mark.parametrize(("person", "change"), LOSSES)
async def test_one_of_two_administrators_goes(
    administration: Administration, person: User, change: Change
) -> None:
    await admit(administration, person, bob(roles=("admin",)))

    await change(administration)

    present = await administration.store.of(USERS).get(DEFAULT, "alice")
    assert (
        present is None
        or not (present.valid_until is None and await administration.administrators.makes(present))
        or not present.is_enabled
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(bob(roles=("admin",), is_enabled=False), id="disabled"),
        pytest.param(bob(roles=("admin",), valid_until=NOON), id="expired"),
        pytest.param(bob(roles=("admin",), valid_until=NOON + timedelta(days=1)), id="expires"),
        pytest.param(bob(roles=("admin",), password_hash=""), id="without a way in"),
        pytest.param(
            bob(roles=("admin",), is_self_registered=True, is_email_verified=False), id="unconfirmed"
        ),
        pytest.param(bob(roles=("admin",), tenant_ids=(ACME,)), id="of another tenant only"),
    ],
)
async def test_an_account_that_cannot_take_over_does_not_count(
    administration: Administration, other: User
) -> None:
    await admit(administration, alice(roles=("admin",)), other)

    refusal = await refusal_of(delete(administration))

    assert refusal.metadata["cause"] == LAST_ADMINISTRATOR


async def test_a_client_does_not_count(administration: Administration) -> None:
    await admit(administration, alice(roles=("admin",)))
    await administration.store.of(CLIENTS).insert(app(id="robot", permissions=WRITE, roles=("admin",)))

    refusal = await refusal_of(delete(administration))

    assert refusal.metadata["cause"] == LAST_ADMINISTRATOR


async def test_labels_that_make_no_person_an_administrator_go(administration: Administration) -> None:
    await admit(administration, alice())

    await remove_group(administration)
    await remove_role(administration)

    assert await administration.roles.all(administration.tenant) == []


async def test_the_only_administrator_whose_account_expires_stays(administration: Administration) -> None:
    await admit(administration, alice(roles=("admin",), valid_until=NOON + timedelta(days=9)))

    refusal = await refusal_of(delete(administration))
    await update(UserChange(valid_until=NOON + timedelta(days=5)))(administration)

    assert refusal.metadata["cause"] == LAST_ADMINISTRATOR


async def test_the_mapping_rule_of_the_last_administrator_stays(administration: Administration) -> None:
    await admit(administration, alice())
    rule = MappingRule(
        tenant_id=DEFAULT,
        id="rule",
        name="Alice",
        claim_name="email",
        claim_value="alice@example.com",
        roles=("boss",),
    )
    await administration.store.of(MAPPING_RULES).insert(rule)
    rules = MappingRules(
        records=administration.store.of(MAPPING_RULES),
        removals=administration.removals,
        administrators=administration.administrators,
        version=administration.version,
        events=administration.told,
    )
    other = RuleDraft(name="Alice", claim_name="email", claim_value="other")

    for call in (
        rules.remove(administration.tenant, "rule", ROOT, NOTE),
        rules.change(administration.tenant, "rule", other, ROOT, note=NOTE),
        remove_role(administration),
        delete(administration),
    ):
        assert (await refusal_of(call)).metadata["cause"] == LAST_ADMINISTRATOR
    await update(UserChange(roles=("admin",)))(administration)
    await rules.remove(administration.tenant, "rule", ROOT, NOTE)

    assert await administration.store.of(MAPPING_RULES).page(DEFAULT) == []


@pytest.mark.parametrize("administers_deployment", [False, True])
async def test_only_administrators_of_the_deployment_leave_a_tenant_without_one(
    administration: Administration, *, administers_deployment: bool
) -> None:
    await admit(administration, alice(id="anna", tenant_id=ACME, roles=("admin",)), tenant_id=ACME)
    tenant = administration.provider.tenants.find("acme")
    actor = replace(ROOT, administers_deployment=administers_deployment)

    if administers_deployment:
        await administration.users.delete(tenant, await _only(administration, tenant), actor)
    else:
        refusal = await refusal_of(
            administration.users.delete(tenant, await _only(administration, tenant), actor)
        )
        assert str(refusal).startswith("this would leave the tenant without an administrator")

    left = await administration.store.of(USERS).page(ACME)
    assert bool(left) is not administers_deployment


async def _only(administration: Administration, tenant: Tenant) -> object:
    (user,) = await administration.users.page(tenant, after="", most=2)
    return user.user_id


async def test_of_two_changes_at_once_the_second_looks_again(administration: Administration) -> None:
    await admit(administration, alice(roles=("admin",)), bob(roles=("admin",)))
    users = administration.store.of(USERS)
    first, second = await users.page(DEFAULT)

    guards = [await administration.administrators.guard(person, None, ROOT) for person in (first, second)]
    await users.take(DEFAULT, first.id, guard=guards[0])
    with pytest.raises(Changed):
        await users.take(DEFAULT, second.id, guard=guards[1])

    assert [user.id for user in await users.page(DEFAULT)] == [second.id]


PROVIDER, DIRECTORY = "upstream", "directory"


def from_elsewhere(**fields: object) -> User:
    """An administrator without a password and without a passkey."""
    return alice(roles=("admin",), account_type=AccountType.FEDERATED, password_hash="", **fields)


async def link(administration: Administration, user_id: str, *sources: str) -> None:
    store = administration.store
    for source in sources:
        common: dict[str, Any] = {"tenant_id": DEFAULT, "id": f"{source} {user_id}", "user_id": user_id}
        if source == DIRECTORY:
            await store.of(LDAP_LINKS).insert(LdapLink(**common, directory_id=source))
        else:
            await store.of(PROVIDER_LINKS).insert(ProviderLink(**common, provider_id=source))


@pytest.mark.parametrize("source", [PROVIDER, DIRECTORY])
async def test_the_only_way_in_of_the_last_administrator_stays(
    administration: Administration, source: str
) -> None:
    await admit(administration, from_elsewhere())
    await link(administration, "alice", source)

    refusal = await refusal_of(administration.administrators.guard_ways_in(DEFAULT, source, ROOT))

    assert refusal.metadata["cause"] == LAST_ADMINISTRATOR


@pytest.mark.parametrize(
    "people",
    [
        pytest.param([from_elsewhere(has_passkey=True)], id="a passkey"),
        pytest.param([alice(roles=("admin",))], id="a password"),
        pytest.param([from_elsewhere(), bob(roles=("admin",))], id="another administrator"),
    ],
)
async def test_a_provider_goes_when_an_administrator_has_another_way_in(
    administration: Administration, people: list[User]
) -> None:
    await admit(administration, *people)
    await link(administration, "alice", PROVIDER)

    guard = await administration.administrators.guard_ways_in(DEFAULT, PROVIDER, ROOT)

    assert guard is not None
