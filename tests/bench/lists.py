"""List pages of the console, and administrative calls, of a deployment with many records beside one with few.

Two bundled servers over one PostgreSQL take turns, request by request, so that a slow moment of the machine meets both. An
administrative call of a client reads the client's rights anew, as an admission does that is not cached.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import asyncpg
import requests
import uvloop
from rich.table import Table

from identity.crypto.keys.master_keys import new_master_key
from identity.foundation.randomness import SystemRandomness
from server.platform.postgres.migrations import migrate
from tests.bench.served import CALL_SECONDS, Served, served, token_of
from tests.people.person import Person
from tests.postgres import postgres_server
from tests.server_process import DEMO_ACCESS

ROUNDS = 100
WARM_UP = 10
GOAL = 1.5
ADMINISTRATOR = "admin@localhost"


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of records; `labels` are as many roles, groups, mapping rules and authorizations each."""

    clients: int
    tenants: int
    labels: int


FEW = Size(clients=100, tenants=100, labels=100)
MANY = Size(
    clients=int(os.environ.get("GNOMON_BENCH_CLIENTS", "100000")),
    tenants=int(os.environ.get("GNOMON_BENCH_TENANTS", "10000")),
    labels=1_000,
)
PAGES = (
    *("clients", "clients?search=5x", "clients?search=app", "groups", "groups?search=group-5x", "roles"),
    *("tenants", "tenants?search=5x", "tenants?search=tenant", "users"),
)
"""The word 5x is in one record, however many there are."""

_CLIENTS = """
    INSERT INTO identity.client (tenant_id, id, revision, content)
    SELECT 'default', 'app-' || n, 1, json_build_object('tenant_id', 'default', 'id', 'app-' || n, 'revision', 1,
        'name', 'App ' || n || 'x', 'token_endpoint_auth_method', 'none', 'redirect_uris', ARRAY['https://app.example/cb'])
    FROM generate_series(1, $1::int) AS n
"""
_TENANTS = """
    INSERT INTO identity.tenant (tenant_id, id, revision, content)
    SELECT '', 'tenant-' || n, 1, json_build_object('tenant_id', '', 'id', 'tenant-' || n, 'revision', 1,
        'name', 'Tenant ' || n || 'x', 'created_at', '2026-01-01T00:00:00Z', 'is_enabled', n <= 100)
    FROM generate_series(1, $1::int) AS n
"""
_ROLES, _GROUPS = (
    f"""
    INSERT INTO identity."{kind}" (tenant_id, id, revision, name, content)
    SELECT 'default', '{kind}' || n, 1, '{kind}-' || n || 'x', json_build_object('tenant_id', 'default', 'id', '{kind}' || n,
        'revision', 1, 'name', '{kind}-' || n || 'x')
    FROM generate_series(1, $1::int) AS n
    """  # noqa: S608  # our own
    for kind in ("role", "group")
)
_RULES = """
    INSERT INTO identity.mapping_rule (tenant_id, id, revision, content)
    SELECT 'default', 'rule-' || n, 1, json_build_object('tenant_id', 'default', 'id', 'rule-' || n, 'revision', 1,
        'name', 'rule', 'claim_name', 'team', 'claim_value', 'team-' || n)
    FROM generate_series(1, $1::int) AS n
"""
_AUTHORIZATIONS = """
    INSERT INTO identity.directory_authorization (tenant_id, id, revision, owner, content)
    SELECT 'default', n::text, 1, 'ROLE:role' || n, json_build_object('tenant_id', 'default', 'id', n::text,
        'revision', 1, 'owner', 'ROLE:role' || n, 'owner_type', 'ROLE', 'owner_id', 'role-' || n,
        'resource_type', 'GROUP', 'resource_id', '*', 'permission_types', ARRAY['READ'])
    FROM generate_series(1, $1::int) AS n
"""
_KEYS = """
    INSERT INTO identity.key_set (tenant_id, id, revision, content)
    SELECT 'tenant-' || n, kept.id, 1, kept.content FROM identity.key_set AS kept, generate_series(1, $1::int) AS n
    WHERE kept.tenant_id = 'default' ON CONFLICT DO NOTHING
"""


def table() -> Table:
    title = (
        f"p95 in ms with {MANY.clients:,} clients, {MANY.tenants:,} tenants, {MANY.labels:,} roles and groups"
    )
    table = Table(title=f"{title}, beside 100 of each")
    for column in ("request", "few", "many", "ratio", f"goal {GOAL:g}"):
        table.add_column(column, justify="left" if column == "request" else "right")
    with postgres_server() as dsn, TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder, "gnomon.toml")
        file.write_text(f'[encryption]\nkeys = ["{new_master_key(SystemRandomness())}"]\n', "utf-8")
        few, many = (stack.enter_context(_deployment(dsn, size, file)) for size in (FEW, MANY))
        for name in few:
            of_few, of_many = _measured(few[name], many[name])
            ratio = of_many / of_few
            outcome = "reached" if ratio <= GOAL else "missed"
            table.add_row(name, f"{of_few:.1f}", f"{of_many:.1f}", f"{ratio:.2f}", outcome)
    return table


Ask = Callable[[], requests.Response]


@contextmanager
def _deployment(dsn: str, size: Size, file: Path) -> Iterator[Mapping[str, Ask]]:
    """Return the requests to a server with this many records, by their names."""
    own = uvloop.run(_created(dsn, size))
    with served(own, "--config", str(file)):
        # Makes the keys of the default tenant, which the others then share.
        pass
    uvloop.run(_filled(own, size))
    with served(own, "--config", str(file)) as server:
        yield _requests(server)


async def _created(dsn: str, size: Size) -> str:
    name = f"lists_{size.clients}_{size.tenants}"
    connection = await asyncpg.connect(dsn)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    created = urlsplit(dsn)._replace(path=f"/{name}").geturl()
    await migrate(created, files("server.store.postgres").joinpath("migrations"))
    return created


async def _filled(dsn: str, size: Size) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(_CLIENTS, size.clients, timeout=3600)
    for text in (_ROLES, _GROUPS, _RULES, _AUTHORIZATIONS):
        await connection.execute(text, size.labels, timeout=3600)
    for text in (_TENANTS, _KEYS):
        await connection.execute(text, size.tenants, timeout=3600)
    await connection.execute("VACUUM ANALYZE", timeout=3600)
    await connection.close()


def _requests(server: Served) -> Mapping[str, Ask]:
    http = server.addresses.http
    person = Person(f"{http}/auth/v1/", ADMINISTRATOR, DEMO_ACCESS["GNOMON_BOOTSTRAP__ADMIN_PASSWORD"])
    arrival = person.sign_in(f"{http}/console/default/identity/users")
    person.browser.get(arrival.url, timeout=CALL_SECONDS).raise_for_status()
    token = token_of(http)

    def page(name: str) -> Ask:
        return lambda: person.browser.get(f"{http}/console/default/identity/{name}", timeout=CALL_SECONDS)

    def call() -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return requests.get(f"{http}/auth/v1/roles/admin", headers=headers, timeout=CALL_SECONDS)

    def whoami() -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return requests.get(f"{http}/v2/authentication/me", headers=headers, timeout=CALL_SECONDS)

    pages = {f"console: {name}": page(name) for name in PAGES}
    return {**pages, "an administrative call": call, "GET /v2/authentication/me": whoami}


def _measured(few: Ask, many: Ask) -> tuple[float, float]:
    """Return the p95 of both, in milliseconds."""
    for _ in range(WARM_UP):
        _milliseconds(few)
        _milliseconds(many)
    pairs = [(_milliseconds(few), _milliseconds(many)) for _ in range(ROUNDS)]
    return _p95([pair[0] for pair in pairs]), _p95([pair[1] for pair in pairs])


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20)[-1]


def _milliseconds(ask: Ask) -> float:
    begun = time.perf_counter()
    ask().raise_for_status()
    return (time.perf_counter() - begun) * 1000
