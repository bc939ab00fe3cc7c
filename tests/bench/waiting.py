"""What process instances cost that wait: their memory at a user task, and timers that are due at once.

Memory is what Python's allocators gave out for an instance, without what instances share. Timers are fired by the commands
that the schedule of the partition gives out. An entry of the schedule is looked at when the schedule is asked for the next
one that is due: one look for each timer, and one that finds nothing more, mean that nothing was searched.
"""

import gc
import hashlib
import time
import tracemalloc
from collections.abc import Callable
from datetime import datetime, timedelta

from rich.table import Table

from server.bpmn.builder import ProcessBuilder, process
from server.engine import State
from server.engine import process as handle
from server.engine.commands import Command
from server.engine.deployment_commands import DeployResources, Resource
from server.engine.engine import Outcome
from server.engine.process_instance_commands import CreateProcessInstance
from server.partition.due import Due
from server.store.memory import MemoryStore
from server.store.ports import Batch
from server.store.projection import project
from tests.bench.instances import NOW, TENANT

INSTANCES = 5_000
FEW_TIMERS, MANY_TIMERS = 1_000, 100_000
FIRED_AT_ONCE = 100
KIB = 1024
GOAL_KIB = 4.0
GOAL = 2.0


class CountedDue(Due):
    """Counts how often an entry is looked at."""

    looks = 0

    def has_come(self, now: datetime) -> bool:
        self.looks += 1
        return super().has_come(now)


def table() -> Table:
    table = Table(title="Process instances that wait")
    for column in ("what", "figure", "goal", ""):
        table.add_column(column, justify="left" if column == "what" else "right")
    (few, _), (many, searched) = timers(FEW_TIMERS), timers(MANY_TIMERS)
    figures = (
        ("KiB of the engine's state at a user task", state_at_a_user_task(), GOAL_KIB),
        ("KiB of its rows in embedded mode", rows_at_a_user_task(), None),
        (f"CPU µs for one of {MANY_TIMERS:,} due timers", many * 1e6, None),
        (f"the same to one of {FEW_TIMERS:,}", many / few, GOAL),
        (f"entries searched for {MANY_TIMERS:,} due timers", searched, 0),
    )
    for what, figure, goal in figures:
        verdict = "" if goal is None else "reached" if figure <= goal else "missed"
        table.add_row(what, f"{figure:,.2f}", "" if goal is None else f"{goal:g}", verdict)
    return table


def state_at_a_user_task() -> float:
    """KiB for each process instance."""
    state, start = _deployed(process("person").start().user_task("task").end())
    handle(state, start(), NOW)
    return _allocated(lambda: _do(state, start))


def rows_at_a_user_task() -> float:
    """KiB for each process instance."""
    state, start = _deployed(process("person").start().user_task("task").end())
    store = MemoryStore(max_finished_instances=INSTANCES)

    def keep(outcome: Outcome) -> None:
        batch = Batch()
        project(outcome.events, NOW, batch.changes)
        try:
            store.commit(batch).send(None)
        except StopIteration:  # a commit to memory waits for nothing
            return

    keep(handle(state, start(), NOW))
    return _allocated(lambda: _do(state, start, keep)) - state_at_a_user_task()


def timers(number: int) -> tuple[float, int]:
    """CPU seconds for one of so many timers that are due at once, and how many entries were searched for all of them."""
    state, start = _deployed(process("clock").start().timer_catch("wait", duration="PT1M").end())
    due, later = CountedDue(), NOW + timedelta(minutes=1)
    for _ in range(number):
        due.observe(handle(state, start(), NOW).events)
    begun = time.process_time()
    while commands := list(due.take(later, FIRED_AT_ONCE)):
        for command in commands:
            due.observe(handle(state, command, later).events)
    seconds = time.process_time() - begun
    assert not state.instances
    return seconds / number, due.looks - number - 1


def _deployed(builder: ProcessBuilder) -> tuple[State, Callable[[], Command]]:
    """A state that knows the process, and the command that starts it, made anew each time as by a caller."""
    state, content, process_id = State(), builder.to_xml(), str(builder.element.get("id"))
    checksum = hashlib.sha256(content).hexdigest()
    handle(state, DeployResources(TENANT, (Resource("model.bpmn", content, checksum, (process_id,)),)), NOW)

    def start() -> Command:
        variables = {"order": f'"A-{state.last_key}"', "total": "120"}
        return CreateProcessInstance(tenant_id=TENANT, process_definition_id=process_id, variables=variables)

    return state, start


def _do(state: State, start: Callable[[], Command], keep: Callable[[Outcome], None] | None = None) -> None:
    for _ in range(INSTANCES):
        outcome = handle(state, start(), NOW)
        if keep is not None:
            keep(outcome)


def _allocated(work: Callable[[], None]) -> float:
    """KiB that the work leaves for each process instance."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    work()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / INSTANCES / KIB
