"""The reference deployment's database on one machine: two PostgreSQL servers under Patroni, which asks etcd who leads.

The standby is synchronous, and both come from the wheel. Needs `etcd` on the path and the package patroni.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import asyncpg

from server.platform.postgres.bundled.installation import kept_installation
from tests.campaigns.ports import kept_port
from tests.campaigns.proxy import HOST

# PostgreSQL refuses root; this account may still read an interpreter that only root may enter.
UNPRIVILEGED = (
    *("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
ACCOUNT = "nobody"
PASSWORD = "campaign"
SETTINGS: dict[str, object] = {"ttl": 20, "loop_wait": 5, "retry_timeout": 5, "synchronous_mode": True}
PARAMETERS = {
    "max_connections": 100,
    "wal_log_hints": "on",
    "wal_keep_size": "256MB",
    "idle_in_transaction_session_timeout": "10s",
    "client_connection_check_interval": "5s",
    "tcp_user_timeout": "25s",
}
READY_SECONDS = 90.0
LOOK_SECONDS = 0.2
STEADY_SECONDS = 11.0
LEADING = frozenset({"primary", "master"})
END_SECONDS = 20.0


class Member:
    """One server with the Patroni that runs it, in a session of their own."""

    def __init__(self, number: int, directory: Path, *, logs: Path, binaries: Path, etcd: int) -> None:
        self.name = f"member-{number}"
        self.port = kept_port(HOST)
        self._rest = kept_port(HOST)
        self._data = directory / self.name
        self._log = logs / f"{self.name}.log"
        self._file = directory / f"{self.name}.json"
        self._file.write_text(json.dumps(self._configuration(binaries, etcd)))
        self._process: Process | None = None

    async def start(self) -> None:
        """Nothing when it runs."""
        if self._process is not None and self._process.returncode is None:
            return
        prefix = UNPRIVILEGED if os.geteuid() == 0 else ()
        self._process = await _started(
            *(*prefix, sys.executable, "-m", "patroni", str(self._file)), log=self._log
        )

    async def kill(self) -> None:
        """Patroni and PostgreSQL at once, as when the machine is lost."""
        server = self._server()
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        if server is not None:
            with suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)
        if self._process is not None:
            await self._process.wait()

    def kill_server(self) -> None:
        """PostgreSQL alone; Patroni starts it again."""
        server = self._server()
        assert server is not None
        os.kill(server, signal.SIGKILL)

    async def stop(self) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def role(self) -> str:
        """Empty while it does not answer."""
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1)) as session,
                session.get(f"http://{HOST}:{self._rest}/patroni") as response,
            ):
                found = await response.json()
                if found.get("state") == "running":
                    return "sync_standby" if found.get("sync_standby") else str(found.get("role"))
        return ""

    def _server(self) -> int | None:
        with suppress(OSError):
            return int((self._data / "postmaster.pid").read_text().split()[0])
        return None

    def _configuration(self, binaries: Path, etcd: int) -> dict[str, object]:
        users = {name: {"username": name, "password": PASSWORD} for name in ("postgres", "replicator")}
        return {
            "scope": "campaign",
            "name": self.name,
            "restapi": {"listen": f"{HOST}:{self._rest}", "connect_address": f"{HOST}:{self._rest}"},
            "etcd3": {"host": f"{HOST}:{etcd}"},
            "bootstrap": {
                "dcs": SETTINGS | {"postgresql": {"use_pg_rewind": True, "parameters": PARAMETERS}},
                "initdb": ["data-checksums", {"encoding": "UTF8"}, {"locale": "C"}],
            },
            "postgresql": {
                "listen": f"{HOST}:{self.port}",
                "connect_address": f"{HOST}:{self.port}",
                "data_dir": str(self._data),
                "bin_dir": str(binaries),
                "pgpass": str(self._file.with_suffix(".pgpass")),
                "parameters": {"unix_socket_directories": ""},
                "pg_hba": [
                    f"host replication replicator {HOST}/32 scram-sha-256",
                    f"host all all {HOST}/32 scram-sha-256",
                ],
                "authentication": {
                    "superuser": users["postgres"],
                    "replication": users["replicator"],
                    "rewind": users["postgres"],
                },
            },
        }


class Reference:
    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members

    @property
    def dsn(self) -> str:
        """Of both, whichever takes writes."""
        hosts = ",".join(f"{HOST}:{member.port}" for member in self.members)
        return f"postgresql://gnomon:{PASSWORD}@{hosts}/gnomon?target_session_attrs=read-write"

    async def leader(self) -> Member:
        """Return when one leads, the other follows it synchronously, and Patroni had time to change its mind twice."""
        clock = asyncio.get_running_loop().time
        found: Member | None = None
        since = clock()
        async with asyncio.timeout(READY_SECONDS):
            while found is None or clock() < since + STEADY_SECONDS:
                seen = await self._led()
                if seen is None or seen is not found:
                    found, since = seen, clock()
                await asyncio.sleep(LOOK_SECONDS)
        return found

    async def _led(self) -> Member | None:
        roles = {await member.role(): member for member in self.members}
        leader = next((member for role, member in roles.items() if role in LEADING), None)
        return leader if "sync_standby" in roles else None


@asynccontextmanager
async def reference(directory: Path, logs: Path) -> AsyncIterator[Reference]:
    if os.geteuid() == 0:
        shutil.chown(directory, ACCOUNT)
    binaries = kept_installation(None, directory).binaries
    client, peer = kept_port(HOST), kept_port(HOST)
    async with AsyncExitStack() as stack:
        etcd = await _started(
            *("etcd", "--name", "campaign", "--data-dir", str(directory / "etcd")),
            *("--listen-client-urls", f"http://{HOST}:{client}"),
            *("--advertise-client-urls", f"http://{HOST}:{client}"),
            *("--listen-peer-urls", f"http://{HOST}:{peer}"),
            *("--initial-advertise-peer-urls", f"http://{HOST}:{peer}"),
            *("--initial-cluster", f"campaign=http://{HOST}:{peer}"),
            log=logs / "etcd.log",
        )
        stack.push_async_callback(_ended, etcd)
        members = [Member(number, directory, logs=logs, binaries=binaries, etcd=client) for number in (1, 2)]
        for member in members:
            stack.push_async_callback(member.stop)
            await member.start()
        deployment = Reference(members)
        await _make_database((await deployment.leader()).port)
        yield deployment


async def _make_database(port: int) -> None:
    superuser = await asyncpg.connect(f"postgresql://postgres:{PASSWORD}@{HOST}:{port}/postgres")
    try:
        await superuser.execute(f"CREATE ROLE gnomon LOGIN PASSWORD '{PASSWORD}'")
        await superuser.execute("CREATE DATABASE gnomon OWNER gnomon")
    finally:
        await superuser.close()


async def _started(*command: str, log: Path) -> Process:
    with log.open("ab") as output:
        return await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=output, stderr=STDOUT, cwd="/"
        )


async def _ended(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    await process.wait()
