"""The sign-out of all users of a tenant: one write, and a sweep that another process can continue, in every store."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS
from identity.access.sessions.session import SESSIONS, Session
from identity.access.sessions.session_end import SessionTermination
from identity.access.tokens.token_set import TOKEN_SETS
from identity.administration.tenant_sign_out import TERM, SignOutProgress
from identity.directory.client import CLIENTS, Client
from identity.directory.tenants.tenant_record import TENANTS
from identity.foundation.events.event import EVENTS
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.administration.sign_outs import APP, ROOT, Process
from tests.identity.deployment import NOON

USERS_OF_TENANT = 4_000
SESSIONS_OF_TENANT = 2_000


class Lost:
    """A termination that loses the store after it has queued the logout tokens of a page."""

    def __init__(self, termination: SessionTermination) -> None:
        self._termination = termination

    async def announce(self, tenant: Tenant, refused: Sequence[Session]) -> None:
        await self._termination.announce(tenant, refused)
        raise Unavailable("the store is gone")


@dataclass(frozen=True)
class Two:
    """Two processes over one store."""

    one: Process
    other: Process
    clock: VirtualClock


@pytest.fixture(scope="session")
def sign_out_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "tenant_sign_out"))


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(pinned=NOON)


@pytest.fixture(params=["memory", "postgresql"])
async def store(
    request: pytest.FixtureRequest, clock: VirtualClock, sign_out_dsn: str
) -> AsyncIterator[RecordStore]:
    if request.param == "memory":
        yield MemoryRecordStore(clock)
        return
    async with open_pool(sign_out_dsn, 2) as pool:
        for kind in (SESSIONS, TOKEN_SETS, TENANTS, CLIENTS, BACK_CHANNEL_LOGOUTS, EVENTS):
            await pool.execute(f"TRUNCATE identity.{kind.name}")
        yield PostgresRecordStore(PooledDatabase(pool), clock)


@pytest.fixture
async def two(store: RecordStore, clock: VirtualClock) -> Two:
    one, other = Process(store, clock), Process(store, clock)
    for process in (one, other):
        await process.directory.open(process.tenants.ids)
    await store.of(CLIENTS).insert(
        Client(
            tenant_id=TenantId("acme"),
            id=APP,
            tenant_ids=(TenantId("acme"),),
            backchannel_logout_uri="https://app.example.com/logout",
        )
    )
    return Two(one, other, clock)


async def _fill(process: Process) -> None:
    """Create sessions and grants of many users, whose records are no other than those that sign-ins write."""
    await process.sign_in("first")
    await process.grant("first", set_id="0")
    [session] = await process.store.of(SESSIONS).page(TenantId("acme"))
    [token_set] = await process.store.of(TOKEN_SETS).page(TenantId("acme"))
    await process.store.of(SESSIONS).insert_all(
        [
            replace(session, id=f"{number:05}", sid=f"sid-{number}", user_id=f"user-{number}", way_hash="")
            for number in range(SESSIONS_OF_TENANT)
        ]
    )
    await process.store.of(TOKEN_SETS).insert_all(
        [replace(token_set, id=f"{number:05}", user_id=f"user-{number}") for number in range(USERS_OF_TENANT)]
    )


async def test_one_write_signs_out_thousands_and_a_sweep_removes_them(two: Two) -> None:
    await _fill(two.one)
    cookie, refresh_token = await two.one.sign_in("last"), await two.one.grant("last", set_id="zzz")
    two.clock.advance(timedelta(seconds=1))

    await two.one.sign_out.begin(two.one.tenant, ROOT)

    assert not await two.one.is_signed_in(cookie)
    assert not await two.one.refreshes(refresh_token)
    progress = await two.one.sign_out.progress(two.one.tenant)
    assert (progress.sessions_left, progress.finished_at) == (SESSIONS_OF_TENANT + 2, None)

    await two.one.sweep()

    assert await two.one.sign_out.progress(two.one.tenant) == SignOutProgress(
        not_before=two.clock.now(),
        sessions_ended=SESSIONS_OF_TENANT + 2,
        token_sets_ended=USERS_OF_TENANT + 2,
        finished_at=two.clock.now(),
    )
    assert not await two.one.store.of(SESSIONS).page(TenantId("acme"))
    assert not await two.one.store.of(TOKEN_SETS).page(TenantId("acme"))


async def test_another_process_refuses_them_when_it_has_seen_the_version(two: Two) -> None:
    cookie, refresh_token = await two.one.sign_in("ada"), await two.one.grant("ada")
    two.clock.advance(timedelta(seconds=1))

    await two.one.sign_out.begin(two.one.tenant, ROOT)
    await two.other.directory.refresh()

    assert not await two.other.is_signed_in(cookie)
    assert not await two.other.refreshes(refresh_token)


async def test_who_signs_in_afterwards_stays(two: Two) -> None:
    await two.one.sign_in("ada")
    two.clock.advance(timedelta(seconds=1))
    await two.one.sign_out.begin(two.one.tenant, ROOT)

    cookie, refresh_token = await two.one.sign_in("ada"), await two.one.grant("ada")
    await two.one.sweep()

    assert await two.one.is_signed_in(cookie)
    assert await two.one.refreshes(refresh_token)
    assert (await two.one.sign_out.progress(two.one.tenant)).sessions_ended == 1


async def test_relying_parties_are_told_by_the_sweep(two: Two) -> None:
    for user_id in ("ada", "bob"):
        await two.one.sign_in(user_id)
    two.clock.advance(timedelta(seconds=1))

    await two.one.sign_out.begin(two.one.tenant, ROOT)
    await two.one.sweep()

    queued = await two.one.store.of(BACK_CHANNEL_LOGOUTS).page(TenantId("acme"))
    assert {logout.user_id for logout in queued} == {"ada", "bob"}
    assert [event.text for event in await two.one.store.of(EVENTS).page(TenantId("acme"))] == ["everybody"]


async def test_one_process_sweeps_at_a_time(two: Two) -> None:
    await two.one.sign_in("ada")
    two.clock.advance(timedelta(seconds=1))
    await two.one.sign_out.begin(two.one.tenant, ROOT)
    await two.other.directory.refresh()

    assert await two.one.sign_out.work()
    assert not await two.other.sign_out.work()


async def test_another_process_continues_where_an_interrupted_sweep_stopped(two: Two) -> None:
    for number in range(5):
        await two.one.sign_in(f"user-{number}")
    two.clock.advance(timedelta(seconds=1))
    await two.one.sign_out.begin(two.one.tenant, ROOT)
    await two.other.directory.refresh()
    with pytest.raises(Unavailable):
        await two.one.sweeper(Lost(two.one.termination)).work()

    two.clock.advance(TERM)
    await two.other.sweep()

    queued = await two.one.store.of(BACK_CHANNEL_LOGOUTS).page(TenantId("acme"))
    assert {logout.user_id for logout in queued} == {f"user-{number}" for number in range(5)}
    assert not await two.one.store.of(SESSIONS).page(TenantId("acme"))


async def test_another_sign_out_during_the_sweep_begins_it_again(two: Two) -> None:
    await two.one.sign_in("ada")
    two.clock.advance(timedelta(seconds=1))
    await two.one.sign_out.begin(two.one.tenant, ROOT)
    await two.one.sweep()
    cookie = await two.one.sign_in("ada")
    two.clock.advance(timedelta(seconds=1))

    await two.one.sign_out.begin(two.one.tenant, ROOT)
    await two.one.sweep()

    assert not await two.one.is_signed_in(cookie)
    assert not await two.one.store.of(SESSIONS).page(TenantId("acme"))


async def test_a_tenant_without_a_sign_out_has_nothing_to_sweep(two: Two) -> None:
    await two.one.sign_in("ada")

    assert not await two.one.sign_out.work()
    assert await two.one.sign_out.progress(two.one.tenant) == SignOutProgress()
