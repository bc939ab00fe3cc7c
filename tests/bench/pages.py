"""The cost of a command by the size of its process instance: with ten jobs or variables and with ten thousand, and beside
1 MB of variables.

Each command is a turn and a commit of its own. CPU is that of the engine and of packing what the commit writes; a commit
to PostgreSQL is taken by the clock, as the median. Large and small instances take turns, so that a slow moment of the
machine meets both.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count, islice
from statistics import median

import uvloop
from rich.table import Table

from server.bpmn.builder import ProcessBuilder, process
from server.engine import State
from server.engine.answers import CreatedInstance
from server.engine.commands import Command
from server.engine.deployment_commands import DeployResources, Resource
from server.engine.job_commands import ActivateJobs, CompleteJob
from server.engine.keys import Key
from server.engine.process_instance_commands import (
    CancelProcessInstance,
    ContinueProcessInstance,
    CreateProcessInstance,
)
from server.partition.config import QuotaConfig
from server.partition.quota import Quota
from server.partition.turn import Entry, Turn, Turns
from server.platform.errors import ServiceError
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import Batch
from server.store.postgres.ledger import PostgresLedger
from tests.bench.models import MODELS, VARIABLES, ours
from tests.durable import migrated_database, taken
from tests.postgres import postgres_server

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANT = "default"
ROUNDS = 5
COMMANDS = 200
COMMANDS_OF_A_SMALL_INSTANCE = 5
SMALL, LARGE = 10, 10_000
FEW_CHILDREN, MANY_CHILDREN = 1_000, 4_000
GOAL = 2.0
# Of variables that are no part of the command, in one value or in many.
OCTETS = 1 << 20
NO_VALUE, ONE_VALUE, SEVERAL_VALUES = 0, 1, 10
GOAL_BESIDE_VALUES = 1.2
MODEL = "one service task"


@dataclass(slots=True)
class Cost:
    """Of each of some commands; `bytes` are those of pages."""

    cpu: list[float] = field(default_factory=list)
    commit: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)

    @property
    def cpu_micros(self) -> float:
        """Of the best round."""
        return min(self.cpu) * 1e6


class Carrier:
    """Carries commands out, and keeps the batches that come of them."""

    def __init__(self) -> None:
        self.state = State()
        self.batches: list[Batch] = []
        self._turns = Turns(self.state, Quota(QuotaConfig()))

    def do(self, command: Command) -> object:
        turn = Turn()
        self._turns.grow(turn, [Entry(command)], now=NOW)
        self._turns.seal(turn)
        self.batches.append(turn.batch)
        ((_, answer),) = turn.results
        assert not isinstance(answer, ServiceError)
        return answer

    def deploy(self, content: bytes, process_id: str) -> None:
        checksum = hashlib.sha256(content).hexdigest()
        self.do(DeployResources(TENANT, (Resource("model.bpmn", content, checksum, (process_id,)),)))

    def start(self, process_id: str, variables: dict[str, str]) -> Key:
        answer = self.do(
            CreateProcessInstance(tenant_id=TENANT, process_definition_id=process_id, variables=variables)
        )
        assert isinstance(answer, CreatedInstance)
        self.go_on(answer.head.key)
        return answer.head.key

    def go_on(self, key: Key) -> None:
        """Do all work that was left for later turns."""
        while (instance := self.state.instances.get(key)) is not None and instance.work:
            self.do(ContinueProcessInstance(TENANT, key))


def spreading() -> ProcessBuilder:
    """Makes as many jobs as `n` says, beside each other."""
    builder = process("spread").exclusive_gateway("next").parallel_gateway("split")
    builder.service_task("task", type="work").end()
    builder.branch("split").node("task", "count", outputs={"i": "=i + 1"}).exclusive_gateway("enough")
    return builder.flow(condition="=i >= n").end().branch("enough").flow(default=True).connect_to("next")


def carrier() -> Carrier:
    opened = Carrier()
    opened.deploy(spreading().to_xml(), "spread")
    return opened


def spread(opened: Carrier, *, jobs: int, variables: int = 0) -> Key:
    numbered = {f"v{number}": "0" for number in range(variables)}
    return opened.start("spread", {"i": "0", "n": str(jobs), **numbered})


def jobs_of(opened: Carrier, key: Key) -> Iterator[Key]:
    """From all over the process instance."""
    keys = list(opened.state.instances[key].jobs)
    return (keys[number * 37 % len(keys)] for number in range(len(keys)))


def completions(opened: Carrier, size: int) -> Sequence[Command]:
    keys = _enough_jobs(opened, lambda: spread(opened, jobs=size), is_small=size == SMALL)
    return [CompleteJob(TENANT, key) for key in keys]


def updates(opened: Carrier, size: int) -> Sequence[Command]:
    """Each updates a variable of the process instance when a job is completed."""
    jobs = SMALL if size == SMALL else COMMANDS + SMALL
    keys = _enough_jobs(opened, lambda: spread(opened, jobs=jobs, variables=size), is_small=size == SMALL)
    return [
        CompleteJob(TENANT, key, {f"v{number * 37 % size}": f"{number}"})
        for number, key in enumerate(keys, start=1)
    ]


def completions_beside_values(opened: Carrier, values: int) -> Sequence[Command]:
    keys = _enough_jobs(opened, lambda: _spread_beside(opened, values), is_small=True)
    return [CompleteJob(TENANT, key) for key in keys]


def activations_beside_values(opened: Carrier, values: int) -> Sequence[Command]:
    """Of one job each."""
    jobs = list(_enough_jobs(opened, lambda: _spread_beside(opened, values), is_small=True))
    one = ActivateJobs(
        tenant_id=TENANT, type="work", worker="worker", timeout=timedelta(minutes=5), max_jobs=1
    )
    return [one for _ in jobs]


def _spread_beside(opened: Carrier, values: int) -> Key:
    small = {f"v{number}": "0" for number in range(SMALL)}
    large = {f"large{number}": _text(OCTETS // values) for number in range(values)}
    return opened.start("spread", {"i": "0", "n": str(SMALL), **small, **large})


@lru_cache
def _text(octets: int) -> str:
    """JSON that does not compress to nothing."""
    orders = (
        f'{{"order":"{hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()}","amount":{number}}}'
        for number in count()
    )
    members: list[str] = []
    while sum(map(len, members)) + len(members) < octets:
        members += islice(orders, 50)
    return f"[{','.join(members)}]"


def _enough_jobs(opened: Carrier, start: Callable[[], Key], *, is_small: bool) -> Iterable[Key]:
    each = COMMANDS_OF_A_SMALL_INSTANCE if is_small else COMMANDS
    for _ in range(COMMANDS // each):
        keys = jobs_of(opened, start())
        yield from (next(keys) for _ in range(each))


Making = Callable[[Carrier, int], Sequence[Command]]


def table() -> Table:
    table = Table(title="Cost of a command by the size of its process instance")
    for column in ("command", "CPU µs", "ratio", "bytes", "ratio", "commit µs", "ratio", "goal"):
        table.add_column(column, justify="left" if column == "command" else "right")
    with postgres_server() as dsn:
        for name, making in {
            "complete one of {:,} jobs": completions,
            "update one of {:,} variables": updates,
        }.items():
            small, large = uvloop.run(_costs(dsn, name.split()[0], making, (SMALL, LARGE)))
            _add(table, name.format(SMALL), small, small, goal=GOAL)
            _add(table, name.format(LARGE), large, small, goal=GOAL)
        for name, making in {
            "complete a job beside": completions_beside_values,
            "activate a job beside": activations_beside_values,
        }.items():
            values = (NO_VALUE, ONE_VALUE, SEVERAL_VALUES)
            small, one, many = uvloop.run(_costs(dsn, f"{name.split()[0]}_beside", making, values))
            _add(table, f"{name} small variables", small, small, goal=GOAL_BESIDE_VALUES)
            _add(table, f"{name} 1 MB in a variable", one, small, goal=GOAL_BESIDE_VALUES)
            _add(table, f"{name} 1 MB in {SEVERAL_VALUES} variables", many, small, goal=GOAL_BESIDE_VALUES)
    few, many = (_terminating(children) for children in (FEW_CHILDREN, MANY_CHILDREN))
    for children, seconds in ((FEW_CHILDREN, few), (MANY_CHILDREN, many)):
        ratio = seconds / few
        goal = GOAL * children / FEW_CHILDREN
        verdict = f"{goal:g}× {'reached' if ratio <= goal else 'missed'}"
        facts = (f"{seconds * 1e6:,.0f}", f"{ratio:.2f}", "", "", "", "", verdict)
        table.add_row(f"terminate {children:,} children", *facts)
    table.add_row("start and complete a small instance", f"{_small() * 1e6:,.0f}", *[""] * 6)
    return table


def _add(table: Table, name: str, cost: Cost, base: Cost, *, goal: float) -> None:
    ratios = (
        cost.cpu_micros / base.cpu_micros,
        median(cost.bytes) / median(base.bytes),
        median(cost.commit) / median(base.commit),
    )
    facts = (f"{cost.cpu_micros:,.0f}", f"{median(cost.bytes):,.0f}", f"{median(cost.commit) * 1e6:,.0f}")
    cells = [cell for fact, ratio in zip(facts, ratios, strict=True) for cell in (fact, f"{ratio:.2f}")]
    table.add_row(name, *cells, f"{goal:g}× {'reached' if max(ratios[0], ratios[2]) <= goal else 'missed'}")


async def _costs(server: str, name: str, making: Making, sizes: Sequence[int]) -> Sequence[Cost]:
    costs = [Cost() for _ in sizes]
    for number in range(ROUNDS):
        for cost, size in zip(costs, sizes, strict=True):
            await _measure(await migrated_database(server, f"{name}_{size}_{number}"), making, size, cost)
    return costs


async def _measure(dsn: str, making: Making, size: int, cost: Cost) -> None:
    opened = carrier()
    spent = list(making(opened, size))
    prepared = len(opened.batches)
    began = time.process_time()
    for command in spent:
        opened.do(command)
    cost.cpu.append((time.process_time() - began) / len(spent))
    cost.bytes += map(size_of, opened.batches[prepared:])
    async with open_pool(dsn, 1) as pool:
        lease, database = await taken(pool), PooledDatabase(pool)
        async with PostgresLedger(dsn, lease, database=database, statement_seconds=60.0) as ledger:
            for number, batch in enumerate(opened.batches):
                began = time.perf_counter()
                await ledger.commit(batch)
                if number >= prepared:
                    cost.commit.append(time.perf_counter() - began)


def size_of(batch: Batch) -> int:
    """Bytes of the pages that it writes."""
    return sum(
        len(page.content) for pages in batch.documents.values() if pages for page in pages.values() if page
    )


def _terminating(children: int) -> float:
    """Seconds, at best."""
    opened = carrier()
    spent: list[float] = []
    for _ in range(ROUNDS):
        key = spread(opened, jobs=children)
        began = time.process_time()
        opened.do(CancelProcessInstance(TENANT, key))
        opened.go_on(key)
        spent.append(time.process_time() - began)
        assert key not in opened.state.instances
    return min(spent)


def _small() -> float:
    """Seconds for an instance with one service task, at best."""
    opened = Carrier()
    opened.deploy(ours(MODEL), str(MODELS[MODEL].element.get("id")))
    spent: Counter[int] = Counter()
    for number in range(ROUNDS):
        began = time.process_time()
        for _ in range(COMMANDS):
            key = opened.start(
                str(MODELS[MODEL].element.get("id")), {name: str(value) for name, value in VARIABLES.items()}
            )
            opened.do(CompleteJob(TENANT, next(iter(opened.state.instances[key].jobs)), {"done": "true"}))
        spent[number] = int((time.process_time() - began) / COMMANDS * 1e9)
    return min(spent.values()) / 1e9
