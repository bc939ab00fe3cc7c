"""Permissions of a principal: its own, and those from its roles, groups and mapping rules."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.directory.claims import NO_CLAIMS, Claims, claims_of
from identity.directory.holdings import ADMINISTRATOR_ROLES, Givers, Standing, standing_of
from identity.directory.labels import Group, Role
from identity.directory.mapping_rule import MappingRule
from identity.directory.user import User
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.errors import InvalidArgument
from tests.identity.browsers import alice

DEFAULT, ACME, UMBRELLA = TenantId("default"), TenantId("acme"), TenantId("umbrella")
READ, WORK, DEPLOY = Permission.HISTORY_READ, Permission.JOB_WORK, Permission.PROCESS_DEPLOY

CLERK = Role(tenant_id=DEFAULT, id="1", name="clerk", permissions=(READ,))
WORKER = Role(tenant_id=DEFAULT, id="2", name="worker", permissions=(WORK,), tenant_ids=(ACME,))
STAFF = Group(tenant_id=DEFAULT, id="3", name="staff", roles=("worker",), tenant_ids=(UMBRELLA,))
RULE = MappingRule(
    tenant_id=DEFAULT, id="rule", name="Rule", claim_name="branch", claim_value="oxford", roles=("clerk",)
)
OXFORD: Claims = {"branch": frozenset({"oxford"})}
EVERY_TENANT = (DEFAULT, ACME, UMBRELLA)
GIVERS = Givers(roles=(CLERK, WORKER), groups=(STAFF,), rules=(RULE,), tenant_ids=EVERY_TENANT)


def somebody(**fields: object) -> User:
    return alice(**{"tenant_ids": (DEFAULT,), "permissions": (), "roles": (), "groups": ()} | fields)


@pytest.mark.parametrize(
    ("holder", "claims", "tenant_ids", "permissions"),
    [
        pytest.param(somebody(), NO_CLAIMS, {DEFAULT}, set(), id="nothing of its own"),
        pytest.param(somebody(permissions=(DEPLOY,)), NO_CLAIMS, {DEFAULT}, {DEPLOY}, id="its own"),
        pytest.param(somebody(roles=("clerk",)), NO_CLAIMS, {DEFAULT}, {READ}, id="by a role"),
        pytest.param(somebody(roles=("gone",)), NO_CLAIMS, {DEFAULT}, set(), id="by a role that is gone"),
        pytest.param(somebody(groups=("gone",)), NO_CLAIMS, {DEFAULT}, set(), id="by a group that is gone"),
        pytest.param(
            somebody(groups=("staff",)), NO_CLAIMS, set(EVERY_TENANT), {WORK}, id="by a role of a group"
        ),
        pytest.param(somebody(), OXFORD, {DEFAULT}, {READ}, id="by a rule"),
        pytest.param(
            somebody(), {"branch": frozenset({"paris"})}, {DEFAULT}, set(), id="by another value of the claim"
        ),
        pytest.param(
            somebody(), {"city": frozenset({"oxford"})}, {DEFAULT}, set(), id="by another claim of the value"
        ),
        pytest.param(
            somebody(roles=("clerk", "worker"), permissions=(DEPLOY,)),
            NO_CLAIMS,
            {DEFAULT, ACME},
            {READ, WORK, DEPLOY},
            id="all together",
        ),
    ],
)
def test_a_principal_has_what_it_is_given(
    holder: User, claims: Claims, tenant_ids: set[TenantId], permissions: set[Permission]
) -> None:
    assert standing_of(holder, GIVERS, claims) == Standing(frozenset(tenant_ids), frozenset(permissions))


def test_a_rule_gives_groups_and_tenants_too() -> None:
    rule = replace(RULE, roles=(), groups=("staff",), tenant_ids=(ACME,))

    standing = standing_of(somebody(), replace(GIVERS, rules=(rule,)), OXFORD)

    assert standing == Standing(frozenset(EVERY_TENANT), frozenset({WORK}))


def test_a_tenant_that_may_not_be_given_is_not() -> None:
    standing = standing_of(
        somebody(roles=("worker",), groups=("staff",)), replace(GIVERS, tenant_ids=(ACME,)), NO_CLAIMS
    )

    assert standing.tenant_ids == {DEFAULT, ACME}


@pytest.mark.parametrize("name", sorted(ADMINISTRATOR_ROLES))
def test_an_administrators_role_is_there_without_a_record(name: str) -> None:
    group = replace(STAFF, roles=(name,), tenant_ids=())

    standing = standing_of(somebody(groups=("staff",)), replace(GIVERS, groups=(group,)), NO_CLAIMS)

    assert standing.permissions == {Permission.IDENTITY_READ, Permission.IDENTITY_WRITE}
    assert standing.administers


names = st.sampled_from(["a", "b", "c", "d"])
some_names = st.lists(names, max_size=3).map(tuple)
some_tenants = st.lists(st.sampled_from(EVERY_TENANT), max_size=3).map(tuple)
some_permissions = st.lists(st.sampled_from(Permission), max_size=3).map(tuple)
some_claims = st.dictionaries(names, st.frozensets(names, max_size=2), max_size=3)
holders = st.builds(
    somebody, roles=some_names, groups=some_names, tenant_ids=some_tenants, permissions=some_permissions
)
OF = {"tenant_id": st.just(DEFAULT), "id": names}
roles = st.builds(Role, **OF, name=names, permissions=some_permissions, tenant_ids=some_tenants)
groups = st.builds(Group, **OF, name=names, roles=some_names, tenant_ids=some_tenants)
rules = st.builds(
    MappingRule,
    **OF,
    name=names,
    claim_name=names,
    claim_value=names,
    roles=some_names,
    groups=some_names,
    tenant_ids=some_tenants,
)
all_givers = st.builds(
    Givers,
    roles=st.lists(roles, max_size=4),
    groups=st.lists(groups, max_size=4),
    rules=st.lists(rules, max_size=4),
    tenant_ids=some_tenants,
)


@given(holders, all_givers, some_claims)
def test_nobody_has_more_than_the_parts_give(holder: User, givers: Givers, claims: Claims) -> None:
    standing = standing_of(holder, givers, claims)

    given_by_roles = {permission for role in givers.roles for permission in role.permissions}
    assert standing.tenant_ids - {*holder.tenant_ids} <= {*givers.tenant_ids}
    assert standing.permissions - {*holder.permissions} <= given_by_roles


@given(holders, all_givers, some_claims)
def test_nobody_has_less_than_its_own(holder: User, givers: Givers, claims: Claims) -> None:
    standing = standing_of(holder, givers, claims)

    assert standing.tenant_ids >= {*holder.tenant_ids}
    assert standing.permissions >= {*holder.permissions}


@given(holders, all_givers, some_claims)
def test_order_does_not_matter(holder: User, givers: Givers, claims: Claims) -> None:
    backwards = Givers(
        roles=tuple(givers.roles)[::-1],
        groups=tuple(givers.groups)[::-1],
        rules=tuple(givers.rules)[::-1],
        tenant_ids=tuple(givers.tenant_ids)[::-1],
    )
    other = replace(holder, roles=holder.roles[::-1], groups=holder.groups[::-1])

    assert standing_of(holder, givers, claims) == standing_of(other, backwards, claims)


@given(holders, all_givers, some_claims, st.data())
def test_what_is_taken_away_gives_nobody_more(
    holder: User, givers: Givers, claims: Claims, data: st.DataObject
) -> None:
    kept = st.lists(st.sampled_from(list(givers.roles)), unique_by=id) if givers.roles else st.just([])

    fewer = standing_of(holder, replace(givers, roles=data.draw(kept)), claims)

    all_of_them = standing_of(holder, givers, claims)
    assert fewer.tenant_ids <= all_of_them.tenant_ids
    assert fewer.permissions <= all_of_them.permissions


@pytest.mark.parametrize(
    ("document", "texts"),
    [
        pytest.param(b'{"claim": "oxford"}', {"oxford"}, id="string"),
        pytest.param(b'{"claim": 5}', {"5"}, id="number"),
        pytest.param(b'{"claim": true}', {"true"}, id="boolean"),
        pytest.param(b'{"claim": ["oxford", 5, false]}', {"oxford", "5", "false"}, id="array"),
        pytest.param(b'{"claim": null}', set(), id="null"),
        pytest.param(b'{"claim": {"oxford": "oxford"}}', set(), id="object"),
        pytest.param(b'{"claim": [["oxford"]]}', set(), id="array in an array"),
    ],
)
def test_a_claim_holds_texts(document: bytes, texts: set[str]) -> None:
    assert claims_of(document) == {"claim": texts}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b'{"claim": ', id="no JSON"),
        pytest.param(b'{"claim": ' + b"[" * 4000, id="no end"),
    ],
)
def test_claims_are_an_object(document: bytes) -> None:
    with pytest.raises(InvalidArgument):
        claims_of(document)
