"""One tenant runs the worst models that it may deploy, while another tenant completes jobs: how long do these take?"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import ceil, inf

import asyncpg

from server.bpmn.builder import process
from tests.campaigns import hostile_models
from tests.campaigns.api import NotAnswered, Refused, until_answered
from tests.campaigns.book import Book
from tests.campaigns.bundled import Bundled, bundled
from tests.campaigns.http_api import HttpApi, connected
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
# The bound on how much longer the other tenant's completions take under attack, at the 99th percentile.
CLAIM_MILLISECONDS = 250.0
# In one deployment of the attacker.
FILES = 100
# Answers to the attacker take long; what it waits for is not measured.
ATTACKER_SECONDS = 60.0
VICTIM_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Size:
    """How much the attacker does at once, for `seconds`, with so many versions deployed before.

    The other tenant has so many workers, and `idle_seconds` without the attacker.
    """

    seconds: float = 60.0
    idle_seconds: float = 20.0
    workers: int = 4
    children: int = 4_000
    rules: int = 10_000
    versions: int = 5_000
    activations: int = 200


BOUNDED = Size(
    seconds=12.0, idle_seconds=2.0, workers=2, children=1_000, rules=1_000, versions=300, activations=50
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
    """`attacks` counts what the attacker got done; a lease was lost when a partition has another epoch than before."""

    idle: Completions
    attacked: Completions
    leases_lost: int
    attacks: Mapping[str, int]


async def run(rounds: int, seed: str) -> Report:
    """The claim is a p99 of completions at most 250 ms above the idle one, and no lease lost."""
    report = Report("neighbour", seed, Book(), measure="ms at p99")

    async def one(_: int) -> Round:
        outcome = await outcome_of(report, Size())
        idle, attacked = (found.percentile(0.99) for found in (outcome.idle, outcome.attacked))
        report.rounds.append(Round(f"idle, {len(outcome.idle.milliseconds)} completions", idle, ()))
        strike = f"attacked, {len(outcome.attacked.milliseconds)} completions, attacker: {outcome.attacks}"
        return Round(strike, attacked, [*_violations(outcome, idle, attacked)])

    await report.collect(rounds, one)
    return report


def _violations(outcome: Outcome, idle: float, attacked: float) -> Sequence[str]:
    found = [*outcome.idle.failures, *outcome.attacked.failures]
    if outcome.leases_lost:
        found.append(f"{outcome.leases_lost} leases were lost")
    if attacked > idle + CLAIM_MILLISECONDS:
        found.append(f"p99 is {attacked - idle:.0f} ms above idle, the claim is {CLAIM_MILLISECONDS:g}")
    return found


async def outcome_of(report: Report, size: Size) -> Outcome:
    async with AsyncExitStack() as stack:
        deployment = await stack.enter_async_context(bundled(report.logs, CONFIGURATION))
        victim, attacker = [
            await stack.enter_async_context(
                connected([deployment.http], await token_of(deployment.http, client), attempt_seconds=seconds)
            )
            for client, seconds in ((VICTIM, VICTIM_SECONDS), (ATTACKER, ATTACKER_SECONDS))
        ]
        await until_answered(lambda: victim.deploy(f"{JOB_TYPE}.bpmn", _one_job()))
        idle = Completions()
        async with _completing(victim, idle, size.workers):
            await asyncio.sleep(size.idle_seconds)
        # By now every process has its share of the partitions.
        before = await _epochs(deployment)
        attacked = Completions()
        attack = _Attack(attacker, size)
        await attack.prepare()
        async with _completing(victim, attacked, size.workers):
            await attack.run()
        lost = sum(number != before[key] for key, number in (await _epochs(deployment)).items())
        return Outcome(idle, attacked, lost, attack.done)


def _one_job() -> bytes:
    return process(JOB_TYPE).start().service_task("job", type=JOB_TYPE).end().to_xml()


async def _epochs(deployment: Bundled) -> Mapping[int, int]:
    connection = await asyncpg.connect(deployment.dsn)
    try:
        return dict(await connection.fetch("SELECT partition_id, epoch FROM gnomon.partition"))
    finally:
        await connection.close()


@asynccontextmanager
async def _completing(api: HttpApi, completions: Completions, workers: int) -> AsyncIterator[None]:
    """Start process instances and complete their jobs while the block runs."""
    termination = asyncio.Event()

    async def work(worker: int) -> None:
        numbers = count()
        while not termination.is_set():
            await _complete_one(api, completions, f"{id(completions)}-{worker}-{next(numbers)}")

    async with asyncio.TaskGroup() as tasks:
        for worker in range(workers):
            tasks.create_task(work(worker))
        yield
        termination.set()


async def _complete_one(api: HttpApi, completions: Completions, key: str) -> None:
    clock = asyncio.get_running_loop().time
    try:
        await api.start(JOB_TYPE, idempotency_key=key)
        for job in await api.activate(JOB_TYPE, 1):
            begun = clock()
            await api.complete(job.key, idempotency_key=f"{key}-{job.key}")
            completions.milliseconds.append((clock() - begun) * 1_000)
    except (NotAnswered, Refused) as failure:
        completions.failures.append(f"{type(failure).__name__}: {failure}")


class _Attack:
    """Everything at once, for so long; refusals are fine."""

    def __init__(self, api: HttpApi, size: Size) -> None:
        self.done: dict[str, int] = {}
        self._api = api
        self._size = size
        self._numbers = count()

    async def run(self) -> None:
        attacks: Sequence[Callable[[], Awaitable[object]]] = (
            self._start_comprehensions,
            self._start_expressions,
            self._fan_out_and_cancel,
            self._deploy_versions,
            self._deploy_rules,
            *[self._activate] * self._size.activations,
        )
        running = [asyncio.ensure_future(self._repeat(attack)) for attack in attacks]
        await asyncio.wait(running, timeout=self._size.seconds)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def prepare(self) -> None:
        """Deploy what is run, and what has to be kept."""
        contents = {
            hostile_models.COMPREHENSIONS: hostile_models.comprehensions(),
            hostile_models.EXPRESSIONS: hostile_models.expressions(),
            hostile_models.FAN_OUT: hostile_models.fan_out(self._size.children),
        }
        for _ in range(0, self._size.versions, FILES):
            await until_answered(self._deploy_versions)
        for name, content in contents.items():
            await until_answered(partial(self._api.deploy, f"{name}.bpmn", content))

    async def _repeat(self, attack: Callable[[], Awaitable[object]]) -> None:
        name = getattr(attack, "__name__", "attack").removeprefix("_").replace("_", " ")
        while True:
            try:
                await attack()
            except NotAnswered:
                await asyncio.sleep(0.1)
            except Refused:
                pass
            self.done[name] = self.done.get(name, 0) + 1

    async def _start(self, process_id: str) -> int:
        return await self._api.start(process_id, idempotency_key=f"hostile-{next(self._numbers)}")

    async def _start_comprehensions(self) -> None:
        await self._start(hostile_models.COMPREHENSIONS)

    async def _start_expressions(self) -> None:
        await self._start(hostile_models.EXPRESSIONS)

    async def _fan_out_and_cancel(self) -> None:
        key = await self._start(hostile_models.FAN_OUT)
        await self._api.cancel(key)

    async def _deploy_versions(self) -> None:
        await self._api.deploy_all(hostile_models.versions(next(self._numbers), FILES))

    async def _deploy_rules(self) -> None:
        content = hostile_models.rules(next(self._numbers), self._size.rules)
        await self._api.deploy(f"{hostile_models.RULES}.dmn", content)

    async def _activate(self) -> None:
        await self._api.activate("nothing", 1_000)
