"""The state of one history on one engine. Keys differ between engines, so elements are named by the path of their ids.

Both projections, of Zeebe's records and of our events, keep a `Picture`; `facts` makes two of them comparable.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Facts = dict[str, Counter[tuple[object, ...]]]

BODY = "MULTI_INSTANCE_BODY"
START = "START_EVENT"
THROWING = frozenset({"INTERMEDIATE_THROW_EVENT", "END_EVENT"})
_NONE = object()
_WAITING = frozenset({"ACTIVATED", "BACKING_OFF"})
GATEWAYS = frozenset({"EXCLUSIVE_GATEWAY", "INCLUSIVE_GATEWAY"})
_BEHIND_RACE = re.compile(r"(.*_)?(race\d+)_to_\2_")
# The output collection of every multi-instance activity.
OUTPUTS = "items"


@dataclass(slots=True)
class Element:
    key: int
    scope_key: int | None
    id: str
    type: str
    state: str


@dataclass(slots=True)
class Job:
    key: int
    element_key: int
    type: str
    retries: int
    headers: Mapping[str, str]
    kind: str
    listener: str
    state: str = "ACTIVATABLE"
    deadline: int | None = None
    variables: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Task:
    """A native user task; `values` by their names on the wire."""

    key: int
    element_key: int
    values: Mapping[str, object]


@dataclass(slots=True)
class Incident:
    key: int
    element_key: int
    type: str
    job_key: int | None


@dataclass(slots=True)
class Wait:
    """A timer or a subscription; `what` are a due date in milliseconds and repetitions, or names."""

    key: int
    element_key: int
    event_id: str
    what: tuple[object, ...]


class Picture:
    """`began` is when the history began, in milliseconds: times of facts count from there."""

    def __init__(self, began: int = 0) -> None:
        self.began = began
        self.elements: dict[int, Element] = {}
        self.variables: dict[int, dict[str, object]] = {}
        self.jobs: dict[int, Job] = {}
        self.tasks: dict[int, Task] = {}
        self.incidents: dict[int, Incident] = {}
        self.timers: dict[int, Wait] = {}
        self.messages: dict[int, Wait] = {}
        self.signals: dict[int, Wait] = {}
        # Message subscriptions that are being opened or closed.
        self.unsettled: set[int] = set()
        # Since the last time: variables that were set while an inner scope had one with this value (`differences`).
        self.passed: frozenset[tuple[object, ...]] = frozenset()
        self._passed: list[tuple[int, str]] = []
        # Jobs whose deadlines have passed without effect.
        self.forgotten: set[int] = set()
        self._alive: set[int] = set()
        self._roots: dict[int, int] = {}
        self._happened: Counter[tuple[object, ...]] = Counter()

    # What the projections say

    def enter(self, key: int, scope_key: int | None, element_id: str, type_: str) -> None:
        if key in self.elements:
            return
        if scope_key is None:
            self._roots[key] = len(self._roots)
        self.elements[key] = Element(key, scope_key, element_id, type_, "ACTIVATING")
        self._alive.add(key)

    def move(self, key: int, state: str) -> None:
        element = self.elements[key]
        element.state = state
        if state not in {"COMPLETED", "TERMINATED"}:
            return
        self._alive.discard(key)
        self._happened[*self.path(key), state] += 1
        if element.scope_key is None:
            for name, value in self.variables.get(key, {}).items():
                self._happened[*self.path(key), "with", name, written(value)] += 1

    def take(self, scope_key: int, flow_id: str) -> None:
        if not _BEHIND_RACE.match(flow_id):
            self._happened[*self.path(scope_key), flow_id, "TAKEN"] += 1

    def set(self, scope_key: int, name: str, value: object) -> None:
        if any(
            values.get(name, _NONE) == value and self._is_inside(inner, scope_key)
            for inner, values in self.variables.items()
        ):
            self._passed.append((scope_key, name))
        self.variables.setdefault(scope_key, {})[name] = value

    def _is_inside(self, key: int, scope_key: int) -> bool:
        outside = self.elements[key].scope_key if key in self.elements else None
        return outside is not None and (outside == scope_key or self._is_inside(outside, scope_key))

    def resolve(self, incident_key: int) -> None:
        """A job that could not go on is on offer again."""
        incident = self.incidents.pop(incident_key)
        if incident.job_key is not None and incident.job_key in self.jobs:
            self.jobs[incident.job_key].state = "ACTIVATABLE"

    # What both engines are asked

    def path(self, key: int) -> tuple[str, ...]:
        element = self.elements[key]
        if element.scope_key is None:
            return (f"{element.id}#{self._roots[key]}",)
        if self.elements[element.scope_key].type in THROWING:
            return (*self.path(self.elements[element.scope_key].scope_key or 0), element.id)
        counter = ""
        if self.elements[element.scope_key].type == BODY:
            counter = f"[{self.variables.get(key, {}).get('loopCounter')}]"
        return (*self.path(element.scope_key), element.id + counter)

    def scope_around(self, element: Element) -> int:
        """The scope that an element has in both engines, which is no throwing event; its own one at the root."""
        key = element.scope_key
        if key is not None and self.elements[key].type in THROWING:
            key = self.elements[key].scope_key
        return key or element.key

    def settable_elements(self) -> list[Element]:
        """Those whose variables both engines show to the same others: no throwing events."""
        return [element for element in self.live_elements() if element.type not in THROWING]

    def live_elements(self) -> list[Element]:
        return sorted(
            map(self.elements.__getitem__, self._alive), key=lambda each: (self.path(each.key), each.key)
        )

    def live_jobs(self) -> list[Job]:
        """A job whose error was caught may be known still when its element instance is gone."""
        jobs = [job for job in self.jobs.values() if job.element_key in self._alive]
        return sorted(jobs, key=lambda job: (self.path(job.element_key), job.kind, job.type, job.key))

    def live_tasks(self) -> list[Task]:
        tasks = [task for task in self.tasks.values() if task.element_key in self._alive]
        return sorted(tasks, key=lambda task: (self.path(task.element_key), task.key))

    def live_incidents(self) -> list[Incident]:
        return sorted(
            self.incidents.values(), key=lambda each: (self.path(each.element_key), each.type, each.key)
        )

    def roots(self) -> list[int]:
        """Process instances that nothing called and that have not ended, the oldest first."""
        return [key for key in self._roots if key in self._alive]

    @property
    def ends_at(self) -> Iterator[int]:
        """When timers and the deadlines of activated jobs are due, in milliseconds.

        Zeebe does not trigger the timers of an element that completes.
        """
        for wait in self.timers.values():
            if wait.element_key in self._alive and self.elements[wait.element_key].state != "COMPLETING":
                yield int(str(wait.what[0]))
        for job in self.live_jobs():
            if job.state in _WAITING and job.deadline is not None and job.key not in self.forgotten:
                yield job.deadline

    def forget(self, now: int) -> None:
        """Wait no longer for the deadlines that have passed."""
        self.forgotten |= {
            job.key
            for job in self.live_jobs()
            if job.state in _WAITING and job.deadline is not None and job.deadline <= now
        }

    def facts(self) -> Facts:
        """What there is, and what has happened since the last time."""
        alive = self._alive
        happened, self._happened = self._happened, Counter()
        self.passed, self._passed = frozenset(map(self._variable, self._passed)), []
        return {
            "element": Counter(
                (*self.path(each.key), each.type, _state(each)) for each in self.live_elements()
            ),
            "happened": happened,
            "job": Counter(self._job(job) for job in self.live_jobs()),
            "task": Counter(
                (*self.path(task.element_key), written(task.values)) for task in self.live_tasks()
            ),
            "incident": Counter(
                (*self.path(each.element_key), self._error_type(each), each.job_key is not None)
                for each in self.incidents.values()
            ),
            "timer": Counter(
                (*self.path(wait.element_key), wait.event_id, *self._due(*wait.what))
                for wait in self.timers.values()
                if wait.element_key in alive
            ),
            "message": self._waits(self.messages),
            "signal": self._waits(self.signals),
            "variable": Counter(
                (*self.path(scope), name, written(value))
                for scope, values in self.variables.items()
                if scope in alive
                for name, value in values.items()
                if not self._is_in_body(scope) or name != OUTPUTS
                if self.elements[scope].type != START
            ),
        }

    def _variable(self, of: tuple[int, str]) -> tuple[object, ...]:
        """As a fact; of a process instance that has ended, as one of what has happened."""
        scope_key, name = of
        is_at_end = scope_key in self._roots and scope_key not in self._alive
        value = written(self.variables[scope_key][name])
        return (*self.path(scope_key), *(("with",) if is_at_end else ()), name, value)

    def _error_type(self, incident: Incident) -> str:
        """Whether the condition of a gateway failed or gave another value is one type (`differences.STANDING`)."""
        is_condition = self.elements[incident.element_key].type in GATEWAYS
        return "CONDITION_ERROR" if is_condition and incident.type == "EXTRACT_VALUE_ERROR" else incident.type

    def _due(self, due: object, repetitions: object) -> tuple[object, ...]:
        """In whole seconds: the other engine's clock may be later by less (`comparing`)."""
        return f"{(int(str(due)) - self.began) // 1000}s", repetitions

    def _is_in_body(self, key: int | None) -> bool:
        """Inside a multi-instance activity, or its body."""
        while key is not None:
            if self.elements[key].type == BODY:
                return True
            key = self.elements[key].scope_key
        return False

    def _job(self, job: Job) -> tuple[object, ...]:
        """Without the outputs of a multi-instance body that is still active (`differences.STANDING`)."""
        seen = dict(job.variables)
        if self._is_in_body(job.element_key):
            seen.pop(OUTPUTS, None)
        variables = written(seen) if job.state == "ACTIVATED" else ""
        described = (job.type, job.retries, written(job.headers), job.kind, job.listener, job.state)
        return (*self.path(job.element_key), *described, variables)

    def _waits(self, waits: dict[int, Wait]) -> Counter[tuple[object, ...]]:
        return Counter(
            (*self.path(wait.element_key), wait.event_id, *wait.what)
            for wait in waits.values()
            if wait.element_key in self._alive
        )


def _state(element: Element) -> str:
    """A gateway with an incident is active; in which phase nobody sees."""
    return "ACTIVE" if element.type in GATEWAYS else element.state


def values(variables: Mapping[str, str]) -> dict[str, object]:
    """From JSON texts."""
    return {name: json.loads(text) for name, text in variables.items()}


def written(value: object) -> str:
    """As JSON text, the same for equal values; numbers are one type."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: object) -> object:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [*map(_plain, value)]
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case _:
            return value
