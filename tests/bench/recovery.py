"""From the start of a bundled server to its first answer, after it was killed with a hundred thousand instances waiting.

PostgreSQL died with it: its own recovery counts, and so does everything that a start brings up. The answer is a job of
one of the instances.
"""

import asyncio
import hashlib
import os
import subprocess
import time
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from pathlib import Path

import grpc
import uvloop
from rich.table import Table

from gnomon.engine.v1 import job_service_pb2 as job_pb
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from gnomon.identity.v1 import token_service_pb2 as token_pb
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from server.engine import State
from server.engine.deployment_commands import DeployResources, Resource
from server.engine.process_instance_commands import CreateProcessInstance
from server.partition.config import QuotaConfig
from server.partition.quota import Quota
from server.partition.turn import Entry, Turn, Turns
from server.platform.clock import SystemClock
from server.platform.postgres.bundled import bundled_postgres
from server.platform.postgres.config import DatabaseConfig
from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import Batch, PartitionId
from server.store.postgres.leases import Leases
from server.store.postgres.ledger import PostgresLedger
from tests.bench.models import MODELS, VARIABLES, ours
from tests.postgres import open_directory
from tests.server_process import COMMAND, DEMO_ACCESS, FREE_PORTS, ROOT, Addresses

INSTANCES = 100_000
AT_ONCE = 500
ROUNDS = 3
GOAL_SECONDS = 10.0
MODEL = "one service task"
PARTITION = PartitionId(1)
TENANT = "default"
OWNER = "bench"
LONGEST_SECONDS = 60.0
CALL_SECONDS = 10.0
PAUSE_SECONDS = 0.05
MOST_CALLS = 1000
JOB_TIMEOUT = timedelta(minutes=5) // timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the start of the program: until it says that it is ready, and until it has answered."""

    ready: float
    answered: float


def table() -> Table:
    table = Table(title=f"Start after SIGKILL with {INSTANCES:,} process instances waiting")
    for column in ("round", "ready, s", "first job, s", f"goal {GOAL_SECONDS:g} s"):
        table.add_column(column, justify="right")
    with open_directory() as directory:
        with bundled_postgres(DatabaseConfig(data_directory=directory)) as dsn:
            uvloop.run(_fill(dsn))
        with _killed_at_the_end(directory):
            pass
        for number in range(1, ROUNDS + 1):
            start = _start(directory)
            is_reached = start.answered <= GOAL_SECONDS
            facts = (f"{number}", f"{start.ready:.1f}", f"{start.answered:.1f}")
            table.add_row(*facts, "reached" if is_reached else "missed")
    return table


async def _fill(dsn: str) -> None:
    await migrate(dsn, files("server.store.postgres").joinpath("migrations"))
    async with open_pool(dsn, 2) as pool:
        database = PooledDatabase(pool)
        leases = Leases(database)
        await leases.create_partitions(PARTITION)
        lease = await leases.take(PARTITION, OWNER, address="", seconds=LONGEST_SECONDS)
        assert lease is not None
        state = State(PARTITION)
        state.last_key = lease.last_key
        async with PostgresLedger(dsn, lease, database=database, statement_seconds=10.0) as ledger:
            for batch in _batches(Turns(state, Quota(QuotaConfig()))):
                await ledger.commit(batch)
        await leases.release(lease, OWNER)


def _batches(turns: Turns) -> Iterator[Batch]:
    """Batches that deploy a process, and then batches that create all of its instances."""
    content, process_id = ours(MODEL), str(MODELS[MODEL].element.get("id"))
    resource = Resource("model.bpmn", content, hashlib.sha256(content).hexdigest(), (process_id,))
    yield _batch(turns, [Entry(DeployResources(TENANT, (resource,)))])
    variables = {name: str(value) for name, value in VARIABLES.items()}
    create = CreateProcessInstance(tenant_id=TENANT, process_definition_id=process_id, variables=variables)
    for _ in range(INSTANCES // AT_ONCE):
        yield _batch(turns, [Entry(create) for _ in range(AT_ONCE)])


def _batch(turns: Turns, entries: list[Entry]) -> Batch:
    turn = Turn()
    turns.grow(turn, entries, now=SystemClock().now())
    turns.seal(turn)
    return turn.batch


def _start(directory: Path) -> Start:
    begun = time.perf_counter()
    with _killed_at_the_end(directory) as addresses:
        ready = time.perf_counter() - begun
        uvloop.run(_first_job(addresses.grpc))
        return Start(ready, time.perf_counter() - begun)


@contextmanager
def _killed_at_the_end(directory: Path) -> Iterator[Addresses]:
    """Ready when the block begins."""
    environment: Mapping[str, str] = {"GNOMON_DATA_DIR": str(directory), "GNOMON_CLUSTER__PARTITIONS": "1"}
    process = subprocess.Popen(
        [*COMMAND, "serve", "--mode", "bundled"],
        cwd=ROOT,
        env={**os.environ, **FREE_PORTS, **DEMO_ACCESS, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        try:
            yield Addresses.read(process.stdout.readline())
        finally:
            process.kill()


async def _first_job(target: str) -> None:
    async with grpc.aio.insecure_channel(target) as channel:
        request = token_pb.IssueTokenRequest(
            grant_type="client_credentials",
            client_id="demo",
            client_secret="demo-secret",
            client_authentication=token_pb.CLIENT_AUTHENTICATION_SECRET_POST,
        )
        token = (await TokenServiceStub(channel).IssueToken(request, timeout=LONGEST_SECONDS)).access_token
        activation = job_pb.ActivateJobsRequest(
            type="work", worker=OWNER, timeout=JOB_TIMEOUT, max_jobs_to_activate=1, request_timeout=-1
        )
        metadata = (("authorization", f"Bearer {token}"),)
        jobs = JobServiceStub(channel)
        for _ in range(MOST_CALLS):
            if await _is_answered(jobs.ActivateJobs(activation, timeout=CALL_SECONDS, metadata=metadata)):
                return
            await asyncio.sleep(PAUSE_SECONDS)
    raise TimeoutError(f"expected a job, found none in {MOST_CALLS} calls")


async def _is_answered(call: Awaitable[job_pb.ActivateJobsResponse]) -> bool:
    """By the partition; until the lease of its dead owner is over it is unavailable."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as refusal:
        if refusal.code() is not grpc.StatusCode.UNAVAILABLE:
            raise
        return False
    assert len(answer.jobs) == 1
    return True
