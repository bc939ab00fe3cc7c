"""Groups, roles and scopes, and the records that contain them."""

from dataclasses import replace

import pytest

from identity.directory.client import CLIENTS
from identity.directory.labels import GROUPS, Group, Role, ScopeDefinition
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.provider import PROVIDERS, ClaimMapping
from identity.directory.user import USERS
from identity.foundation.vocabulary import Permission
from identity.people.holders import RecordsWith, holders_of_scopes
from server.platform.call import TenantId
from server.platform.errors import AlreadyExists, InvalidArgument, NotFound, PermissionDenied
from tests.identity.administration.administration import KEY, ROOT, Administration
from tests.identity.authentication.federation.upstream import upstream
from tests.identity.browsers import alice, app

DEFAULT = TenantId("default")


def group(name: str) -> Group:
    return Group(tenant_id=DEFAULT, id="", name=name)


def rule(**fields: object) -> MappingRule:
    made = MappingRule(tenant_id=DEFAULT, id="rule", name="Rule", claim_name="branch", claim_value="oxford")
    return replace(made, **fields)  # type: ignore[arg-type]


async def members(administration: Administration, count: int, **fields: object) -> None:
    await administration.provider.admit(
        *(alice(id=f"u{n:03}", email=f"u{n}@example.com", **fields) for n in range(count))
    )


async def test_a_group_is_listed_under_an_id_of_its_own(administration: Administration) -> None:
    readers = await administration.groups.add(administration.tenant, group("the readers"), ROOT)

    assert await administration.groups.all(administration.tenant) == [readers]
    assert (len(readers.id), readers.name) == (24, "the readers")
    assert await administration.told_of() == {("Created", "group the readers")}


async def test_a_name_is_there_once(administration: Administration) -> None:
    await administration.groups.add(administration.tenant, group("readers"), ROOT)

    with pytest.raises(AlreadyExists):
        await administration.groups.add(administration.tenant, group("readers"), ROOT)


async def test_what_is_built_in_is_there_already(administration: Administration) -> None:
    with pytest.raises(AlreadyExists):
        await administration.roles.add(
            administration.tenant, Role(tenant_id=DEFAULT, id="", name="admin"), ROOT
        )


@pytest.mark.parametrize("name", ["x", "a" * 65, "a\nb", "a<b", ""])
async def test_a_name_has_letters_that_a_scope_may_have(administration: Administration, name: str) -> None:
    with pytest.raises(InvalidArgument):
        await administration.groups.add(administration.tenant, group(name), ROOT)


async def test_a_new_name_is_everybodys(administration: Administration) -> None:
    readers = await administration.groups.add(administration.tenant, group("readers"), ROOT)
    await members(administration, 250, groups=("others", "readers"))

    await administration.groups.change(
        administration.tenant, readers.id, ROOT, changed=lambda found: replace(found, name="writers")
    )

    people = await administration.users.page(administration.tenant, after="u", most=1000)
    assert {user.groups for user in people} == {("others", "writers")}
    assert len(people) == 250


async def test_a_name_that_is_gone_is_nobodys(administration: Administration) -> None:
    clerk = await administration.roles.add(
        administration.tenant, Role(tenant_id=DEFAULT, id="", name="clerk"), ROOT
    )
    await members(administration, 2, roles=("clerk",))

    await administration.roles.remove(administration.tenant, clerk.id, ROOT)

    people = await administration.users.page(administration.tenant, after="u", most=10)
    assert [user.roles for user in people] == [(), ()]
    assert await administration.roles.known(administration.tenant, ("admin", "clerk")) == {"admin"}


async def test_a_role_is_renamed_and_removed_wherever_it_is_given(administration: Administration) -> None:
    store, given = administration.store, ("worker", "clerk")
    await administration.provider.admit(alice(id="bob", email="bob@example.com", roles=given))
    await administration.provider.register(app(id="robot", roles=given))
    await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id="staff", name="staff", roles=given))
    await store.of(MAPPING_RULES).insert(rule(roles=given))
    await store.of(PROVIDERS).insert(upstream(mappings=(ClaimMapping(claim="hd", value="x", roles=given),)))

    async def roles() -> set[tuple[str, ...]]:
        holders = [
            await store.of(USERS).get(DEFAULT, "bob"),
            await store.of(CLIENTS).get(DEFAULT, "robot"),
            await store.of(GROUPS).get(DEFAULT, "staff"),
            await store.of(MAPPING_RULES).get(DEFAULT, "rule"),
            *((await store.of(PROVIDERS).page(DEFAULT))[0].fields.mappings),
        ]
        return {holder.roles for holder in holders if holder is not None}

    clerk = await administration.roles.add(
        administration.tenant, Role(tenant_id=DEFAULT, id="", name="clerk"), ROOT
    )
    await administration.roles.change(
        administration.tenant, clerk.id, ROOT, changed=lambda role: replace(role, name="teller")
    )
    assert await roles() == {("worker", "teller")}

    await administration.roles.remove(administration.tenant, clerk.id, ROOT)
    assert await roles() == {("worker",)}


async def test_a_group_that_is_gone_is_given_nowhere(administration: Administration) -> None:
    store = administration.store
    await administration.provider.register(app(id="robot", groups=("staff",)))
    await store.of(MAPPING_RULES).insert(rule(groups=("staff",)))
    mapping = ClaimMapping(claim="hd", value="x", groups=("staff", "others"))
    await store.of(PROVIDERS).insert(upstream(mappings=(mapping,)))
    staff = await administration.groups.add(administration.tenant, group("staff"), ROOT)

    await administration.groups.remove(administration.tenant, staff.id, ROOT)

    robot = await store.of(CLIENTS).get(DEFAULT, "robot")
    [kept] = await store.of(MAPPING_RULES).page(DEFAULT)
    [provider] = await store.of(PROVIDERS).page(DEFAULT)
    assert robot is not None
    assert (robot.groups, kept.groups) == ((), ())
    assert provider.fields.mappings == (replace(mapping, groups=("others",)),)


async def test_an_api_key_gives_no_label_that_makes_administrators(administration: Administration) -> None:
    tenant = administration.tenant
    owner = await administration.roles.add(
        tenant,
        Role(tenant_id=DEFAULT, id="", name="owner", permissions=(Permission.IDENTITY_WRITE,)),
        ROOT,
    )
    clerk = await administration.roles.add(tenant, Role(tenant_id=DEFAULT, id="", name="clerk"), KEY)
    staff = await administration.groups.add(tenant, group("staff"), KEY)

    with pytest.raises(PermissionDenied):
        await administration.roles.change(
            tenant, clerk.id, KEY, changed=lambda role: replace(role, permissions=owner.permissions)
        )
    with pytest.raises(PermissionDenied):
        await administration.roles.remove(tenant, owner.id, KEY)
    for name in ("owner", "admin"):
        with pytest.raises(PermissionDenied):
            await administration.groups.change(
                tenant, staff.id, KEY, changed=lambda found, given=name: replace(found, roles=(given,))
            )


async def test_who_has_both_names_keeps_one(administration: Administration) -> None:
    await members(administration, 1, groups=("readers", "writers"))

    holders = RecordsWith(administration.store.of(USERS), "groups")
    await holders.rename(administration.tenant.tenant_id, "readers", "writers")

    assert (await administration.user("u000")).groups == ("writers",)


async def test_a_scope_is_renamed_for_every_client(administration: Administration) -> None:
    await administration.provider.register(
        app(oauth_scopes=("openid", "orders"), default_scopes=("orders",)), app(id="other")
    )
    orders = await administration.scopes.add(
        administration.tenant, ScopeDefinition(tenant_id=DEFAULT, id="", name="orders"), ROOT
    )

    await administration.scopes.change(
        administration.tenant,
        orders.id,
        ROOT,
        changed=lambda scope: replace(scope, name="order:read", attr_include_id=("branch",)),
    )

    client = await administration.client()
    assert (client.oauth_scopes, client.default_scopes) == (("openid", "order:read"), ("order:read",))
    [kept] = await administration.scopes.all(administration.tenant)
    assert (kept.name, kept.attr_include_id) == ("order:read", ("branch",))


async def test_another_tenants_people_and_clients_keep_the_name(administration: Administration) -> None:
    acme = TenantId("acme")
    await administration.provider.admit(alice(tenant_id=acme, groups=("readers",)))
    await administration.provider.register(app(tenant_id=acme, oauth_scopes=("readers",)))

    for holders in (
        RecordsWith(administration.store.of(USERS), "groups"),
        holders_of_scopes(administration.store),
    ):
        await holders.rename(administration.tenant.tenant_id, "readers", "")

    user = await administration.store.of(USERS).get(acme, "alice")
    client = await administration.store.of(CLIENTS).get(acme, "app")
    assert user is not None
    assert user.groups == ("readers",)
    assert client is not None
    assert client.oauth_scopes == ("readers",)


async def test_what_there_is_not_is_not_found(administration: Administration) -> None:
    with pytest.raises(NotFound):
        await administration.groups.remove(administration.tenant, "nothing", ROOT)
    with pytest.raises(NotFound):
        await administration.groups.change(administration.tenant, "nothing", ROOT, changed=lambda it: it)
