"""Random processes of the elements that Zeebe 8.6 has; each history has names of its own for what it shares a broker with."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from lxml import etree

from server.bpmn.builder import ProcessBuilder, definitions, event_sub_process, process, sub_process
from server.bpmn.reader import BPMN_NAMESPACE
from tests.campaigns.dice import Dice

JOB_TYPES = ("a", "b", "io.camunda.zeebe:userTask")
GOOD: Mapping[str, str] = {"a": "5", "b": "true", "c": '"text"', "ok": "true", "kind": '"a"'}
# Names of the input elements of multi-instance activities.
ITEMS = ("item", "a")
CODES = ("E1", "E2")
KEYS = ("x", "a", "7")
_CONDITIONS = ("=a > 1", "=b", "=a = 5", "=ok", "=not(b)", '=kind = "a"')
_INPUTS = (
    "=a",
    "=a + 1",
    '=assert(ok, ok, "not ok")',
    "text",
    "={x: b, y: [a]}",
    "=c",
    "=[a, b]",
    "=unknown",
)
# A path into a variable that is no object replaces it in ours; in Zeebe the variable becomes null.
_OUTPUT_TARGETS = ("a", "b", "c", "d.x", "d.y", "e.x.y")
_OUTPUTS = ("=a", "=c", '=assert(ok, ok, "not ok")', "=b.x", "={z: a}")
_TARGETS = ("a", "b", "c", "b.x", "c.x", "c.y")
_TYPES = ("a", "a", "b", "b", "=kind", '="a"')
_DURATIONS = ("PT10S", "PT1M", '=if ok then "PT5S" else a', '=duration("PT30S")')
_DATES = (
    "2027-03-04T05:06:07Z",
    '=if ok then "2027-03-04T05:06:07Z" else a',
    '=date and time("2027-01-01T00:00:01Z")',
)
_COLLECTIONS = ("=[1, 2]", "=[a, b]", "=[]", '=if ok then [1] else "none"', "=[1, 2, 3]")
_UNTIL = (None, None, "=ok", "=numberOfCompletedInstances = 2", "=numberOfActiveInstances = 0", "=a")
_SCRIPTS = ("=a", "=a + 1", '=assert(ok, ok, "not ok")', "={x: b, y: [a]}", "=if ok then a else null")
_TAGS = ("serviceTask", "serviceTask", "sendTask", "scriptTask", "businessRuleTask")


@dataclass(frozen=True, slots=True)
class Names:
    """Of what the processes of one history throw, wait for and call."""

    number: str

    @property
    def process(self) -> str:
        return f"main_{self.number}"

    @property
    def helper(self) -> str:
        return f"helper_{self.number}"

    @property
    def message(self) -> str:
        return f"news_{self.number}"

    @property
    def begin(self) -> str:
        """The message and the signal that begin a process."""
        return f"begin_{self.number}"

    @property
    def signal(self) -> str:
        return f"alarm_{self.number}"


def random_files(dice: Dice, names: Names) -> tuple[bytes, bytes]:
    """A process, and the helper that its call activities call."""
    return _file(_Writer(dice, names).written()), _file(_helper(dice, names))


def mirrored(file: bytes) -> bytes:
    """The same process with the sequence flows of each scope in the opposite order, in which Zeebe 8.6 looks at them."""
    root = etree.fromstring(file)
    for scope in [*root.iter(_bpmn("process")), *root.iter(_bpmn("subProcess"))]:
        places = [(place, child) for place, child in enumerate(scope) if child.tag == _bpmn("sequenceFlow")]
        for _, flow in places:
            scope.remove(flow)
        for (place, _), (_, flow) in zip(places, reversed(places), strict=True):
            scope.insert(place, flow)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _helper(dice: Dice, names: Names) -> ProcessBuilder:
    builder = process(names.helper).start().service_task("help", type="b")
    builder.declare_escalation("late", "S1").declare_error("wrong", "E1")
    match dice.between(0, 3):
        case 0:
            return builder.end_escalation("ask", escalation="late")
        case 1:
            return builder.end_error("fail", error="wrong")
        case _:
            return builder.end()


def _file(builder: ProcessBuilder) -> bytes:
    """With what Zeebe reads besides: the incoming and outgoing flows of each element, and an id of each definition.

    In the order of the standard's schema.
    """
    root = etree.fromstring(definitions(builder))
    nodes = {element.get("id"): element for element in root.iter() if element.get("id")}
    for flow in root.iter(_bpmn("sequenceFlow")):
        _refer(nodes[flow.get("sourceRef")], "outgoing", flow.get("id"))
        _refer(nodes[flow.get("targetRef")], "incoming", flow.get("id"))
    for association in [*root.iter(_bpmn("association"))]:
        association.getparent().append(association)
    for compensation in root.iter(_bpmn("compensateEventDefinition")):
        compensation.getparent().attrib.pop("cancelActivity", None)
    for element in root.iter():
        if str(element.tag).endswith("EventDefinition"):
            element.set("id", f"{element.getparent().get('id')}_definition")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _refer(node: etree._Element, tag: str, flow_id: str) -> None:
    before = {_bpmn("extensionElements"), _bpmn("incoming")} | ({_bpmn(tag)} & {_bpmn("outgoing")})
    reference = etree.Element(_bpmn(tag))
    reference.text = flow_id
    node.insert(sum(child.tag in before for child in node), reference)


def _bpmn(tag: str) -> str:
    return f"{{{BPMN_NAMESPACE}}}{tag}"


def _apart(mappings: Mapping[str, str]) -> Mapping[str, str]:
    """Without mappings into the target of another one, or from one beside it (`differences.STANDING`)."""
    roots = Counter(target.split(".")[0] for target in mappings)
    return {
        target: source
        for target, source in mappings.items()
        if (root := target.split(".")[0]) not in {*mappings} - {target}
        and (roots[root] == 1 or root not in re.findall(r"\w+", source))
    }


class _Writer:
    """Writes blocks one behind the other; each block has one way in and one way out."""

    def __init__(self, dice: Dice, names: Names) -> None:
        self._dice = dice
        self._names = names
        self._numbers: Iterator[int] = count(1)
        self._left = dice.between(2, 8)
        self._builder = process(names.process)

    def written(self) -> ProcessBuilder:
        builder = self._builder
        builder.declare_error("wrong", "E1").declare_error("worse", "E2")
        builder.declare_escalation("late", "S1").declare_escalation("later", "S2")
        begun = False
        if self._may(4):
            begun = True
            builder.start().exclusive_gateway("begun")
            builder.start_message("by_message", message=self._names.begin, outputs=self._outputs(1))
            builder.connect_to("begun")
        if self._may(4):
            if not begun:
                builder.start().exclusive_gateway("begun")
                begun = True
            builder.start_signal("by_signal", signal=self._names.begin).connect_to("begun")
        if not begun:
            builder.start()
        if self._may(5):
            self._beside("beside")
        while self._left > 0:
            self._block(3)
        if self._may(12):
            builder.end_terminate("stop")
        else:
            builder.end("done")
        return builder

    def _may(self, times: int) -> bool:
        """Once in so many times."""
        return self._dice.between(1, times) == 1

    def _name(self, kind: str) -> str:
        return f"{kind}{next(self._numbers)}"

    def _block(self, depth: int) -> None:
        self._left -= 1
        if depth and self._may(2):
            self._dice.choice(
                (
                    self._sequence,
                    self._choice,
                    self._parallel,
                    self._some,
                    self._scope,
                    self._scope,
                    self._race,
                )
            )(depth - 1)
        else:
            leaves: tuple[Callable[[], None], ...] = (
                *[self._work] * 9,
                *[self._call] * 2,
                *[self._receipt] * 2,
                *[self._signal] * 2,
                *[self._throw_escalation] * 2,
                *[self._undo] * 2,
                self._script,
                self._script,
                self._passed,
                self._pause,
                self._jump,
                self._letter,
                *[self._person] * 2,
            )
            self._dice.choice(leaves)()

    # Leaves

    def _work(self) -> None:
        name, dice = self._name("work"), self._dice
        self._builder.service_task(
            name,
            type=dice.choice(_TYPES),
            tag=dice.choice(_TAGS),
            retries=dice.choice((None, None, None, "1", "=2", "=c")),
            headers={"h": "1"} if self._may(6) else {},
            inputs=self._inputs(),
            outputs=self._outputs(),
        )
        listens = self._listen()
        self._repeat()
        if not listens:
            self._attach(name, ("timer", "message", "signal", "error"))

    def _person(self) -> None:
        name, dice = self._name("person"), self._dice
        is_native = dice.between(1, 3) > 1
        assignment = {"assignee": dice.choice(("ann", '=if ok then "ann" else a', "=c"))}
        if dice.between(1, 3) == 1:
            assignment = {"candidateGroups": dice.choice(("sales, law", '=["sales"]', "=kind"))}
        self._builder.user_task(
            name,
            is_native=is_native,
            assignment=assignment,
            schedule={"dueDate": dice.choice(_DATES)} if self._may(3) else {},
            priority=dice.choice(("30", "=a", "=if ok then 60 else a"))
            if is_native and self._may(3)
            else None,
            inputs=self._inputs(1),
            outputs=self._outputs(1),
        )
        listens = self._listen()
        self._repeat()
        if not listens:
            self._attach(name, ("timer", "message", "signal"))

    def _script(self) -> None:
        self._builder.script_task(
            self._name("script"),
            expression=self._dice.choice(_SCRIPTS),
            result=self._dice.choice(("a", "b", "c")),
            inputs=self._inputs(1),
            outputs=self._outputs(1),
        )
        if self._may(5):
            self._loop(is_sequential=True)

    def _passed(self) -> None:
        """Zeebe 8.6 passes manual and undefined tasks without their mappings."""
        tag = self._dice.choice(("task", "manualTask", "intermediateThrowEvent"))
        has_mappings = tag == "intermediateThrowEvent"
        outputs = self._outputs(1) if has_mappings else {}
        self._builder.node(tag, self._name("passed"), outputs=outputs)
        self._listen()

    def _pause(self) -> None:
        self._builder.timer_catch(self._name("pause"), duration=self._dice.choice(_DURATIONS))

    def _call(self) -> None:
        name, dice = self._name("call"), self._dice
        self._builder.call_activity(
            name,
            process=dice.choice(
                (
                    self._names.helper,
                    self._names.helper,
                    f'=if ok then "{self._names.helper}" else a',
                    f'=if ok then "{self._names.helper}" else "none"',
                )
            ),
            parent_variables=dice.choice((True, False)),
            child_variables=dice.choice((True, False)),
            inputs=self._inputs(1),
            outputs=self._outputs(1),
        )
        listens = self._listen()
        self._repeat()
        if not listens:
            self._attach(name, ("timer", "message", "signal", "error", "escalation"))

    def _receipt(self) -> None:
        tag = self._dice.choice(("receiveTask", "intermediateCatchEvent"))
        name = self._name("receipt")
        self._builder.message_catch(
            name, message=self._names.message, key=self._key(), tag=tag, outputs=self._outputs(1)
        )
        if tag == "receiveTask":
            self._repeat()
            self._attach(name, ("timer", "signal"))

    def _signal(self) -> None:
        name = self._name("signal")
        signal = self._dice.choice((self._names.signal, f'=if ok then "{self._names.signal}" else a'))
        if self._may(2):
            self._builder.throw_signal(name, signal=signal, inputs=self._inputs(1))
        else:
            self._builder.signal_catch(name, signal=signal, outputs=self._outputs(1))

    def _throw_escalation(self) -> None:
        self._builder.throw_escalation(
            self._name("escalation"), escalation=self._dice.choice(("late", "later"))
        )

    def _undo(self) -> None:
        """Compensate what has completed, or an activity in front of the event."""
        name = self._name("undo")
        if self._may(2):
            self._builder.service_task(f"{name}_done", type="a")
            self._repeat()
            self._compensable(f"{name}_done")
            if self._may(2):
                self._builder.throw_compensation(name, activity=f"{name}_done")
                return
        self._builder.throw_compensation(name)

    def _compensable(self, name: str) -> None:
        """Attach a handler to an activity; the path goes on behind the activity."""
        self._builder.boundary_compensation(f"{name}_undone", on=name)
        self._builder.service_task(
            f"{name}_handler", type="b", inputs=self._inputs(1), outputs=self._outputs(1)
        ).branch(name)

    def _jump(self) -> None:
        name = self._name("jump")
        self._builder.throw_link(name, link=name).catch_link(f"{name}_on", link=name)

    def _letter(self) -> None:
        self._builder.throw_message(
            self._name("letter"),
            type=self._dice.choice(_TYPES),
            inputs=self._inputs(1),
            outputs=self._outputs(1),
        )
        self._listen()

    # Blocks of blocks

    def _sequence(self, depth: int) -> None:
        self._block(depth)
        self._block(depth)

    def _choice(self, depth: int) -> None:
        self._split("exclusiveGateway", "exclusiveGateway", depth, has_default=not self._may(4))

    def _parallel(self, depth: int) -> None:
        self._split("parallelGateway", "parallelGateway", depth)

    def _some(self, depth: int) -> None:
        """Zeebe 8.6 has no inclusive gateway that joins."""
        self._split("inclusiveGateway", "exclusiveGateway", depth, has_default=not self._may(4))

    def _split(self, tag: str, join_tag: str, depth: int, *, has_default: bool = False) -> None:
        split, join = self._name("split"), self._name("join")
        branches = self._dice.between(2, 3)
        self._builder.node(tag, split)
        for index in range(branches):
            self._builder.branch(split)
            is_default = has_default and index == branches - 1
            if tag != "parallelGateway":
                condition = None if is_default else self._dice.choice(_CONDITIONS)
                self._builder.flow(condition=condition, default=is_default)
            if tag != "exclusiveGateway" and not self._may(8):
                # The order of paths that need no worker is not defined.
                self._builder.service_task(self._name("gate"), type="a")
            self._block(depth)
            if index:
                self._builder.connect_to(join)
            else:
                self._builder.node(join_tag, join)

    def _race(self, depth: int) -> None:
        race, merge = self._name("race"), self._name("merge")
        self._builder.event_based_gateway(race)
        durations = iter(self._dice.shuffled(_DURATIONS))
        for index in range(self._dice.between(2, 3)):
            self._builder.branch(race)
            name = f"{race}_{index}"
            match self._dice.between(0, 2):
                case 0:
                    self._builder.timer_catch(name, duration=next(durations))
                case 1:
                    self._builder.signal_catch(name, signal=self._names.signal, outputs=self._outputs(1))
                case _:
                    message = f"{self._names.message}_{index}" if index else self._names.message
                    self._builder.message_catch(name, message=message, key=self._key())
            self._block(depth)
            if index:
                self._builder.connect_to(merge)
            else:
                self._builder.exclusive_gateway(merge)

    def _scope(self, depth: int) -> None:
        name, outside = self._name("scope"), self._builder
        self._builder = sub_process(name).start()
        is_repeated = self._may(5)
        if is_repeated:
            self._builder.service_task(self._name("gate"), type="a")
        self._block(depth)
        if self._may(2):
            self._block(depth)
        has_events = self._may(2)
        if has_events:
            self._beside(f"{name}_help")
        self._end(name)
        inside, self._builder = self._builder, outside
        outside.embed(inside, inputs=self._inputs(1), outputs=self._outputs(1))
        listens = not has_events and self._listen()
        if is_repeated:
            self._loop(is_sequential=self._may(2))
        if self._may(4):
            self._compensable(name)
        if not listens:
            self._attach(name, ("timer", "message", "signal", "error", "escalation"))

    def _end(self, name: str) -> None:
        builder = self._builder
        match self._dice.between(0, 9):
            case 0:
                builder.end_terminate(f"{name}_stop")
            case 1:
                builder.end_error(f"{name}_fail", error=self._dice.choice(("wrong", "worse")))
            case 2:
                builder.end_escalation(f"{name}_ask", escalation=self._dice.choice(("late", "later")))
            case 3:
                builder.end_signal(f"{name}_warn", signal=self._names.signal, inputs=self._inputs(1))
            case 4:
                builder.end_message(f"{name}_send", type="b", outputs=self._outputs(1))
            case 5:
                builder.end_compensation(f"{name}_back")
            case _:
                builder.end(f"{name}_end")

    def _beside(self, name: str) -> None:
        """Put an event sub-process into the scope."""
        started, dice = event_sub_process(name), self._dice
        start, interrupts = f"{name}_start", dice.choice((True, False))
        self._begin(started, start, is_interrupting=interrupts)
        if self._may(2):
            started.service_task(f"{name}_task", type="b", outputs=self._outputs(1))
        if self._may(5):
            started.throw_compensation(f"{name}_undo")
        if self._may(6):
            started.end_error(f"{name}_fail", error="wrong")
        else:
            started.end(f"{name}_end")
        self._builder.beside(started)

    def _begin(self, started: ProcessBuilder, start: str, *, is_interrupting: bool) -> None:
        dice = self._dice
        match dice.choice(("timer", "cycle", "message", "signal", "error", "escalation")):
            case "timer":
                started.start_timer(start, is_interrupting=is_interrupting, duration=dice.choice(_DURATIONS))
            case "cycle":
                started.start_timer(start, is_interrupting=False, cycle="R3/PT1M")
            case "message":
                started.start_message(
                    start,
                    message=self._names.message,
                    key=self._key(),
                    is_interrupting=is_interrupting,
                    outputs=self._outputs(1),
                )
            case "signal":
                started.start_signal(start, signal=self._names.signal, is_interrupting=is_interrupting)
            case "error":
                error = dice.choice((None, "wrong"))
                started.start_error(start, error=error, outputs=self._outputs(1))
            case _:
                escalation = dice.choice((None, "late"))
                started.start_escalation(start, escalation=escalation, is_interrupting=is_interrupting)

    # What activities have

    def _inputs(self, most: int = 2) -> Mapping[str, str]:
        return _apart(
            {self._dice.choice(_TARGETS): self._dice.choice(_INPUTS) for _ in range(self._few(most))}
        )

    def _outputs(self, most: int = 2) -> Mapping[str, str]:
        return _apart(
            {self._dice.choice(_OUTPUT_TARGETS): self._dice.choice(_OUTPUTS) for _ in range(self._few(most))}
        )

    def _few(self, most: int) -> int:
        return self._dice.between(1, most) if self._may(3) else 0

    def _key(self) -> str:
        return self._dice.choice(('="x"', "=kind", "=if ok then 7 else a", "=c"))

    def _listen(self) -> bool:
        """Whether there is an end listener: an activity that waits for it has no events then (`differences.STANDING`)."""
        phases = [phase for phase in ("start", "end") if self._may(8)]
        for phase in phases:
            self._builder.execution_listener(phase, type=self._dice.choice(("a", "b")))
        return "end" in phases

    def _repeat(self) -> None:
        if self._may(5):
            self._loop(is_sequential=self._may(2))

    def _loop(self, *, is_sequential: bool) -> None:
        """Repeat an activity; a parallel one waits for a worker in each of its instances."""
        has_outputs = self._may(2)
        self._builder.multi_instance(
            self._dice.choice(_COLLECTIONS),
            element=self._dice.choice((None, *ITEMS)),
            sequential=is_sequential,
            output=self._dice.choice(("=[item, b]", "=a", "=b.x", '=assert(ok, ok, "no")'))
            if has_outputs
            else None,
            outputs_to="items" if has_outputs else None,
            until=self._dice.choice(_UNTIL),
        )

    def _attach(self, host: str, kinds: tuple[str, ...]) -> None:
        """Boundary events, whose paths join that of the activity."""
        used: set[str] = set()
        for index in range(self._few(2)):
            kind = self._dice.choice(kinds)
            if kind in used:
                continue
            if not used:
                self._builder.exclusive_gateway(f"{host}_merge")
            used.add(kind)
            name = f"{host}_at{index}"
            begins_itself = self._boundary(name, host, kind)
            if self._may(2) or begins_itself:
                self._builder.service_task(f"{name}_task", type="b")
            self._builder.connect_to(f"{host}_merge")

    def _boundary(self, name: str, host: str, kind: str) -> bool:
        """Whether its path may throw what it catches, without an end (`differences.STANDING`)."""
        builder, dice = self._builder, self._dice
        interrupts = dice.choice((True, False))
        match kind:
            case "timer" if interrupts:
                builder.boundary_timer(name, on=host, duration=dice.choice(_DURATIONS))
            case "timer":
                builder.boundary_timer(name, on=host, is_interrupting=False, cycle="R2/PT1M")
            case "message":
                builder.boundary_message(
                    name,
                    on=host,
                    message=f"{self._names.message}_b",
                    key=self._key(),
                    is_interrupting=interrupts,
                )
            case "signal":
                builder.boundary_signal(name, on=host, signal=self._names.signal, is_interrupting=interrupts)
            case "error":
                builder.boundary_error(name, on=host, error=dice.choice((None, "wrong")))
            case _:
                escalation = dice.choice((None, "late"))
                builder.boundary_escalation(name, on=host, escalation=escalation, is_interrupting=interrupts)
        return kind == "signal" and not interrupts
