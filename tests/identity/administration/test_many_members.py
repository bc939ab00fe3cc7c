"""Groups, roles and tenants with 10,000 members end in steps of a bounded size, in memory and in PostgreSQL alike."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from identity.administration.tenants.removal import TenantRemoval
from identity.directory.client import CLIENTS
from identity.directory.labels import GROUPS, ROLES
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.tenants.sign_in_domain import SIGN_IN_DOMAINS
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, RemovalPhase, TenantRecord
from identity.directory.user import USERS, User
from identity.foundation.tenants import Tenant, Tenants
from identity.people.holders import Holders, holders_of_groups, holders_of_roles
from identity.records import KINDS
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ACME, UMBRELLA = TenantId("acme"), TenantId("umbrella")
TENANT = Tenant(ACME, "https://id.example.com/acme")
MEMBERS = 10_000
STEP = 500
"""Records of one step."""


class CountingDatabase(PooledDatabase):
    """Counts statements."""

    statements = 0

    async def fetch(self, text: str, *arguments: object) -> Any:
        self.statements += 1
        return await super().fetch(text, *arguments)


@dataclass(frozen=True)
class Directory:
    """`statements` of the database is None in memory."""

    store: RecordStore
    clock: VirtualClock
    database: CountingDatabase | None

    async def names(self, tenant_id: TenantId) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
        """All combinations of groups and roles that people of the tenant have."""
        people = await self.store.of(USERS).page(tenant_id, most=MEMBERS + 1)
        return {(user.groups, user.roles) for user in people}


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "many_members"))


@pytest.fixture(params=["memory", "postgres"])
async def directory(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[Directory]:
    """Two tenants with people who have two groups and two roles; the first one has 10,000."""
    clock = VirtualClock(pinned=NOON)
    if request.param == "memory":
        store = MemoryRecordStore(clock)
        for number in range(1, MEMBERS + 1):
            await store.of(USERS).insert(person(f"u{number:05}"))
        await store.of(USERS).insert(person("u00000", UMBRELLA))
        yield Directory(store, clock, None)
        return
    async with open_pool(dsn, 2) as pool:
        database = CountingDatabase(pool)
        kept = PostgresRecordStore(database, clock)
        await kept.of(USERS).insert(person("u00000", UMBRELLA))
        await pool.execute(COPIES, ACME, MEMBERS)
        database.statements = 0
        yield Directory(kept, clock, database)
        await pool.execute('TRUNCATE identity."user", identity.mapping_rule')


COPIES = """
    INSERT INTO identity."user" (tenant_id, id, revision, expires_at, content, email, preferred_username, groups, roles)
    SELECT $1, person.id, revision, expires_at,
        replace(replace(content::text, 'u00000', person.id), tenant_id, $1)::json,
        person.id || '@example.com', preferred_username, groups, roles
    FROM identity."user", (SELECT 'u' || lpad(number::text, 5, '0') AS id FROM generate_series(1, $2) AS number) AS person
"""


def person(user_id: str, tenant_id: TenantId = ACME) -> User:
    return User(
        tenant_id=tenant_id,
        id=user_id,
        email=f"{user_id}@example.com",
        groups=("readers", "staff"),
        roles=("clerk", "teller"),
    )


@pytest.mark.parametrize(
    ("holders_of", "name", "left"),
    [
        pytest.param(holders_of_groups, "staff", (("readers",), ("clerk", "teller")), id="group"),
        pytest.param(holders_of_roles, "clerk", (("readers", "staff"), ("teller",)), id="role"),
    ],
)
async def test_a_label_of_10_000_people_is_taken_from_them_in_bounded_steps(
    directory: Directory, holders_of: Any, name: str, left: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    holders: Holders = holders_of(directory.store)

    await holders.rename(ACME, name, "")

    if directory.database is not None:
        # A search and a change for each step, a last search, and a page of each other kind.
        assert 2 * MEMBERS // STEP <= directory.database.statements <= 2 * MEMBERS // STEP + 10
    assert await directory.names(ACME) == {left}
    assert await directory.names(UMBRELLA) == {(("readers", "staff"), ("clerk", "teller"))}


async def test_other_callers_take_their_turn_while_a_group_of_10_000_people_ends(
    directory: Directory,
) -> None:
    turns = 0

    async def call() -> None:
        nonlocal turns
        while True:
            await directory.store.of(MAPPING_RULES).get(ACME, "rule")
            turns += 1
            await asyncio.sleep(0)

    caller = asyncio.ensure_future(call())
    await holders_of_groups(directory.store).rename(ACME, "staff", "")
    caller.cancel()

    assert turns >= MEMBERS // STEP


async def test_two_labels_of_the_same_10_000_people_are_taken_at_the_same_time(directory: Directory) -> None:
    """Both runs write the same records, and each writes those again that the other one changed first."""
    await asyncio.gather(
        holders_of_groups(directory.store).rename(ACME, "staff", ""),
        holders_of_groups(directory.store).rename(ACME, "readers", "visitors"),
        holders_of_roles(directory.store).rename(ACME, "teller", ""),
    )

    assert await directory.names(ACME) == {(("visitors",), ("clerk",))}
    assert await directory.names(UMBRELLA) == {(("readers", "staff"), ("clerk", "teller"))}


async def test_a_tenant_with_10_000_people_is_removed_in_bounded_steps(directory: Directory) -> None:
    rule = MappingRule(tenant_id=ACME, id="rule", name="Rule", claim_name="branch", claim_value="oxford")
    await directory.store.of(MAPPING_RULES).insert(rule)
    removed = TenantRecord(
        tenant_id=DEPLOYMENT,
        id=ACME,
        name=ACME,
        created_at=NOON,
        deleted_at=NOON,
        removal=RemovalPhase.CLEARING,
    )
    await directory.store.of(TENANTS).insert(removed)
    tenants = TenantDirectory(Tenants("https://id.example.com", UMBRELLA), directory.store, directory.clock)
    before = directory.database.statements if directory.database is not None else 0

    await TenantRemoval(tenants, directory.store, KINDS, clock=directory.clock).remove_all_of(ACME)

    if directory.database is not None:
        steps = directory.database.statements - before
        # One search of each kind whose records can be assigned to the tenant.
        searches = len((USERS, CLIENTS, GROUPS, ROLES, MAPPING_RULES))
        assert MEMBERS // STEP <= steps <= MEMBERS // STEP + len(KINDS) + searches + 2
    assert await directory.names(ACME) == set()
    assert await directory.store.of(MAPPING_RULES).page(ACME) == []
    assert len(await directory.names(UMBRELLA)) == 1
    assert await directory.store.of(SIGN_IN_DOMAINS).page(ACME) == []
