"""The costs of a command and of a token while tenants grow: one, a hundred, a thousand and five thousand.

Each tenant has the process, and 64 callers take the tenants in turns, over gRPC in bundled mode with one partition. The
tokens are of one client, by its credentials over HTTP. The start is that of a server which has all tenants already.
All tenants have the same signing keys, because to make those of a thousand takes minutes.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import asyncpg
import grpc
import uvloop
from rich.table import Table

from gnomon.gateway_protocol import gateway_pb2 as pb
from gnomon.gateway_protocol.gateway_pb2_grpc import GatewayStub
from identity.crypto.jose.algorithms import ALGORITHMS, KeyKind, PrivateKey
from identity.crypto.keys.master_keys import MasterKeys, new_master_key
from identity.crypto.keys.safe import KeySafe
from identity.crypto.keys.stored import KEY_SETS, StoredKeySet
from identity.foundation.randomness import SystemRandomness
from server.platform.call import TenantId
from server.platform.clock import SystemClock
from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.bench.http import load
from tests.bench.processes import server_seconds, tree_mebibytes, tree_seconds
from tests.bench.served import CALL_SECONDS, Served, served, token_of
from tests.bench.story_load import CALLERS, MODEL, OF_ALL, SECRET, tenants_of
from tests.postgres import postgres_server

SIZES = (1, 100, 1_000, 5_000)
SECONDS = 15
IDLE_SECONDS = 15
AT_ONCE = 16
TOKENS = 2_000
WARM_UP = 200
RANDOMNESS = SystemRandomness()


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a start; commands per second, and microseconds of CPU for a command and for a token.

    `idle` is CPU of the server without calls, in hundredths of a core.
    """

    start: float
    rate: float
    p99: float
    server: float
    postgres: float
    token: float
    idle: float
    mebibytes: float


def table() -> Table:
    table = Table(title=f"Costs by the number of tenants, {CALLERS} callers that take them in turns")
    for column in (
        "tenants",
        "commands/s",
        "p99 ms",
        "server CPU µs",
        "PostgreSQL CPU µs",
        "a token, CPU µs",
        "idle, % of a core",
        "memory MiB",
        "start s",
    ):
        table.add_column(column, justify="right")
    master_key = new_master_key(RANDOMNESS)
    master_keys = MasterKeys.read((master_key,), "", randomness=RANDOMNESS)
    safe = KeySafe(master_keys, _SameKeys(), RANDOMNESS)
    with postgres_server() as dsn:
        for size in SIZES:
            cost = _cost(uvloop.run(_create(dsn, size, safe)), size, master_key)
            table.add_row(
                f"{size:,}",
                f"{cost.rate:,.0f}",
                f"{cost.p99 * 1000:.1f}",
                f"{cost.server:.0f}",
                f"{cost.postgres:.0f}",
                f"{cost.token:.0f}",
                f"{cost.idle:.1f}",
                f"{cost.mebibytes:,.0f}",
                f"{cost.start:.1f}",
            )
    return table


class _SameKeys:
    """Makes each kind of key once."""

    def __init__(self) -> None:
        self._made: dict[KeyKind, PrivateKey] = {}

    async def make(self, kind: KeyKind) -> PrivateKey:
        if kind not in self._made:
            self._made[kind] = kind.generate()
        return self._made[kind]

    def close(self) -> None:
        """There are no threads."""


async def _create(dsn: str, size: int, safe: KeySafe) -> str:
    """A database in which the tenants have their signing keys and the next ones."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(f"CREATE DATABASE with_{size}")
    finally:
        await connection.close()
    created = urlsplit(dsn)._replace(path=f"/with_{size}").geturl()
    await migrate(created, files("server.store.postgres").joinpath("migrations"))
    clock = SystemClock()
    async with open_pool(created, AT_ONCE) as pool:
        key_sets = PostgresRecordStore(PooledDatabase(pool), clock).of(KEY_SETS)
        for tenant_id in map(TenantId, tenants_of(size)):
            now = clock.now()
            active = await safe.made(tenant_id, ALGORITHMS, now=now)
            announced = await safe.made(tenant_id, ALGORITHMS, now=now)
            await key_sets.insert(StoredKeySet.new(tenant_id, active, now).announced(announced, now))
    return created


def _cost(dsn: str, size: int, master_key: str) -> Cost:
    with _configured(size, master_key) as file:
        with served(dsn, "--config", str(file)) as server:
            _deploy(server, size)
        with served(dsn, "--config", str(file)) as server:
            idle = tree_seconds(server.processes)
            time.sleep(IDLE_SECONDS)  # what a server without calls costs
            idle = tree_seconds(server.processes) - idle
            _played(server, size)
            before, begun = uvloop.run(_postgres(dsn)), tree_seconds(server.processes)
            played = _played(server, size)
            spent = tree_seconds(server.processes) - begun
            after = uvloop.run(_postgres(dsn))
            commands = after[0] - before[0]
            return Cost(
                start=server.start,
                rate=played["rate"],
                p99=played["p99"],
                server=spent / commands * 1e6,
                postgres=(after[1] - before[1]) / commands * 1e6,
                token=_token(server),
                idle=idle / IDLE_SECONDS * 100,
                mebibytes=tree_mebibytes(server.processes),
            )


@contextmanager
def _configured(size: int, master_key: str) -> Iterator[Path]:
    """A client for all tenants, which are as many."""
    listed = json.dumps(tenants_of(size))
    text = f"""
        [encryption]
        keys = ["{master_key}"]
        [bootstrap]
        tenants = {listed}
        [[bootstrap.clients]]
        id = "{OF_ALL}"
        secret = "{SECRET}"
        tenants = {listed}
        permissions = ["process:deploy", "instance:create", "job:work"]
    """
    with TemporaryDirectory() as directory:
        file = Path(directory, "gnomon.toml")
        file.write_text(text, "utf-8")
        yield file


def _deploy(server: Served, tenants: int) -> None:
    metadata = (("authorization", f"Bearer {token_of(server.addresses.http, OF_ALL)}"),)
    resource = pb.Resource(name="story.bpmn", content=MODEL.to_xml())
    with grpc.insecure_channel(server.addresses.grpc) as channel, ThreadPoolExecutor(AT_ONCE) as threads:
        gateway = GatewayStub(channel)

        def deploy(tenant: str) -> None:
            request = pb.DeployResourceRequest(resources=[resource], tenantId=tenant)
            gateway.DeployResource(request, timeout=CALL_SECONDS, metadata=metadata)

        for _ in threads.map(deploy, tenants_of(tenants)):
            pass


def _played(server: Served, tenants: int) -> dict[str, float]:
    arguments = ("tunnel", server.addresses.grpc, str(SECONDS), "0", str(tenants))
    command = [sys.executable, "-m", "tests.bench.story_load", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


async def _postgres(dsn: str) -> tuple[int, float]:
    """Commands, and seconds of CPU of the database server."""
    connection = await asyncpg.connect(dsn)
    try:
        text = "SELECT count(*), pg_backend_pid() FROM gnomon.audit_entry"
        commands, process = await connection.fetchrow(text)
        return commands, server_seconds(process)
    finally:
        await connection.close()


def _token(server: Served) -> float:
    """Microseconds of CPU."""
    address = urlsplit(f"{server.addresses.http}/auth/v1/oidc/token")
    form = f"grant_type=client_credentials&client_id={OF_ALL}&client_secret={SECRET}".encode()
    request = (
        f"POST {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\n\r\n"
    ).encode() + form
    load(address.port or 0, [request] * WARM_UP)
    begun = tree_seconds(server.processes)
    load(address.port or 0, [request] * TOKENS)
    return (tree_seconds(server.processes) - begun) / TOKENS * 1e6
