"""Random small processes and random histories for them.

Every process has a corrector at its side: a job `correct` that comes back until it says `finished`, so that somebody
can mend the variables on which the rest depends. With the values of `GOOD` everything can go on: no mapping hides
`ok` or `kind`, and the last flow of each exclusive gateway is open.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from server.bpmn.builder import ProcessBuilder, process

EXAMPLES = int(os.environ.get("GNOMON_EXAMPLES", "100"))
bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

JOB_TYPES = ("a", "b", "correct")
GOOD = {"a": "5", "b": "true", "c": '"text"', "ok": "true", "kind": '"a"'}
CONDITIONS = ("=a > 1", "=b", "=a = 5", "=ok", "=not(b)")
INPUTS = ("=a", "=a + 1", '=assert(ok, ok, "not ok")', "text", "={x: b, y: [a]}")
OUTPUTS = ("=a", "=c", '=assert(ok, ok, "not ok")', "=b.x")

Mappings = Mapping[str, str]


@dataclass(frozen=True)
class Work:
    """A task for a worker, or one that is passed when it has no type."""

    type: str | None
    inputs: Mappings
    outputs: Mappings


@dataclass(frozen=True)
class Sequence:
    blocks: tuple["Block", ...]


@dataclass(frozen=True)
class Choice:
    """The last branch is the default flow, or has a condition that can be made true."""

    branches: tuple[tuple[str, "Block"], ...]
    has_default: bool


@dataclass(frozen=True)
class Parallel:
    branches: tuple["Block", ...]


Block = Work | Sequence | Choice | Parallel

targets = st.sampled_from(["a", "b", "c", "b.x", "c.x", "c.y"])
work = st.builds(
    Work,
    st.sampled_from([None, "a", "b", "=kind", '="a"']),
    st.dictionaries(targets, st.sampled_from(INPUTS), max_size=2),
    st.dictionaries(targets, st.sampled_from(OUTPUTS), max_size=2),
)


def _composed(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[Block]:
    lists = st.lists(inner, min_size=2, max_size=3).map(tuple)
    branches = st.lists(st.tuples(st.sampled_from(CONDITIONS), inner), min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Sequence, lists), st.builds(Choice, branches, st.booleans()), st.builds(Parallel, lists)
    )


blocks: st.SearchStrategy[Block] = st.recursive(work, _composed, max_leaves=6)


class _Writer:
    def __init__(self, builder: ProcessBuilder, prefix: str) -> None:
        self._builder = builder
        self._prefix = prefix
        self._numbers = count(1)

    def write(self, block: Block) -> None:
        match block:
            case Work():
                self._work(block)
            case Sequence(blocks=inner):
                for each in inner:
                    self.write(each)
            case Choice():
                self._choice(block)
            case Parallel(branches=branches):
                self._split("parallelGateway", [(None, branch) for branch in branches])

    def _work(self, block: Work) -> None:
        name = f"{self._prefix}task_{next(self._numbers)}"
        if block.type is None:
            self._builder.node("task", name, inputs=block.inputs, outputs=block.outputs)
        else:
            self._builder.service_task(name, type=block.type, inputs=block.inputs, outputs=block.outputs)

    def _choice(self, block: Choice) -> None:
        *others, (_, last) = block.branches
        self._split("exclusiveGateway", [*others, (None if block.has_default else "=ok", last)])

    def _split(self, tag: str, branches: list[tuple[str | None, Block]]) -> None:
        number = next(self._numbers)
        split, join = f"{self._prefix}split_{number}", f"{self._prefix}join_{number}"
        self._builder.node(tag, split)
        for index, (condition, branch) in enumerate(branches):
            self._builder.branch(split)
            if tag == "exclusiveGateway":
                self._builder.flow(condition=condition, default=condition is None)
            self.write(branch)
            if index:
                self._builder.connect_to(join)
            else:
                self._builder.node(tag, join)


def written(block: Block, process_id: str = "random", prefix: str = "") -> ProcessBuilder:
    """The process of a block, with this before the ids of its elements."""
    every, again, correct, enough = (f"{prefix}{name}" for name in ("all", "again", "correct", "enough"))
    builder = process(process_id).start().parallel_gateway(every)
    _Writer(builder, prefix).write(block)
    builder.end().branch(every).exclusive_gateway(again).service_task(correct, type="correct")
    builder.exclusive_gateway(enough).flow(condition="=finished = true").end()
    return builder.branch(enough).flow(default=True).connect_to(again)


# Histories


@dataclass(frozen=True)
class Move:
    """A command to be; `pick` chooses among the keys that there are by then, that were, or that never were."""

    kind: str
    pick: int = 0
    number: int = 0
    variables: Mappings | None = None
    is_foreign: bool = False


VALUES = ["null", "true", "false", "0", "5", '"text"', '{"x":1}', "[]"]
# No JSON: the border lets nothing like it through, so whoever reads it falls over.
POISON = "{"


def _moves(values: list[str]) -> st.SearchStrategy[Move]:
    variables = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from(values), max_size=2)
    given_at_start = st.dictionaries(st.sampled_from(list(GOOD)), st.sampled_from(values), max_size=4)
    picks, numbers = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 5, 9]), st.integers(0, 3)
    starts = st.builds(Move, st.just("start"), variables=given_at_start)
    activations = st.builds(Move, st.just("activate"), picks, numbers)
    times = st.builds(Move, st.just("advance"), number=st.integers(1, 100))
    results = st.builds(Move, st.sampled_from(["complete", "fail", "throw"]), picks, numbers, variables)
    others = st.builds(
        Move,
        st.sampled_from(["update", "yield", "resolve", "resolve", "cancel", "deploy", "migrate", "migrate"]),
        picks,
        numbers,
    )
    foreign = st.builds(
        Move,
        st.sampled_from(["complete", "fail", "throw", "update", "resolve", "cancel", "migrate", "start"]),
        picks,
        is_foreign=st.just(True),
    )
    return st.one_of(starts, activations, activations, results, results, times, others, foreign)


def _histories(values: list[str]) -> st.SearchStrategy[list[Move]]:
    first = Move("start", variables=GOOD)
    return st.lists(_moves(values), min_size=12, max_size=30).map(lambda moves: [first, *moves])


histories = _histories(VALUES)
poisoned_histories = _histories([*VALUES, POISON, POISON])
