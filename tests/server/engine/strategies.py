"""Random small processes and random histories for them.

Every process has a corrector at its side: a job `correct` that comes back until it says `finished`, so that somebody
can mend the variables on which the rest depends. With the values of `GOOD` everything can go on: no mapping hides
`ok` or `kind`, and the last flow of each exclusive gateway is open.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from server.bpmn.builder import (
    ProcessBuilder,
    ad_hoc_sub_process,
    event_sub_process,
    process,
    sub_process,
)

EXAMPLES = int(os.environ.get("GNOMON_EXAMPLES", "100"))
bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

MESSAGE = "news"
# The process that call activities call.
HELPER = "helper"
SIGNAL = "alarm"
# The name of the message and of the signal that begin a process.
BEGIN = "begin"
# Those that messages most often have.
KEYS = ("x", "a", "7")
JOB_TYPES = ("a", "b", "correct", "io.camunda.zeebe:userTask")
GOOD = {"a": "5", "b": "true", "c": '"text"', "ok": "true", "kind": '"a"'}
CONDITIONS = ("=a > 1", "=b", "=a = 5", "=ok", "=not(b)")
INPUTS = ("=a", "=a + 1", '=assert(ok, ok, "not ok")', "text", "={x: b, y: [a]}")
SCRIPTS = ("=a", "=camunda.vars.env.a", "=a + 1", '=assert(ok, ok, "not ok")', "={x: b, y: [a]}")
OUTPUTS = ("=a", "=c", '=assert(ok, ok, "not ok")', "=b.x")

Mappings = Mapping[str, str]


@dataclass(frozen=True)
class Loop:
    """An activity that is repeated."""

    collection: str
    is_sequential: bool
    condition: str | None


@dataclass(frozen=True)
class Work:
    """A task for a worker, or one that is passed when it has no type; the listeners are phases.

    The linked resources may not be deployed yet.
    """

    type: str | None
    inputs: Mappings
    outputs: Mappings
    listeners: frozenset[str] = frozenset()
    loop: "Loop | None" = None
    is_compensable: bool = False
    linked: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class Script:
    """A task that the engine does itself."""

    expression: str
    result: str
    outputs: Mappings


@dataclass(frozen=True)
class Person:
    """A user task, native in the process and in its twin as this says; the priority may be an expression.

    A native one has listeners for these events. The form may not be deployed yet.
    """

    is_native: bool
    is_native_in_twin: bool
    priority: str | None
    outputs: Mappings
    listeners: frozenset[str]
    form: Mapping[str, str]


@dataclass(frozen=True)
class Pause:
    """A timer in the flow."""

    duration: str


@dataclass(frozen=True)
class Receipt:
    """A message in the flow, or at a receive task."""

    key: str
    is_task: bool


@dataclass(frozen=True)
class Signal:
    """A signal in the flow, which is thrown or waited for."""

    name: str
    is_thrown: bool


@dataclass(frozen=True)
class Condition:
    """A condition in the flow, which can be made true."""

    text: str


@dataclass(frozen=True)
class Undoing:
    """Compensation of what has completed in the scope."""


@dataclass(frozen=True)
class Letter:
    """A message that a worker sends."""

    type: str
    outputs: Mappings
    listeners: frozenset[str]


@dataclass(frozen=True)
class Scope:
    """A sub-process, with an event on its boundary and an event sub-process inside.

    Each has a duration, a cycle, which does not interrupt, `error`, or `escalation`, which interrupts on the boundary
    alone, as a `signal` does. It may end by `terminate`, by `escalation`, by a `signal`, by a `message`, by `compensation`, or by an
    `error` that one of them catches.
    """

    inside: "Block"
    boundary: str | None
    event_sub_process: str | None
    ending: str | None
    loop: "Loop | None" = None
    is_compensable: bool = False


@dataclass(frozen=True)
class AdHoc:
    """An ad-hoc sub-process, of which the collection names each path by its number; one that is none is an incident.

    A condition fails while it cannot hold. With a type it is left to a job worker.
    """

    paths: tuple["Block", ...]
    active: tuple[int, ...]
    condition: str | None
    cancels_remaining: bool
    event_sub_process: str | None
    type: str | None
    loop: "Loop | None" = None


@dataclass(frozen=True)
class Call:
    """A call activity; the process is named by id or by an expression."""

    process: str
    gives_all: bool
    takes_all: bool
    outputs: Mappings
    loop: "Loop | None" = None


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


@dataclass(frozen=True)
class Some:
    """The branches of an inclusive gateway; the last one is the default flow."""

    branches: tuple[tuple[str, "Block"], ...]


@dataclass(frozen=True)
class Race:
    """An event-based gateway with a timer before each branch, or a message before the first."""

    branches: tuple[tuple[str, "Block"], ...]
    has_message: bool


@dataclass(frozen=True)
class Jump:
    """A link."""


Block = (
    Work
    | Script
    | Person
    | Pause
    | Receipt
    | Signal
    | Letter
    | Undoing
    | Condition
    | Call
    | Scope
    | AdHoc
    | Sequence
    | Choice
    | Parallel
    | Some
    | Race
    | Jump
)

# Definitions of the form of a user task.
FORMS: tuple[Mapping[str, str], ...] = (
    {},
    {"formId": "address"},
    {"formId": '=if ok then "address" else a'},
    {"formId": "address", "bindingType": "versionTag", "versionTag": "stable"},
)

# A linked resource.
ROBOT: Mapping[str, str] = {"resourceId": "robot", "resourceType": "RPA"}

targets = st.sampled_from(["a", "b", "c", "b.x", "c.x", "c.y"])
loops = st.none() | st.builds(
    Loop,
    st.sampled_from(["=[1, 2]", "=[a, b]", "=[]", '=if ok then [1] else "none"']),
    st.booleans(),
    st.sampled_from([None, "=ok", "=numberOfCompletedInstances = 2", "=numberOfActiveInstances = 0"]),
)
work = st.builds(
    Work,
    st.sampled_from([None, "a", "b", "=kind", '="a"']),
    st.dictionaries(targets, st.sampled_from(INPUTS), max_size=2),
    st.dictionaries(targets, st.sampled_from(OUTPUTS), max_size=2),
    st.frozensets(st.sampled_from(["start", "end"])),
    loops,
    st.booleans(),
    # Most have none: one that is not deployed keeps the job from being created.
    st.sampled_from(
        [(), (), (), (ROBOT,), (ROBOT, {**ROBOT, "bindingType": "versionTag", "versionTag": "stable"})]
    ),
)
scripts = st.builds(
    Script,
    st.sampled_from(SCRIPTS),
    st.sampled_from(["a", "b", "c"]),
    st.dictionaries(targets, st.sampled_from(OUTPUTS), max_size=1),
)
durations = st.sampled_from(["PT10S", "PT1M", '=if ok then "PT5S" else a'])
pauses = st.builds(Pause, durations)
calls = st.builds(
    Call,
    st.sampled_from([HELPER, f'=if ok then "{HELPER}" else a']),
    st.booleans(),
    st.booleans(),
    st.dictionaries(targets, st.sampled_from(OUTPUTS), max_size=1),
    loops,
)
jumps = st.builds(Jump)
receipts = st.builds(Receipt, st.sampled_from(['="x"', "=kind", "=if ok then 7 else a"]), st.booleans())
signals = st.builds(
    Signal, st.sampled_from([SIGNAL, f'=if ok then "{SIGNAL}" else a', f'="{SIGNAL}"']), st.booleans()
)
letters = st.builds(
    Letter,
    st.sampled_from(["a", "b", "=kind"]),
    st.dictionaries(targets, st.sampled_from(OUTPUTS), max_size=1),
    st.frozensets(st.sampled_from(["start", "end"])),
)
endings = st.sampled_from([None, "terminate", "error", "escalation", "signal", "message", "compensation"])
undoings = st.builds(Undoing)
conditions = st.builds(Condition, st.sampled_from(["=ok", '=kind = "a"', "=ok and a != 7"]))
boundaries = st.sampled_from(
    [
        None,
        "error",
        "escalation",
        "message",
        "signal",
        "=ok",
        "=a = 5",
        "=a != b",
        "PT20S",
        "PT3M",
        "R3/PT15S",
        '=if ok then "PT1M" else c',
    ]
)
people = st.builds(
    Person,
    st.sampled_from([True, True, False]),
    st.sampled_from([True, True, False]),
    st.sampled_from([None, "7", '=if ok then 10 else "high"']),
    st.dictionaries(targets, st.sampled_from(OUTPUTS), max_size=1),
    st.frozensets(
        st.sampled_from(["creating", "assigning", "updating", "completing", "canceling"]), max_size=3
    ),
    # Most have no form: one that is not deployed keeps the user task from being created.
    st.sampled_from([{}, {}, {}, *FORMS]),
)


def _composed(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[Block]:
    lists = st.lists(inner, min_size=2, max_size=3).map(tuple)
    branches = st.lists(st.tuples(st.sampled_from(CONDITIONS), inner), min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Sequence, lists),
        st.builds(Choice, branches, st.booleans()),
        st.builds(Parallel, lists),
        st.builds(Scope, inner, boundaries, boundaries, endings, loops, st.booleans()),
        st.builds(
            AdHoc,
            lists,
            st.lists(st.integers(0, 1), min_size=1, max_size=3).map(tuple),
            st.sampled_from([None, '=if ok then true else "no"', "=count(done) > 0"]),
            st.booleans(),
            boundaries,
            st.sampled_from([None, "b", "=kind"]),
            loops,
        ),
        st.builds(Some, branches),
        st.builds(
            Race, st.lists(st.tuples(durations, inner), min_size=2, max_size=3).map(tuple), st.booleans()
        ),
    )


blocks: st.SearchStrategy[Block] = st.recursive(
    work | scripts | people | pauses | jumps | receipts | signals | letters | undoings | conditions | calls,
    _composed,
    max_leaves=6,
)


class _Writer:
    def __init__(self, builder: ProcessBuilder, prefix: str, numbers: Iterator[int]) -> None:
        self._builder = builder
        self._prefix = prefix
        self._numbers = numbers

    def write(self, block: Block) -> None:
        writers: Mapping[type[Block], Callable[[Any], object]] = {
            Work: self._work,
            Script: self._script,
            Person: self._person,
            Pause: self._pause,
            Call: self._call,
            Receipt: self._receipt,
            Signal: self._signal,
            Letter: self._letter,
            Undoing: self._undoing,
            Condition: self._condition,
            Scope: self._scope,
            AdHoc: self._ad_hoc,
            Sequence: self._sequence,
            Choice: self._choice,
            Parallel: self._parallel,
            Some: self._some,
            Race: self._race,
            Jump: self._jump,
        }
        writers[type(block)](block)

    def _sequence(self, block: Sequence) -> None:
        for each in block.blocks:
            self.write(each)

    def _pause(self, block: Pause) -> None:
        self._builder.timer_catch(f"{self._prefix}pause_{next(self._numbers)}", duration=block.duration)

    def _call(self, block: Call) -> None:
        self._builder.call_activity(
            f"{self._prefix}call_{next(self._numbers)}",
            process=block.process,
            parent_variables=block.gives_all,
            child_variables=block.takes_all,
            outputs=block.outputs,
        )
        self._repeat(block.loop)

    def _parallel(self, block: Parallel) -> None:
        self._split("parallelGateway", [(None, branch) for branch in block.branches])

    def _script(self, block: Script) -> None:
        name = f"{self._prefix}script_{next(self._numbers)}"
        self._builder.script_task(
            name, expression=block.expression, result=block.result, outputs=block.outputs
        )

    def _choice(self, block: Choice) -> None:
        *others, (_, last) = block.branches
        self._split("exclusiveGateway", [*others, (None if block.has_default else "=ok", last)])

    def _some(self, block: Some) -> None:
        *others, (_, last) = block.branches
        self._split("inclusiveGateway", [*others, (None, last)])

    def _jump(self, _: Jump) -> None:
        name = f"{self._prefix}jump_{next(self._numbers)}"
        self._builder.throw_link(name, link=name).catch_link(f"{name}_on", link=name)

    def _receipt(self, block: Receipt) -> None:
        name = f"{self._prefix}receipt_{next(self._numbers)}"
        tag = "receiveTask" if block.is_task else "intermediateCatchEvent"
        self._builder.message_catch(name, message=MESSAGE, key=block.key, tag=tag)

    def _signal(self, block: Signal) -> None:
        name = f"{self._prefix}signal_{next(self._numbers)}"
        if block.is_thrown:
            self._builder.throw_signal(name, signal=block.name, inputs={"a": "=b"})
        else:
            self._builder.signal_catch(name, signal=block.name)

    def _letter(self, block: Letter) -> None:
        name = f"{self._prefix}letter_{next(self._numbers)}"
        self._builder.throw_message(name, type=block.type, outputs=block.outputs)
        for phase in sorted(block.listeners):
            self._builder.execution_listener(phase, type="b")

    def _undoing(self, _: Undoing) -> None:
        self._builder.throw_compensation(f"{self._prefix}undoing_{next(self._numbers)}")

    def _condition(self, block: Condition) -> None:
        self._builder.condition_catch(f"{self._prefix}condition_{next(self._numbers)}", condition=block.text)

    def _work(self, block: Work) -> None:
        name = f"{self._prefix}task_{next(self._numbers)}"
        if block.type is None:
            self._builder.node("task", name, inputs=block.inputs, outputs=block.outputs)
        else:
            self._builder.service_task(
                name, type=block.type, inputs=block.inputs, outputs=block.outputs, linked=block.linked
            )
        for phase in sorted(block.listeners):
            self._builder.execution_listener(phase, type="b")
        self._repeat(block.loop)
        if block.is_compensable:
            self._compensate(name)

    def _compensate(self, name: str) -> None:
        """Attach a handler to an activity; the path goes on behind the activity."""
        self._builder.boundary_compensation(f"{name}_undone", on=name)
        self._builder.service_task(f"{name}_undo", type="b").branch(name)

    def _repeat(self, loop: Loop | None) -> None:
        """No name that a loop makes is one that anything else depends on."""
        if loop is not None:
            self._builder.multi_instance(
                loop.collection,
                element="item",
                sequential=loop.is_sequential,
                output="=[item, b]",
                outputs_to="items",
                until=loop.condition,
            )

    def _person(self, block: Person) -> None:
        is_native = block.is_native_in_twin if self._prefix else block.is_native
        self._builder.user_task(
            f"{self._prefix}user_{next(self._numbers)}",
            is_native=is_native,
            assignment={"assignee": '=if ok then "ann" else a', "candidateGroups": "x,y"},
            priority=block.priority,
            form=block.form,
            outputs=block.outputs,
        )
        if is_native:
            for event_type in sorted(block.listeners):
                self._builder.task_listener(event_type, type="=kind" if event_type == "updating" else "b")

    def _scope(self, block: Scope) -> None:
        """The way of the event joins that of the sub-process, where nothing waits for both."""
        name = f"{self._prefix}scope_{next(self._numbers)}"
        inside = sub_process(name).start()
        _Writer(inside, self._prefix, self._numbers).write(block.inside)
        if block.event_sub_process is not None:
            inside.beside(self._event_sub_process(f"{name}_help", block.event_sub_process))
        self._end(inside, name, block)
        self._builder.embed(inside)
        self._repeat(block.loop)
        if block.is_compensable:
            self._compensate(name)
        if block.boundary is not None:
            self._boundary(name, block.boundary)

    def _end(self, inside: ProcessBuilder, name: str, block: Scope) -> None:
        """An error ends a sub-process that catches it, or whose boundary does."""
        is_caught = "error" in {block.boundary, block.event_sub_process}
        ending = block.ending if block.ending != "error" or is_caught else None
        inside.declare_error("wrong", "wrong").declare_escalation("late", "late")
        endings: Mapping[str | None, Callable[[], object]] = {
            None: inside.end,
            "terminate": lambda: inside.end_terminate(f"{name}_stop"),
            "error": lambda: inside.end_error(f"{name}_fail", error="wrong"),
            "escalation": lambda: inside.end_escalation(f"{name}_ask", escalation="late"),
            "compensation": lambda: inside.end_compensation(f"{name}_back"),
            "message": lambda: inside.end_message(f"{name}_send", type="b"),
            "signal": lambda: inside.end_signal(f"{name}_warn", signal=SIGNAL),
        }
        endings[ending]()

    def _ad_hoc(self, block: AdHoc) -> None:
        """Each path begins with a task that is passed, whatever comes behind it."""
        name = f"{self._prefix}ad_hoc_{next(self._numbers)}"
        inside = ad_hoc_sub_process(name)
        for index, path in enumerate(block.paths):
            inside.apart().task(f"{name}_path_{index}")
            _Writer(inside, self._prefix, self._numbers).write(path)
        if block.event_sub_process is not None:
            inside.beside(self._event_sub_process(f"{name}_help", block.event_sub_process))
        listed = ", ".join(f'"{name}_path_{index}"' for index in block.active)
        if block.type is not None:
            self._builder.embed_ad_hoc(inside, output="=b", outputs_to="done").job_worker(type=block.type)
        else:
            self._builder.embed_ad_hoc(
                inside,
                active=f'=if ok then [{listed}] else "none"',
                until=block.condition,
                cancels_remaining=block.cancels_remaining,
                output="=b",
                outputs_to="done",
            )
        self._repeat(block.loop)

    def _boundary(self, name: str, trigger: str) -> None:
        """A path that does not join ends without an end event, which an ad-hoc sub-process may not have."""
        merge, late = f"{name}_merge", f"{name}_late"
        self._builder.exclusive_gateway(merge)
        if trigger.startswith("R"):
            self._builder.boundary_timer(late, on=name, is_interrupting=False, cycle=trigger)
            self._builder.task(f"{late}_task").branch(merge)
        elif trigger.startswith("=a"):
            self._builder.boundary_condition(late, on=name, is_interrupting=False, condition=trigger)
            self._builder.task(f"{late}_task").branch(merge)
        elif trigger == "=ok":
            self._builder.boundary_condition(late, on=name, condition=trigger).connect_to(merge)
        elif trigger == "error":
            self._builder.boundary_error(late, on=name).connect_to(merge)
        elif trigger == "escalation":
            self._builder.boundary_escalation(late, on=name).connect_to(merge)
        elif trigger == "signal":
            self._builder.boundary_signal(late, on=name, signal=SIGNAL).connect_to(merge)
        elif trigger == "message":
            self._builder.boundary_message(late, on=name, message=MESSAGE, key='="x"').connect_to(merge)
        else:
            self._builder.boundary_timer(late, on=name, duration=trigger).connect_to(merge)

    def _event_sub_process(self, name: str, trigger: str) -> ProcessBuilder:
        started = event_sub_process(name)
        if trigger in {"=ok", "=a = 5", "=a != b"}:
            is_interrupting = trigger == "=ok"
            started.start_condition(f"{name}_start", condition=trigger, is_interrupting=is_interrupting)
        elif trigger == "error":
            started.start_error(f"{name}_start")
        elif trigger == "escalation":
            started.start_escalation(f"{name}_start", is_interrupting=False)
        elif trigger == "signal":
            started.start_signal(f"{name}_start", signal=SIGNAL, is_interrupting=False)
        elif trigger == "message":
            started.start_message(f"{name}_start", message=MESSAGE, key="=kind")
        elif trigger.startswith("R"):
            started.start_timer(f"{name}_start", is_interrupting=False, cycle=trigger)
        else:
            started.start_timer(f"{name}_start", duration=trigger)
        return started.service_task(f"{name}_task", type="b").end()

    def _race(self, block: Race) -> None:
        number = next(self._numbers)
        race, merge = f"{self._prefix}race_{number}", f"{self._prefix}race_{number}_merge"
        self._builder.event_based_gateway(race)
        for index, (duration, branch) in enumerate(block.branches):
            self._builder.branch(race)
            if block.has_message and not index:
                self._builder.message_catch(f"{race}_{index}", message=MESSAGE, key="=kind")
            else:
                self._builder.timer_catch(f"{race}_{index}", duration=duration)
            self.write(branch)
            if index:
                self._builder.connect_to(merge)
            else:
                self._builder.exclusive_gateway(merge)

    def _split(self, tag: str, branches: list[tuple[str | None, Block]]) -> None:
        number = next(self._numbers)
        split, join = f"{self._prefix}split_{number}", f"{self._prefix}join_{number}"
        self._builder.node(tag, split)
        for index, (condition, branch) in enumerate(branches):
            self._builder.branch(split)
            if tag != "parallelGateway":
                self._builder.flow(condition=condition, default=condition is None)
            self.write(branch)
            if index:
                self._builder.connect_to(join)
            else:
                self._builder.node(tag, join)


def written(block: Block, process_id: str = "random", prefix: str = "") -> ProcessBuilder:
    """The process of a block, with this before the ids of its elements."""
    every, again, correct, enough = (f"{prefix}{name}" for name in ("all", "again", "correct", "enough"))
    begun = f"{prefix}begun"
    builder = process(process_id).start().exclusive_gateway(begun)
    builder.start_message(f"{prefix}by_message", message=BEGIN).connect_to(begun)
    builder.start_signal(f"{prefix}by_signal", signal=f'="{BEGIN}"', outputs={"a": "=b"}).connect_to(begun)
    builder.start_condition(f"{prefix}by_condition", condition="=b").connect_to(begun)
    builder.start_timer(f"{prefix}by_timer", cycle="R2/PT150S").connect_to(begun)
    builder.parallel_gateway(every)
    _Writer(builder, prefix, count(1)).write(block)
    builder.end().branch(every).exclusive_gateway(again).service_task(correct, type="correct")
    builder.exclusive_gateway(enough).flow(condition="=finished = true").end()
    return builder.branch(enough).flow(default=True).connect_to(again)


def helper() -> ProcessBuilder:
    """A process that needs no variables: everything that it throws goes on where it was called."""
    builder = process(HELPER).start().service_task("help", type="b")
    return builder.end_escalation("ask", escalation="late").declare_escalation("late", "late")


# Histories


@dataclass(frozen=True)
class Move:
    """A command to be; `pick` chooses among the keys that there are by then, that were, or that never were."""

    kind: str
    pick: int = 0
    number: int = 0
    variables: Mappings | None = None
    is_foreign: bool = False


VALUES = ["null", "true", "false", "0", "5", '"text"', '{"x":1}', "[]", f'"{"large" * 300}"']
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
    people = st.builds(
        Move,
        st.sampled_from(
            [
                *(
                    "assign",
                    "unassign",
                    "change",
                    "do",
                    "do",
                    "answer",
                    "answer",
                    "show",
                    "hide",
                    "keep",
                    "drop",
                ),
                *("listen", "ignore"),
            ]
        ),
        picks,
        numbers,
        variables,
    )
    messages = st.builds(
        Move,
        st.sampled_from(["publish", "broadcast", "begin", "call", "add", "evaluate"]),
        picks,
        numbers,
        variables,
    )
    others = st.builds(
        Move,
        st.sampled_from(
            [
                "update",
                "yield",
                "resolve",
                "resolve",
                "set",
                "cancel",
                "deploy",
                "deploy",
                "delete",
                "migrate",
                "migrate",
                "modify",
                "modify",
                "start at",
            ]
        ),
        picks,
        numbers,
        variables,
    )
    foreign = st.builds(
        Move,
        st.sampled_from(
            [
                "complete",
                "fail",
                "throw",
                "update",
                "resolve",
                "set",
                "cancel",
                "migrate",
                "modify",
                "delete",
                "start",
                "assign",
                "do",
                "broadcast",
                "evaluate",
            ]
        ),
        picks,
        is_foreign=st.just(True),
    )
    # What no reader can read would keep a batch operation from going on.
    batches = [] if POISON in values else [st.builds(Move, st.just("batch"), picks, numbers)]
    return st.one_of(
        starts, activations, activations, results, results, people, times, messages, others, foreign, *batches
    )


def _histories(values: list[str]) -> st.SearchStrategy[list[Move]]:
    first = Move("start", variables=GOOD)
    # Global task listeners that the first user tasks ask, too.
    listens = st.lists(st.builds(Move, st.just("listen"), st.integers(0, 1), st.integers(0, 3)), max_size=2)
    moves = st.lists(_moves(values), min_size=12, max_size=30)
    return st.builds(lambda before, after: [*before, first, *after], listens, moves)


histories = _histories(VALUES)
poisoned_histories = _histories([*VALUES, POISON, POISON])
