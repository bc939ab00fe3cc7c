"""Owners end together with all that belongs to them, wherever the removal is interrupted, in memory and in PostgreSQL."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from identity.access.callers import Actor
from identity.clients.administration import ClientAdministration, NewClient
from identity.clients.sectors import Sectors
from identity.delivery.http.destinations import Destinations
from identity.directory.client import CLIENTS, Client, ClientId
from identity.directory.labels import ROLES, Role
from identity.directory.user import USERS, User, UserId
from identity.foundation.randomness import SystemRandomness
from identity.foundation.removals import CLAIM, SETTLED_AFTER
from identity.records import KINDS
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidState, NotFound, Unavailable
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import REMOVALS, Kind, Record, RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.administration.administration import ROOT, Administration
from tests.identity.browsers import NOON
from tests.identity.interrupted_store import InterruptedStore, Killed
from tests.identity.samples import owned, sample

DEFAULT, ACME, CLOSED = TenantId("default"), TenantId("acme"), TenantId("closed")
FAULTS = (Unavailable("the database stalls"), Killed())


class Node:
    """A process: administration over a store that can stop working."""

    def __init__(self, store: RecordStore) -> None:
        self.store = InterruptedStore(store)
        self.world = Administration(lambda _clock: self.store, SystemRandomness())
        provider = self.world.provider
        self.clients = ClientAdministration(
            self.store,
            provider.tenants,
            administrators=self.world.administrators,
            removals=self.world.removals,
            destinations=Destinations(),
            sectors=Sectors(provider.documents),
            secrets=provider.hasher,
            version=self.world.version,
            events=self.world.told,
            clock=provider.clock,
            randomness=provider.randomness,
        )


class Deployment:
    """Two nodes with one store, and one clock."""

    def __init__(self, store: RecordStore, clock: VirtualClock) -> None:
        self.store, self._clock = store, clock
        self.first, self.second = Node(store), Node(store)

    async def passes(self, after: timedelta) -> None:
        """The second node looks for removals after a while."""
        for clock in (self._clock, *(node.world.clock for node in (self.first, self.second))):
            clock.advance(after)
        await self.second.world.removals.run_due()

    async def settles(self) -> None:
        await self.passes(CLAIM)
        await self.passes(SETTLED_AFTER)

    async def add(self, record: Record, kind: Kind[Any]) -> None:
        await self.store.of(kind).insert(record)

    async def add_all_of(self, kind: str, owner_id: str, *, tenant_id: TenantId = DEFAULT) -> None:
        """Insert a record of each kind that can belong to the owner."""
        for dependent in KINDS:
            for owner in dependent.owners:
                if owner.kind == kind:
                    await self.add(owned(dependent, owner, owner_id, tenant_id=tenant_id), dependent)

    async def naming(self, owner_id: str, *tenant_ids: TenantId) -> set[str]:
        """The kinds of records that name an owner, apart from those that outlive it."""
        return {
            kind.name
            for kind in KINDS
            for tenant_id in tenant_ids or (DEFAULT,)
            for record in await self.store.of(kind).page(tenant_id, most=10_000)
            if re.search(rf"\b{owner_id}\b", msgspec.json.encode(record).decode())
            if kind.owners or not kind.outlives
        }


@pytest.fixture(scope="session")
def dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "removals"))


@pytest.fixture(params=["memory", "postgres"])
async def deployment(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[Deployment]:
    clock = VirtualClock(pinned=NOON)
    async with AsyncExitStack() as stack:
        if request.param == "memory":
            store: RecordStore = MemoryRecordStore(clock)
        else:
            pool = await stack.enter_async_context(open_pool(dsn, 2))
            for kind in KINDS:
                await pool.execute(f'DELETE FROM identity."{kind.name}"')  # noqa: S608  # names of our own
            store = PostgresRecordStore(PooledDatabase(pool), clock)
        deployment = Deployment(store, clock)
        yield deployment
        for node in (deployment.first, deployment.second):
            node.world.provider.passwords.close()


def user(user_id: str, **fields: Any) -> User:
    return User(tenant_id=DEFAULT, id=user_id, email=f"{user_id}@example.com", **fields)


def client(client_id: str, tenant_id: TenantId = DEFAULT, **fields: Any) -> Client:
    return sample(Client, tenant_id=tenant_id, id=client_id, name=client_id, **fields)  # type: ignore[no-any-return]


def steps() -> Iterator[int]:
    """Numbers of calls after which a removal is interrupted, far more than it has."""
    yield from range(500)


@pytest.mark.parametrize("fault", FAULTS, ids=["outage", "kill"])
async def test_a_user_whose_removal_is_interrupted_anywhere_leaves_nothing(
    deployment: Deployment, fault: BaseException
) -> None:
    first, second = deployment.first, deployment.second
    await deployment.add(user("bob"), USERS)
    await deployment.add_all_of("user", "bob")
    bobs = await deployment.naming("bob")

    for calls in steps():
        ada = f"ada{calls}"
        await deployment.add(user(ada), USERS)
        await deployment.add_all_of("user", ada)
        first.store.stop_after(calls, fault)
        with suppress(Unavailable, Killed):
            await first.world.users.delete(first.world.tenant, UserId(ada), ROOT)
        first.store.go_on()
        with suppress(NotFound):
            await second.world.users.delete(second.world.tenant, UserId(ada), ROOT)
        await deployment.settles()

        assert await deployment.naming(ada) == set()
        if not first.store.is_interrupted:
            break

    assert not first.store.is_interrupted
    assert bobs == await deployment.naming("bob")
    assert await deployment.store.of(REMOVALS).page(DEFAULT) == []


async def test_a_call_that_deletes_a_user_removes_everything_before_it_answers(
    deployment: Deployment,
) -> None:
    node = deployment.first
    await deployment.add(user("ada"), USERS)
    await deployment.add_all_of("user", "ada")

    await node.world.users.delete(node.world.tenant, UserId("ada"), ROOT)

    assert await deployment.naming("ada") == set()


async def test_a_call_that_deletes_a_user_succeeds_although_the_store_stalls_afterwards(
    deployment: Deployment,
) -> None:
    node = deployment.first
    await deployment.add(user("ada"), USERS)
    await deployment.add_all_of("user", "ada")
    node.store.stop_after_a("take", Unavailable("the database stalls"))

    await node.world.users.delete(node.world.tenant, UserId("ada"), ROOT)

    assert "passkey" in await deployment.naming("ada")
    node.store.go_on()
    await deployment.settles()
    assert await deployment.naming("ada") == set()


async def test_a_process_finishes_all_removals_that_are_due(deployment: Deployment) -> None:
    users = [user(f"ada{number}") for number in range(25)]
    for each in users:
        await deployment.add(each, USERS)
        await deployment.first.world.users.delete(deployment.first.world.tenant, each.user_id, ROOT)

    await deployment.passes(SETTLED_AFTER)

    assert await deployment.store.of(REMOVALS).page(DEFAULT) == []


async def test_what_a_late_call_writes_after_the_removal_of_its_user_is_removed(
    deployment: Deployment,
) -> None:
    node = deployment.first
    await deployment.add(user("ada"), USERS)
    await node.world.users.delete(node.world.tenant, UserId("ada"), ROOT)
    await deployment.add_all_of("user", "ada")

    await deployment.passes(SETTLED_AFTER)

    assert await deployment.naming("ada") == set()


@pytest.mark.parametrize("kind", sorted({owner.kind for kind in KINDS for owner in kind.owners} - {"tenant"}))
async def test_an_owner_of_any_kind_ends_with_all_that_belongs_to_it(
    deployment: Deployment, kind: str
) -> None:
    [owning] = [each for each in KINDS if each.name == kind]
    names = {"tenant_id": DEFAULT, "id": "owner"} | (
        {} if owning.named_by == "id" else {owning.named_by: "owner"}
    )
    await deployment.add(sample(owning.type, **names), owning)
    await deployment.add_all_of(kind, "owner")
    owner = await deployment.store.of(owning).get(DEFAULT, "owner")

    await deployment.first.world.removals.take(owning, owner)
    await deployment.settles()

    assert await deployment.naming("owner") == set()


async def test_the_removal_of_a_client_reaches_the_tenants_that_it_serves_disabled_or_not(
    deployment: Deployment,
) -> None:
    tenants = (DEFAULT, ACME, CLOSED)
    await deployment.add(client("shop", tenant_ids=tenants), CLIENTS)
    for tenant_id in tenants:
        await deployment.add_all_of("client", "shop", tenant_id=tenant_id)

    await deployment.first.clients.delete(deployment.first.world.tenant, "shop", actor=ROOT)

    assert await deployment.naming("shop", ACME, CLOSED) == set()


async def test_a_client_of_another_tenant_with_the_same_id_keeps_its_records(deployment: Deployment) -> None:
    await deployment.add(client("shop", tenant_ids=(ACME,)), CLIENTS)
    await deployment.add(client("shop", ACME), CLIENTS)
    await deployment.add_all_of("client", "shop", tenant_id=ACME)
    acmes = await deployment.naming("shop", ACME)

    await deployment.first.clients.delete(deployment.first.world.tenant, "shop", actor=ROOT)
    await deployment.settles()

    assert acmes == await deployment.naming("shop", ACME)


@pytest.mark.parametrize("fault", FAULTS, ids=["outage", "kill"])
async def test_a_successor_of_a_client_sees_nothing_of_it_wherever_the_removal_is_interrupted(
    deployment: Deployment, fault: BaseException
) -> None:
    first, second = deployment.first, deployment.second
    for calls in steps():
        shop = f"shop{calls}"
        await deployment.add(client(shop), CLIENTS)
        await deployment.add_all_of("client", shop)
        first.store.stop_after(calls, fault)
        with suppress(Unavailable, Killed):
            await first.clients.delete(first.world.tenant, shop, actor=ROOT)
        first.store.go_on()
        with suppress(NotFound):
            await second.clients.delete(second.world.tenant, shop, actor=ROOT)

        with suppress(InvalidState):
            await create(second, shop)
            assert await deployment.naming(shop) <= {"client"}
        await deployment.passes(CLAIM)
        if await deployment.store.of(CLIENTS).get(DEFAULT, shop) is None:
            await create(second, shop)
        assert await deployment.naming(shop) <= {"client"}
        if not first.store.is_interrupted:
            break

    assert not first.store.is_interrupted


async def test_a_successor_of_a_client_keeps_its_records(deployment: Deployment) -> None:
    await deployment.add(client("shop"), CLIENTS)
    await deployment.first.clients.delete(deployment.first.world.tenant, "shop", actor=ROOT)

    await create(deployment.second, "shop")
    await deployment.add_all_of("client", "shop")
    before = await deployment.naming("shop")
    await deployment.settles()

    assert before == await deployment.naming("shop")


async def create(node: Node, client_id: str, actor: Actor = ROOT) -> None:
    new = NewClient(ClientId(client_id), client_id, False, (), ())  # a public client
    await node.clients.create(node.world.tenant, new, actor=actor)


@pytest.mark.parametrize("fault", FAULTS, ids=["outage", "kill"])
async def test_a_role_whose_removal_is_interrupted_is_taken_from_its_holders(
    deployment: Deployment, fault: BaseException
) -> None:
    first, second = deployment.first, deployment.second
    for calls in steps():
        name = f"clerk{calls}"
        await deployment.add(user(f"ada{calls}", roles=(name,)), USERS)
        await deployment.add(Role(tenant_id=DEFAULT, id=f"id of {name}", name=name), ROLES)
        await deployment.add_all_of("role", f"id of {name}")
        first.store.stop_after(calls, fault)
        with suppress(Unavailable, Killed):
            await first.world.roles.remove(first.world.tenant, f"id of {name}", ROOT)
        first.store.go_on()
        with suppress(NotFound):
            await second.world.roles.remove(second.world.tenant, f"id of {name}", ROOT)
        await deployment.passes(CLAIM)

        assert await deployment.naming(name) == set()
        await deployment.passes(SETTLED_AFTER)
        assert await deployment.naming(f"id of {name}") == set()
        if not first.store.is_interrupted:
            break

    assert not first.store.is_interrupted


async def test_a_role_of_the_same_name_is_refused_until_no_holder_has_the_old_one(
    deployment: Deployment,
) -> None:
    node, other = deployment.first, deployment.second
    await deployment.add(user("ada", roles=("clerk",)), USERS)
    await deployment.add(Role(tenant_id=DEFAULT, id="r", name="clerk"), ROLES)
    role = await deployment.store.of(ROLES).get(DEFAULT, "r")
    assert role is not None
    node.store.stop_after(1, Killed())
    with suppress(Killed):
        await node.world.removals.take(ROLES, role, name="clerk")

    with pytest.raises(InvalidState, match="is being removed"):
        await other.world.roles.add(other.world.tenant, Role(tenant_id=DEFAULT, id="", name="clerk"), ROOT)
    await deployment.passes(CLAIM)
    await other.world.roles.add(other.world.tenant, Role(tenant_id=DEFAULT, id="", name="clerk"), ROOT)
    await deployment.passes(SETTLED_AFTER)

    assert (await other.world.user("ada")).roles == ()


async def test_a_second_pass_leaves_holders_of_a_later_role_of_the_same_name(deployment: Deployment) -> None:
    node = deployment.first
    await deployment.add(Role(tenant_id=DEFAULT, id="r", name="clerk"), ROLES)
    await node.world.roles.remove(node.world.tenant, "r", ROOT)
    await node.world.roles.add(node.world.tenant, Role(tenant_id=DEFAULT, id="", name="clerk"), ROOT)
    await deployment.add(user("ada", roles=("clerk",)), USERS)

    await deployment.passes(SETTLED_AFTER)

    assert (await node.world.user("ada")).roles == ("clerk",)
