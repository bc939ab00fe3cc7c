"""Lists of records that may be long: page by page, searched by words, and without cost for what nobody asked for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from identity.access.last_administrator import LastAdministrator
from identity.directory.authorization import AUTHORIZATIONS, Authorization, OwnerType
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.standings import Standings
from identity.directory.tenants.saml_application import (
    SAML_APPLICATIONS,
    SamlApplication,
    SamlApplicationFields,
)
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.directory.user import User
from identity.foundation.searches import RecordSearch, listed
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import AuthenticationMethod, Permission
from server.platform.call import Grant, TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidArgument
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import Kind, Record, Records, RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from server.platform.records.statements import Statements
from server.platform.records.texts import holds_many
from tests.durable import emptied, migrated_database

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
DEFAULT, ACME = TenantId("default"), TenantId("acme")
MANY = 1200
"""More than a page has."""


class CountingDatabase(PooledDatabase):
    """Counts rows that it returned, and statements."""

    rows = 0
    statements = 0

    async def fetch(self, text: str, *arguments: object) -> Any:
        found = await super().fetch(text, *arguments)
        self.statements += 1
        self.rows += len(found)
        return found


@dataclass(frozen=True)
class Directory:
    """`database` is None in memory."""

    store: RecordStore
    clock: VirtualClock
    database: CountingDatabase | None


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "lists"))


@pytest.fixture(params=["memory", "postgres"])
async def directory(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[Directory]:
    clock = VirtualClock(pinned=NOON)
    if request.param == "memory":
        yield Directory(MemoryRecordStore(clock), clock, None)
        return
    async with emptied(dsn) as pool:
        database = CountingDatabase(pool)
        yield Directory(PostgresRecordStore(database, clock), clock, database)


def client(record_id: str, name: str) -> Client:
    method = AuthenticationMethod.NONE
    return Client(tenant_id=ACME, id=record_id, name=name, token_endpoint_auth_method=method)


def tenant(record_id: str, name: str) -> TenantRecord:
    return TenantRecord(tenant_id=DEPLOYMENT, id=record_id, name=name, created_at=NOON)


def application(record_id: str, name: str) -> SamlApplication:
    return SamlApplication(tenant_id=ACME, id=record_id, fields=SamlApplicationFields(entity_id=name))


def group(record_id: str, name: str) -> Group:
    return Group(tenant_id=ACME, id=record_id, name=name, display_name=f"The {name}")


def role(record_id: str, name: str) -> Role:
    return Role(tenant_id=ACME, id=record_id, name=name)


Make = Callable[[str, str], Record]

LISTS: Sequence[Any] = [
    pytest.param(CLIENTS, client, id="clients"),
    pytest.param(GROUPS, group, id="groups"),
    pytest.param(ROLES, role, id="roles"),
    pytest.param(TENANTS, tenant, id="tenants"),
    pytest.param(SAML_APPLICATIONS, application, id="saml applications"),
]


async def ids(
    records: Records[Any], tenant_id: TenantId, search: RecordSearch, *, size: int, between: Any = None
) -> Sequence[str]:
    """Return the ids of all pages; `between` is called after each page."""
    found: list[str] = []
    token, is_more = "", True
    while is_more:
        page, token = await listed(records, tenant_id, search, page_size=size, continuation_token=token)
        found += [record.id for record in page]
        is_more = bool(token)
        if between is not None:
            await between()
    return found


@pytest.mark.parametrize(("kind", "make"), LISTS)
@pytest.mark.parametrize(
    "search", [RecordSearch(), RecordSearch(text="app"), RecordSearch(is_descending=True)]
)
async def test_pages_have_each_record_once_while_others_are_added_and_removed(
    directory: Directory, kind: Kind[Any], make: Make, search: RecordSearch
) -> None:
    records = directory.store.of(kind)
    kept = [await records.insert(make(f"k{number:02}", f"App {number}")) for number in range(25)]
    gone = await records.insert(make("k10-gone", "App gone"))
    number = 0

    async def change() -> None:
        nonlocal number
        number += 1
        await records.insert(make(f"a{number:02}", f"App new {number}"))
        await records.take(gone.tenant_id, gone.id)

    found = await ids(records, gone.tenant_id, search, size=4, between=change)

    assert sorted(each for each in found if each.startswith("k") and each != gone.id) == [
        each.id for each in kept
    ]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(("kind", "make"), LISTS)
async def test_a_search_finds_records_by_the_beginnings_of_words(
    directory: Directory, kind: Kind[Any], make: Make
) -> None:
    records = directory.store.of(kind)
    names = {"r1": "Payroll North", "r2": "payments-NORTH", "r3": "O'Neill_South", "r4": "Zoë"}
    for each in names.items():
        tenant_id = (await records.insert(make(*each))).tenant_id

    def found(text: str) -> Any:
        return ids(records, tenant_id, RecordSearch(text=text), size=2)

    assert await found("pay") == ["r1", "r2"]
    assert await found("NORTH payr") == ["r1"]
    assert await found("neill") == ["r3"]
    assert await found("zoë") == ["r4"]
    assert await found("orth") == []


@pytest.mark.parametrize(("kind", "make"), LISTS)
async def test_a_page_of_a_search_that_all_records_match_is_one_statement(
    directory: Directory, kind: Kind[Any], make: Make
) -> None:
    records = directory.store.of(kind)
    for number in range(10):
        tenant_id = (await records.insert(make(f"r{number}", f"App {number}"))).tenant_id
    if directory.database is not None:
        directory.database.rows = directory.database.statements = 0

    found, _ = await listed(records, tenant_id, RecordSearch(text="app"), page_size=4, continuation_token="")

    assert [record.id for record in found] == ["r0", "r1", "r2", "r3"]
    if directory.database is not None:
        assert (directory.database.statements, directory.database.rows) == (1, 5)


async def test_labels_are_listed_by_name(directory: Directory) -> None:
    records = directory.store.of(ROLES)
    for record_id, name in (("1", "clerk"), ("2", "baker"), ("3", "actor")):
        await records.insert(role(record_id, name))

    up = await ids(records, ACME, RecordSearch(sort="name"), size=2)
    down = await ids(records, ACME, RecordSearch(sort="name", is_descending=True), size=2)

    assert (up, down) == (["3", "2", "1"], ["1", "2", "3"])


async def test_a_token_of_another_search_is_refused(directory: Directory) -> None:
    records = directory.store.of(ROLES)
    for number in range(3):
        await records.insert(role(str(number), f"role {number}"))
    _, token = await listed(records, ACME, RecordSearch(text="role"), page_size=1, continuation_token="")

    with pytest.raises(InvalidArgument):
        await listed(records, ACME, RecordSearch(text="rol"), page_size=1, continuation_token=token)


async def furnish(store: RecordStore, number: int) -> None:
    """Make roles, groups, rules and authorizations that nobody has, whose ids come before those that somebody has."""
    numbers = range(number)
    await store.of(ROLES).insert_all([role(f"a{each}", f"other-{each}") for each in numbers])
    await store.of(GROUPS).insert_all([group(f"a{each}", f"other-{each}") for each in numbers])
    await store.of(MAPPING_RULES).insert_all([rule(f"a{each}", "team", f"other-{each}") for each in numbers])
    await store.of(AUTHORIZATIONS).insert_all(
        [authorization(f"1{each}", OwnerType.ROLE, f"a{each}") for each in numbers]
    )


def rule(record_id: str, claim: str, value: str, **given: Any) -> MappingRule:
    return MappingRule(
        tenant_id=ACME, id=record_id, name=record_id, claim_name=claim, claim_value=value, **given
    )


def authorization(record_id: str, owner_type: OwnerType, owner: str) -> Authorization:
    return Authorization(
        tenant_id=ACME,
        id=record_id,
        owner=f"{owner_type}:{owner}",
        owner_type=owner_type,
        owner_id=owner,
        resource_type="GROUP",
        resource_id=record_id,
        permission_types=("READ",),
    )


async def test_of_many_labels_rules_and_authorizations_a_principal_has_its_own_and_reads_no_others(
    directory: Directory,
) -> None:
    store = directory.store
    await furnish(store, MANY)
    await store.of(ROLES).insert(
        Role(tenant_id=ACME, id="z1", name="clerk", permissions=(Permission.IDENTITY_READ,))
    )
    await store.of(GROUPS).insert(Group(tenant_id=ACME, id="z1", name="staff", roles=("clerk",)))
    await store.of(MAPPING_RULES).insert(rule("z1", "team", "oxford=1\0", groups=("staff",)))
    for number, owner_type in enumerate((OwnerType.ROLE, OwnerType.GROUP, OwnerType.MAPPING_RULE), 1):
        await store.of(AUTHORIZATIONS).insert(authorization(f"9{number}", owner_type, "z1"))
    if directory.database is not None:
        directory.database.rows = directory.database.statements = 0

    standings = Standings(store, Tenants("https://id.example.com", DEFAULT, [ACME]))
    standing = await standings.of(
        User(tenant_id=ACME, id="ada", email="ada@example.com", tenant_ids=(ACME,)),
        {"team": frozenset({"oxford=1\0", "cambridge"})},
    )

    assert standing.permissions == {Permission.IDENTITY_READ}
    assert standing.grants == {Grant("GROUP", "READ", resource) for resource in ("91", "92", "93")}
    if directory.database is not None:
        assert (directory.database.statements, directory.database.rows) == (4, 6)


async def test_a_change_that_takes_no_administration_reads_only_the_labels_of_the_user(
    directory: Directory,
) -> None:
    store = directory.store
    await furnish(store, MANY)
    await store.of(ROLES).insert(role("z1", "clerk"))
    await store.of(GROUPS).insert(Group(tenant_id=ACME, id="z1", name="staff", roles=("clerk",)))
    last = LastAdministrator(
        store, Tenants("https://id.example.com", DEFAULT, [ACME]), directory.clock, emails=()
    )
    ada = User(tenant_id=ACME, id="ada", email="ada@example.com", groups=("staff",))
    if directory.database is not None:
        directory.database.rows = directory.database.statements = 0

    guard = await last.guard(ada, None)

    assert guard is None
    if directory.database is not None:
        assert (directory.database.statements, directory.database.rows) == (3, 2)


async def test_standings_of_several_principals_share_what_is_read(directory: Directory) -> None:
    store = directory.store
    await furnish(store, 10)
    await store.of(ROLES).insert(
        Role(tenant_id=ACME, id="z1", name="clerk", permissions=(Permission.IDENTITY_READ,))
    )
    people = [
        User(
            tenant_id=ACME,
            id=f"u{number}",
            email=f"u{number}@example.com",
            roles=("clerk",) if number % 2 else ("other-1",),
        )
        for number in range(60)
    ]
    if directory.database is not None:
        directory.database.statements = 0

    standings = Standings(store, Tenants("https://id.example.com", DEFAULT, [ACME]))
    found = await standings.of_all((user, {}) for user in people)

    assert [bool(each.permissions) for each in found] == [number % 2 == 1 for number in range(60)]
    if directory.database is not None:
        # Their roles, and the authorizations of all.
        assert directory.database.statements == 2


async def test_a_process_reads_only_the_tenants_that_another_one_changed(directory: Directory) -> None:
    store = directory.store
    await store.of(TENANTS).insert_all([tenant(f"t{number}", "One") for number in range(MANY)])
    here, there = process(directory), process(directory)
    await here.directory.refresh()
    await there.directory.refresh()
    new = await store.of(TENANTS).insert(tenant("new", "New"))
    await here.directory.heed(new.own_id)
    if directory.database is not None:
        directory.database.rows = 0

    await there.directory.catch_up()

    assert here.tenants.find("new").name == there.tenants.find("new").name == "New"
    assert len(there.tenants.ids) == MANY + 2
    if directory.database is not None:
        assert directory.database.rows == 2


async def test_a_process_that_missed_many_changes_of_tenants_reads_all(directory: Directory) -> None:
    records = directory.store.of(TENANTS)
    here, there = process(directory), process(directory)
    await there.directory.refresh()
    for number in range(120):
        kept = await records.insert(tenant(f"t{number}", "One"))
        await here.directory.heed(kept.own_id)

    await there.directory.catch_up()

    assert len(there.tenants.ids) == 121


async def test_a_tenant_that_another_process_deleted_or_disabled_is_not_served(directory: Directory) -> None:
    records = directory.store.of(TENANTS)
    here, there = process(directory), process(directory)
    for kept in [await records.insert(tenant(name, "One")) for name in ("a", "b", "c")]:
        await here.directory.heed(kept.own_id)
    await there.directory.catch_up()
    deleted = TenantRecord(
        tenant_id=DEPLOYMENT, id="a", name="One", created_at=NOON, deleted_at=NOON, revision=1
    )
    disabled = TenantRecord(
        tenant_id=DEPLOYMENT, id="b", name="One", created_at=NOON, is_enabled=False, revision=1
    )
    for changed in (deleted, disabled):
        await records.replace(changed)
        await here.directory.heed(changed.own_id)

    await there.directory.catch_up()

    assert there.tenants.ids == ("b", "c", DEFAULT)
    assert {each.tenant_id for each in there.tenants.all()} == {"c", DEFAULT}
    assert [record.id for record in there.directory.deleted] == ["a"]


@dataclass(frozen=True)
class Process:
    tenants: Tenants
    directory: TenantDirectory


def process(directory: Directory) -> Process:
    tenants = Tenants("https://id.example.com", DEFAULT)
    return Process(tenants, TenantDirectory(tenants, directory.store, directory.clock))


LOOK_UPS: Sequence[Any] = [
    pytest.param(ROLES, "find_any", "name", ["other-7"], id="roles of names"),
    pytest.param(GROUPS, "find_any", "name", ["other-7"], id="groups of names"),
    pytest.param(GROUPS, "find", "roles", "other-7", id="groups with a role"),
    pytest.param(MAPPING_RULES, "find_any", "claim", ["team=other-7"], id="rules of claims"),
    pytest.param(MAPPING_RULES, "find", "groups", "other-7", id="rules with a group"),
    pytest.param(AUTHORIZATIONS, "find_any", "owner", ["ROLE:a7"], id="authorizations of owners"),
]


@pytest.mark.parametrize(("kind", "look_up", "field", "sought"), LOOK_UPS)
async def test_a_look_up_is_done_in_an_index(
    dsn: str, kind: Kind[Any], look_up: str, field: str, sought: object
) -> None:
    lists = frozenset(name for name in kind.derived if holds_many(kind.type, name))
    statement = getattr(Statements.of(kind, lists), look_up)[field]
    arguments = (ACME, sought, NOON, *([100] if look_up == "find" else []))
    async with emptied(dsn) as pool:
        await furnish(PostgresRecordStore(PooledDatabase(pool), VirtualClock(pinned=NOON)), 5 * MANY)
        await pool.execute(f'ANALYZE identity."{kind.name}"')

        plan = await pool.fetch(f"EXPLAIN {statement}", *arguments)

    assert not any("Seq Scan" in row[0] for row in plan)
