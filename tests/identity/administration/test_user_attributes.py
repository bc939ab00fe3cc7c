from dataclasses import replace

import pytest

from identity.access.callers import Actor, ActorKind
from identity.directory.labels import USER_ATTRIBUTES, ScopeDefinition, UserAttribute
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from server.platform.call import TenantId
from server.platform.errors import AlreadyExists, InvalidArgument, NotFound, PermissionDenied
from tests.identity.administration.administration import ALICE, KEY, ROOT, Administration
from tests.identity.browsers import alice

BRANCH = UserAttribute(tenant_id=TenantId("default"), id="branch", desc="Where she works")
COLOUR = UserAttribute(tenant_id=TenantId("default"), id="colour", user_editable=True)
WORK = ScopeDefinition(
    tenant_id=TenantId("default"),
    id="",
    name="work",
    attr_include_access=("branch",),
    attr_include_id=("colour", "branch"),
)
HERSELF = Actor(ActorKind.USER, ALICE, "alice@example.com")


@pytest.fixture(autouse=True)
async def _attributes(administration: Administration) -> None:
    for attribute in (BRANCH, COLOUR):
        await administration.attributes.add(attribute, ROOT)


async def test_attributes_are_listed_by_name(administration: Administration) -> None:
    found = await administration.attributes.all(administration.tenant)

    assert [(attribute.id, attribute.desc) for attribute in found] == [
        ("branch", "Where she works"),
        ("colour", ""),
    ]


async def test_a_name_is_there_once(administration: Administration) -> None:
    with pytest.raises(AlreadyExists):
        await administration.attributes.add(BRANCH, ROOT)


@pytest.mark.parametrize("name", ["sub", "roles", "email", "custom", "active"])
async def test_no_attribute_has_the_name_of_a_claim_of_the_provider(
    administration: Administration, name: str
) -> None:
    with pytest.raises(InvalidArgument):
        await administration.attributes.add(replace(BRANCH, id=name), ROOT)


async def test_a_scope_opens_attributes_that_there_are(administration: Administration) -> None:
    opened = administration.attributes.opened

    assert await opened(administration.tenant, ("colour", "branch", "colour")) == ("colour", "branch")
    with pytest.raises(InvalidArgument):
        await opened(administration.tenant, ("branch", "unheard-of"))


async def test_a_scope_never_opens_what_would_hide_a_claim_of_the_provider(
    administration: Administration,
) -> None:
    await administration.store.of(USER_ATTRIBUTES).insert(replace(BRANCH, id="email"))

    with pytest.raises(InvalidArgument, match="claim of the provider"):
        await administration.attributes.opened(administration.tenant, ("email",))


async def test_values_are_added_changed_and_taken_away(administration: Administration) -> None:
    set_of_user = administration.attributes.set_of_user
    await set_of_user(administration.tenant, ALICE, {"branch": '"Oxford"', "colour": "[1,2]"}, actor=ROOT)

    kept = await set_of_user(administration.tenant, ALICE, {"branch": "null"}, actor=ROOT)

    assert kept == {"colour": "[1,2]"}
    assert await administration.attributes.of_user(administration.tenant, ALICE) == kept


@pytest.mark.parametrize(
    "values", [{"unheard-of": "1"}, {"branch": "no JSON"}, {"branch": f'"{"x" * 8192}"'}]
)
async def test_a_value_is_json_of_an_attribute_that_there_is(
    administration: Administration, values: dict[str, str]
) -> None:
    with pytest.raises(InvalidArgument):
        await administration.attributes.set_of_user(administration.tenant, ALICE, values, actor=ROOT)


async def test_a_person_changes_what_is_open_to_it(administration: Administration) -> None:
    kept = await administration.attributes.set_of_user(
        administration.tenant, ALICE, {"colour": '"red"'}, actor=HERSELF
    )

    assert kept == {"colour": '"red"'}


async def test_a_person_changes_nothing_else(administration: Administration) -> None:
    with pytest.raises(PermissionDenied):
        await administration.attributes.set_of_user(
            administration.tenant, ALICE, {"colour": "1", "branch": "1"}, actor=HERSELF
        )

    assert await administration.attributes.of_user(administration.tenant, ALICE) == {}


async def test_what_is_said_of_an_attribute_changes_and_its_name_stays(
    administration: Administration,
) -> None:
    after = replace(BRANCH, desc="The office", user_editable=True)

    kept = await administration.attributes.change(administration.tenant, "branch", after=after, actor=ROOT)

    assert (kept.id, kept.desc, kept.user_editable) == ("branch", "The office", True)
    assert await administration.attributes.all(administration.tenant) == [kept, replace(COLOUR, revision=1)]


async def test_an_attribute_is_renamed_for_people_and_scopes(administration: Administration) -> None:
    await administration.scopes.add(administration.tenant, WORK, ROOT)
    values = {"branch": '"Oxford"', "colour": '"red"'}
    await administration.provider.admit(alice(id="u1", email="u1@example.com", attributes=values))

    office = replace(BRANCH, id="office")
    await administration.attributes.change(administration.tenant, "branch", after=office, actor=ROOT)

    [scope] = await administration.scopes.all(administration.tenant)
    known = await administration.attributes.all(administration.tenant)
    assert (await administration.user("u1")).attributes == {"office": '"Oxford"', "colour": '"red"'}
    assert (scope.attr_include_access, scope.attr_include_id) == (("office",), ("colour", "office"))
    assert [attribute.id for attribute in known] == ["colour", "office"]


@pytest.mark.parametrize(
    ("name", "error"), [("colour", AlreadyExists), ("email", InvalidArgument), ("a b", InvalidArgument)]
)
async def test_an_attribute_is_not_renamed_to_what_it_may_not_be_called(
    administration: Administration, name: str, error: type[Exception]
) -> None:
    await administration.provider.admit(alice(id="u1", email="u1@example.com", attributes={"branch": "1"}))

    with pytest.raises(error):
        await administration.attributes.change(
            administration.tenant, "branch", after=replace(BRANCH, id=name), actor=ROOT
        )

    assert (await administration.user("u1")).attributes == {"branch": "1"}


async def test_an_attribute_that_is_removed_is_taken_from_scopes(administration: Administration) -> None:
    await administration.scopes.add(administration.tenant, WORK, ROOT)

    await administration.attributes.remove(administration.tenant, "branch", ROOT)

    [kept] = await administration.scopes.all(administration.tenant)
    assert (kept.attr_include_access, kept.attr_include_id) == ((), ("colour",))


async def test_an_attribute_that_is_removed_is_taken_from_everybody(administration: Administration) -> None:
    values = {"branch": '"Oxford"', "colour": '"red"'}
    await administration.provider.admit(
        *(alice(id=f"u{n}", email=f"u{n}@example.com", attributes=values) for n in range(3))
    )

    await administration.attributes.remove(administration.tenant, "branch", ROOT)

    people = await administration.users.page(administration.tenant, after="u", most=10)
    assert [user.attributes for user in people] == [{"colour": '"red"'}] * 3
    with pytest.raises(NotFound):
        await administration.attributes.remove(administration.tenant, "branch", ROOT)


async def test_an_api_key_gives_no_value_that_a_rule_makes_administrators_of(
    administration: Administration,
) -> None:
    rule = MappingRule(
        tenant_id=TenantId("default"),
        id="rule",
        name="rule",
        claim_name="branch",
        claim_value="hq",
        roles=("admin",),
    )
    await administration.store.of(MAPPING_RULES).insert(rule)
    set_of_user = administration.attributes.set_of_user

    with pytest.raises(PermissionDenied):
        await set_of_user(administration.tenant, ALICE, {"branch": '["hq"]'}, actor=KEY)
    await set_of_user(administration.tenant, ALICE, {"branch": '"Oxford"'}, actor=KEY)

    assert await administration.attributes.of_user(administration.tenant, ALICE) == {"branch": '"Oxford"'}
