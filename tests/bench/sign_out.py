"""The sign-out of all users of a tenant with 100,000 sessions and 200,000 users, each with an offline grant.

The call is the write and all that it waits for. The sweep behind it runs to its end. Of the sessions and grants, those of
some users who are spread over all of them are used before and after the call.
"""

import time

import asyncpg
import uvloop
from rich.table import Table

from identity.access.sessions.session import SESSIONS
from identity.access.tokens.token_set import TOKEN_SETS
from identity.directory.client import CLIENTS, Client
from identity.directory.user import USERS, User
from server.platform.call import TenantId
from server.platform.clock import SystemClock
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.administration.sign_outs import APP, ROOT, Process
from tests.postgres import postgres_server

SESSIONS_OF_TENANT = 100_000
USERS_OF_TENANT = 200_000
SAMPLES = 50
LIMIT_SECONDS = 1.0
_ACME = TenantId("acme")

# Each copies one record that the program wrote.
_MORE_USERS = """
    INSERT INTO identity."user" (tenant_id, id, revision, content, email, groups, roles)
    SELECT tenant_id, 'u' || lpad(n::text, 6, '0'), 1,
        (content::jsonb || jsonb_build_object('id', 'u' || lpad(n::text, 6, '0'), 'email', n || '@example.com'))::json,
        n || '@example.com', groups, roles
    FROM identity."user", generate_series(1, $1::int) AS n WHERE id = 'first'
"""
_MORE_SESSIONS = """
    INSERT INTO identity.session (tenant_id, id, revision, expires_at, content, sid, user_id)
    SELECT tenant_id, 's' || n, 1, expires_at,
        (content::jsonb || jsonb_build_object('id', 's' || n, 'sid', 'sid' || n, 'user_id', 'u' || n))::json,
        'sid' || n, 'u' || n
    FROM identity.session, generate_series(1, $1::int) AS n WHERE user_id = 'first'
"""
_MORE_GRANTS = """
    INSERT INTO identity.token_set (tenant_id, id, revision, expires_at, content, user_id, client_id)
    SELECT tenant_id, 'g' || n, 1, expires_at,
        (content::jsonb || jsonb_build_object('id', 'g' || n, 'user_id', 'u' || n))::json, 'u' || n, client_id
    FROM identity.token_set, generate_series(1, $1::int) AS n WHERE user_id = 'first'
"""


def table() -> Table:
    with postgres_server() as dsn:
        return uvloop.run(_table(dsn))


async def _table(server: str) -> Table:
    dsn = await migrated_database(server, "sign_out")
    async with open_pool(dsn, 4) as pool:
        await pool.execute("SET statement_timeout = 0")
        one, other = [Process(_store(pool), SystemClock()) for _ in range(2)]
        await _fill(pool, one)
        await other.directory.open(other.tenants.ids)
        return await _measured(one, other)


def _store(pool: asyncpg.Pool) -> PostgresRecordStore:
    return PostgresRecordStore(PooledDatabase(pool), SystemClock())


async def _fill(pool: asyncpg.Pool, process: Process) -> None:
    await process.directory.open(process.tenants.ids)
    store = process.store
    await store.of(CLIENTS).insert(Client(tenant_id=_ACME, id=APP, tenant_ids=(_ACME,)))
    await store.of(USERS).insert(User(tenant_id=_ACME, id="first", email="first@example.com"))
    await process.sign_in("first")
    await process.grant("first")
    for statement, number in (
        (_MORE_USERS, USERS_OF_TENANT),
        (_MORE_SESSIONS, SESSIONS_OF_TENANT),
        (_MORE_GRANTS, USERS_OF_TENANT),
    ):
        await pool.execute(statement, number, timeout=3600)
    await pool.execute("ANALYZE", timeout=3600)


async def _measured(one: Process, other: Process) -> Table:
    step = USERS_OF_TENANT // SAMPLES
    users = [f"u{number:06}" for number in range(step, USERS_OF_TENANT + 1, step)]
    cookies = [await one.sign_in(user_id) for user_id in users]
    refresh_tokens = [await one.grant(user_id) for user_id in users]
    assert all([await one.is_signed_in(cookie) for cookie in cookies])
    begun = time.perf_counter()
    await one.sign_out.begin(one.tenant, ROOT)
    called = time.perf_counter() - begun
    await other.directory.refresh()
    alive = [
        [await process.is_signed_in(cookie) for cookie in cookies]
        + [await process.refreshes(token) for token in refresh_tokens]
        for process in (one, other)
    ]
    swept = time.perf_counter()
    await one.sweep()
    swept = time.perf_counter() - swept
    progress = await one.sign_out.progress(one.tenant)
    table = Table(
        title=f"Sign-out of {USERS_OF_TENANT:,} users with {SESSIONS_OF_TENANT:,} sessions and {USERS_OF_TENANT:,} grants"
    )
    table.add_column("what")
    table.add_column("found", justify="right")
    table.add_row(f"the call, ms (at most {LIMIT_SECONDS * 1000:.0f})", f"{called * 1000:.1f}")
    table.add_row("old sessions and refresh tokens that work here, of 100", str(sum(alive[0])))
    table.add_row("at the other node", str(sum(alive[1])))
    table.add_row("the sweep, s", f"{swept:.0f}")
    table.add_row(
        "sessions and grants that it removed", f"{progress.sessions_ended + progress.token_sets_ended:,}"
    )
    table.add_row(
        "sessions and grants that are left",
        str(
            len(await one.store.of(SESSIONS).page(_ACME, most=10))
            + len(await one.store.of(TOKEN_SETS).page(_ACME, most=10))
        ),
    )
    assert called < LIMIT_SECONDS
    assert not any(map(any, alive))
    return table
