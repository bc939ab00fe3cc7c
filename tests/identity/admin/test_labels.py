"""Groups, roles and scopes, and those who carry them."""

from dataclasses import replace

import pytest

from identity.admin.holders import ClientsWithScopes, PeopleWith
from identity.clients.client import CLIENTS
from identity.directory.labels import Group, Role, ScopeDefinition
from identity.directory.user import USERS
from server.platform.call import TenantId
from server.platform.errors import AlreadyExists, InvalidArgument, NotFound
from tests.identity.admin.administration import ROOT, Administration
from tests.identity.browsing import alice, app

DEFAULT = TenantId("default")


def group(name: str) -> Group:
    return Group(tenant_id=DEFAULT, id="", name=name)


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
    assert await administration.roles.names(administration.tenant) == {"admin"}


async def test_who_has_both_names_keeps_one(administration: Administration) -> None:
    await members(administration, 1, groups=("readers", "writers"))

    holders = PeopleWith(administration.store.of(USERS), "groups")
    await holders.rename(administration.tenant, "readers", "writers")

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
        PeopleWith(administration.store.of(USERS), "groups"),
        ClientsWithScopes(administration.store.of(CLIENTS)),
    ):
        await holders.rename(administration.tenant, "readers", "")

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
