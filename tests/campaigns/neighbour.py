"""One tenant attacks, while another tenant completes jobs: how long do these take?"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from math import ceil, inf

import asyncpg

from server.bpmn.builder import process
from tests.bench.processes import tree_mebibytes
from tests.campaigns import grpc_api, http_api
from tests.campaigns.api import Api, NotAnswered, Refused, until_answered
from tests.campaigns.attacks import ATTACKS, Attacker, Size, port_of, under_attack
from tests.campaigns.book import Book
from tests.campaigns.bundled import Bundled, bundled
from tests.campaigns.report import Report, Round
from tests.campaigns.sign_in import token_of

VICTIM, ATTACKER = "demo", "attacker"
PERMISSIONS = ("process:deploy", "instance:create", "instance:cancel", "job:work", "history:read")
CONFIGURATION = f"""
[bootstrap]
tenants = ["hostile"]

[[bootstrap.clients]]
id = "{ATTACKER}"
secret = "{ATTACKER}-secret"
tenants = ["hostile"]
permissions = [{", ".join(f'"{each}"' for each in PERMISSIONS)}]
"""

JOB_TYPE = "neighbour"
# The bounds on how much longer the other tenant's completions take under attack, at the 99th percentile, and on
# the memory of the server's processes without PostgreSQL's.
CLAIM_MILLISECONDS = 250.0
CLAIM_MEBIBYTES = 1_024.0
LOOK_SECONDS = 1.0
IDLE_SECONDS = 20.0
WORKERS = 4
# Answers to the attacker take long; what it waits for is not measured.
ATTACKER_SECONDS = 60.0
VICTIM_SECONDS = 60.0

BOUNDED = Size(
    seconds=12.0,
    children=1_000,
    rules=1_000,
    versions=300,
    activations=50,
    bodies=8,
    searches=6,
    variables=3_000,
    items=5_000,
    connections=300,
    floods=1,
)


@dataclass(slots=True)
class Completions:
    """How long those of the other tenant took, in milliseconds, and what went wrong."""

    milliseconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        ordered = sorted(self.milliseconds)
        return ordered[ceil(share * len(ordered)) - 1] if ordered else inf


@dataclass(frozen=True, slots=True)
class Outcome:
    """`attempts` counts those of the attacker by attack; a lease was lost when a partition has another epoch than before.

    `mebibytes` is the most memory that the server's processes had during the attack.
    """

    idle: Completions
    attacked: Completions
    leases_lost: int
    mebibytes: float
    attempts: Mapping[str, int]

    def violations(self) -> Sequence[str]:
        found = [*self.idle.failures, *self.attacked.failures]
        if self.leases_lost:
            found.append(f"{self.leases_lost} leases were lost")
        above = self.attacked.percentile(0.99) - self.idle.percentile(0.99)
        if above > CLAIM_MILLISECONDS:
            found.append(f"p99 is {above:.0f} ms above idle, the claim is {CLAIM_MILLISECONDS:g}")
        if self.mebibytes > CLAIM_MEBIBYTES:
            found.append(f"the server had {self.mebibytes:.0f} MiB, the claim is {CLAIM_MEBIBYTES:g}")
        return found


async def run(rounds: int, seed: str) -> Report:
    """Each attack alone in a deployment of its own, then all at once."""
    report = Report("neighbour", seed, Book(), measure="ms at p99")
    for _ in range(rounds):
        for name, attacks in {**{each: (each,) for each in ATTACKS}, "all at once": tuple(ATTACKS)}.items():
            outcome = await outcome_of(report, Size(), attacks)
            idle, attacked = (found.percentile(0.99) for found in (outcome.idle, outcome.attacked))
            report.rounds.append(Round(f"idle before {name}", idle, ()))
            strike = (
                f"{name}: {len(outcome.attacked.milliseconds)} completions, {outcome.mebibytes:.0f} MiB, "
                f"attempts {dict(outcome.attempts)}"
            )
            report.rounds.append(Round(strike, attacked, outcome.violations()))
    return report


async def outcome_of(
    report: Report, size: Size, attacks: Sequence[str], *, idle_seconds: float = IDLE_SECONDS
) -> Outcome:
    async with AsyncExitStack() as stack:
        deployment = await stack.enter_async_context(bundled(report.logs, CONFIGURATION))
        token = await token_of(deployment.http, VICTIM)
        victim = await stack.enter_async_context(
            http_api.connected([deployment.http], token, attempt_seconds=VICTIM_SECONDS)
        )
        api = await stack.enter_async_context(
            http_api.connected(
                [deployment.http],
                await token_of(deployment.http, ATTACKER),
                attempt_seconds=ATTACKER_SECONDS,
            )
        )
        await until_answered(lambda: victim.deploy(f"{JOB_TYPE}.bpmn", _one_job()))
        idle, attacked = Completions(), Completions()
        async with _completing(deployment, victim, token, idle):
            await asyncio.sleep(idle_seconds)
        # By now every process has its share of the partitions.
        before = await _epochs(deployment)
        attacker = Attacker(api, port_of(deployment.grpc), size)
        for name in attacks:
            await ATTACKS[name].prepare(attacker)
        async with _completing(deployment, victim, token, attacked), under_attack(attacker, attacks):
            mebibytes = await _most_mebibytes(deployment, size.seconds)
        lost = sum(number != before[key] for key, number in (await _epochs(deployment)).items())
        return Outcome(idle, attacked, lost, mebibytes, attacker.attempts)


def _one_job() -> bytes:
    return process(JOB_TYPE).start().service_task("job", type=JOB_TYPE).end().to_xml()


async def _epochs(deployment: Bundled) -> Mapping[int, int]:
    connection = await asyncpg.connect(deployment.dsn)
    try:
        return dict(await connection.fetch("SELECT partition_id, epoch FROM gnomon.partition"))
    finally:
        await connection.close()


async def _most_mebibytes(deployment: Bundled, seconds: float) -> float:
    """Look for so long at the memory of the server's processes."""
    most, clock = 0.0, asyncio.get_running_loop().time
    until = clock() + seconds
    while clock() < until:
        most = max(most, tree_mebibytes({deployment.pid}) - tree_mebibytes({*deployment.postgres()}))
        await asyncio.sleep(LOOK_SECONDS)
    return most


@asynccontextmanager
async def _completing(
    deployment: Bundled, api: Api, token: str, completions: Completions
) -> AsyncIterator[None]:
    """Start process instances and complete their jobs while the block runs; one worker uses new gRPC connections."""
    termination = asyncio.Event()

    async def work(worker: int) -> None:
        numbers = count()
        while not termination.is_set():
            await _complete_one(api, completions, f"{id(completions)}-{worker}-{next(numbers)}")

    async def connect_and_work() -> None:
        numbers = count()
        while not termination.is_set():
            async with grpc_api.connected([deployment.grpc], token) as connected:
                await _complete_one(connected, completions, f"{id(completions)}-grpc-{next(numbers)}")

    async with asyncio.TaskGroup() as tasks:
        for worker in range(WORKERS - 1):
            tasks.create_task(work(worker))
        tasks.create_task(connect_and_work())
        yield
        termination.set()


async def _complete_one(api: Api, completions: Completions, key: str) -> None:
    clock = asyncio.get_running_loop().time
    try:
        await api.start(JOB_TYPE, idempotency_key=key)
        for job in await api.activate(JOB_TYPE, 1):
            begun = clock()
            await api.complete(job.key, idempotency_key=f"{key}-{job.key}")
            completions.milliseconds.append((clock() - begun) * 1_000)
    except (NotAnswered, Refused) as failure:
        completions.failures.append(f"{type(failure).__name__}: {failure}")
