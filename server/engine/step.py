"""One command being handled: the state it sees, its events, and the work that it defers within the turn.

Behaviours and handlers hold a `Step` and nothing else; an event is applied the moment it is emitted.
"""

import sys
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

import msgspec

from server import feel
from server.bpmn.executable import Element, ExecutableProcess, Flow
from server.engine import events
from server.engine.apply import APPLIERS
from server.engine.chance import bits
from server.engine.commands import Command
from server.engine.definitions import Definition
from server.engine.incidents import Incident, faulted
from server.engine.instants import later
from server.engine.keys import Key
from server.engine.limits import ENTERING_STEPS, VARIABLE_STEPS
from server.engine.process_instance import ElementInstance, Job, ProcessInstance
from server.engine.rejection import Rejected
from server.engine.requesters import Requester
from server.engine.sent import CommandSent
from server.engine.signals import PendingSignal
from server.engine.state import NotLoaded, State
from server.engine.variables import Variables
from server.engine.work import AnyWork, VariableChange
from server.feel import Budget
from server.feel.limits import CHARACTERS_PER_STEP

T = TypeVar("T")

# A command with more events is not restarted to load a process instance; the work that needs it is postponed.
BEGUN_ANEW: Final = 64
# The same for a called or calling process instance. An undo changes the order of children, so each restart of a
# long termination would miss another one.
REACHED_ANEW: Final = 8


class Visit(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An element instance with its process instance and its element."""

    process_instance: ProcessInstance
    element: Element
    instance: ElementInstance


class Step:
    """Collects the effects of one command; `now` is the time for everything in it, `requester` the caller, if any.

    Of a batch operation, at most `most_items` are processed; with 0, the first item is marked as failed. With
    `contains_faults`, a fault in an element's step becomes an incident and is added to `faults`.
    """

    most_items: int = sys.maxsize
    contains_faults: bool = False

    def __init__(
        self,
        state: State,
        now: datetime,
        stopwatch: Callable[[], float] | None = None,
        requester: Requester | None = None,
    ) -> None:
        limits = state.limits
        self.requester = requester
        self._stopwatch = stopwatch
        self.state = state
        self.now = now
        self.events: list[events.Event] = []
        self.pending: deque[tuple[ProcessInstance, AnyWork] | PendingSignal] = deque()
        # Commands that this partition sent to itself: `following` come before the pending work, `received`
        # after it.
        self.following: deque[Command] = deque()
        self.received: deque[Command] = deque()
        # Changes of variables that conditions read.
        self.changes: list[tuple[ProcessInstance, VariableChange]] = []
        self.faults: list[Exception] = []
        self.activations = 0
        self.created = 0
        self.budget = Budget(limits.element_steps)
        self._processes: dict[Key, ExecutableProcess] = {}
        self._draws = 0
        self._element_steps = limits.element_steps
        self._slice_steps = limits.slice_steps

    def after(self, time: timedelta) -> datetime:
        """Return the instant `time` from now, at most `LAST_INSTANT`."""
        return later(self.now, time)

    # State

    def visit(self, process_instance: ProcessInstance, instance: ElementInstance) -> Visit:
        process = self._processes.get(process_instance.head.process_definition_key)
        if process is None:
            process = self.process_of(process_instance)
        return Visit(process_instance, process.of(instance.element_id, instance.type), instance)

    def process_of(self, process_instance: ProcessInstance) -> ExecutableProcess:
        key = process_instance.head.process_definition_key
        process = self._processes.get(key)
        return self.process_by(self.state.definitions[key]) if process is None else process

    def process_by(self, definition: Definition) -> ExecutableProcess:
        """The compiled process of a definition, cached during the command."""
        process = self._processes.get(definition.key)
        if process is None:
            process = self._processes[definition.key] = definition.process
        return process

    def next_key(self) -> Key:
        """The key for the next event; a key without an event is returned again."""
        return Key(self.state.last_key + 1)

    def emit(self, event: events.Event) -> None:
        APPLIERS[type(event)](self.state, event)
        self.events.append(event)

    def create(
        self, head: events.InstanceHead, correlation_key: str = "", terminates_after: tuple[str, ...] = ()
    ) -> ProcessInstance:
        """Create a process instance, with the correlation key of the message that started it, if any.

        It is terminated when an element of `terminates_after` has ended.
        """
        self.created += 1
        self.emit(events.ProcessInstanceCreated(head, correlation_key, terminates_after))
        return self.state.instances[head.key]

    def has_room(self, tenant_id: str) -> bool:
        """Whether the quota of the tenant allows another process instance, counting those of this command."""
        room = self.state.room(tenant_id)
        return room is None or self.created < room

    # Expressions

    def ports(self, scope_key: Key) -> feel.Ports:
        """Time, randomness and budget for expressions in this scope."""
        return feel.Ports(self.now, partial(self._bits, scope_key), self.budget, self._stopwatch)

    def _bits(self, scope_key: Key, count: int) -> int:
        # Commands at the same time differ in their scope, or in the keys assigned before them.
        self._draws += 1
        return bits(count, scope_key, self.state.last_key, self.now, self._draws)

    # Partitions

    def send(self, partition_id: int, command: Command) -> None:
        """Send a command to a partition: to this one after its pending work, to another one through the outbox."""
        if partition_id == self.state.partition_id:
            self.received.append(command)
        else:
            self.emit(CommandSent(partition_id, command))

    # Work

    def attempt(self, work: Callable[[], object]) -> Rejected | None:
        """Run a part of the command. If it is rejected, all of its effects are undone, and the command continues."""
        undo = self._savepoint()
        try:
            work()
        except Rejected as rejected:
            undo()
            return rejected
        return None

    def contained(self, work: Callable[[], T]) -> T:
        """Run a part of an element's step. A fault in it undoes its effects and becomes an Incident."""
        undo = self._savepoint()
        try:
            return work()
        except (Incident, Rejected, NotLoaded):
            raise
        except Exception as fault:
            undo()
            self.faults.append(fault)
            raise faulted(fault) from fault

    def _savepoint(self) -> Callable[[], None]:
        """Return the function that undoes all effects of the command since this call."""
        happened = len(self.events)
        pending, following, received = deque(self.pending), deque(self.following), deque(self.received)
        changes, undo_changes = list(self.changes), self.state.savepoint()

        def undo() -> None:
            undo_changes()
            del self.events[happened:]
            self.pending, self.following, self.received = pending, following, received
            self.changes = changes

        return undo

    def defer(self, process_instance: ProcessInstance, work: AnyWork) -> None:
        """Do this work after the work that was deferred before."""
        self.pending.append((process_instance, work))

    def prefer(self, process_instance: ProcessInstance, work: AnyWork) -> None:
        """Do this work before all deferred work."""
        self.pending.appendleft((process_instance, work))

    def resume(self, process_instance: ProcessInstance) -> None:
        """Continue with the work that an earlier command postponed."""
        self.activations = process_instance.activations
        self.pending.extend((process_instance, work) for work in process_instance.work)
        self.emit(events.WorkResumed(process_instance.head))

    def reaches(self, key: Key) -> bool:
        """Whether another live process instance is loaded; raises NotLoaded.

        False when the command has done too much to be restarted after loading it. The caller must then put
        the work back, and it is postponed.
        """
        if len(self.events) > REACHED_ANEW and key in self.state.evicted:
            self._slice_steps = 0
            return False
        self.state.expect_loaded((key,))
        return True

    def charge(self, steps: int) -> None:
        """Charge the slice for work on other process instances."""
        self._slice_steps -= steps

    def charge_copies(self, variables: Variables) -> None:
        """Charge the slice for copying variables to another process instance."""
        characters = sum(map(len, variables.values()))
        self.charge(len(variables) * VARIABLE_STEPS + characters // CHARACTERS_PER_STEP)

    def begin_element(self) -> None:
        """Charge the slice for one element that is entered, completed or terminated, and renew the element's budget."""
        self._slice_steps -= ENTERING_STEPS + self._element_steps - self.budget.left
        self.budget.left = self._element_steps

    @property
    def steps(self) -> int:
        """The number of steps that the command has done so far."""
        left = self._slice_steps + self.budget.left - self._element_steps
        return self.state.limits.slice_steps - left

    @property
    def has_done_enough(self) -> bool:
        """Whether the slice of the command is used up, so that other commands come first."""
        return self._slice_steps + self.budget.left <= self._element_steps

    def postpone(self) -> list[PendingSignal]:
        """Postpone all pending work with its process instances, and return the signals that are still to be broadcast."""
        left: dict[Key, tuple[ProcessInstance, list[AnyWork]]] = {}
        signals: list[PendingSignal] = []
        for pending in self.pending:
            if isinstance(pending, PendingSignal):
                signals.append(pending)
                continue
            process_instance, work = pending
            if process_instance.head.key in self.state.instances:
                left.setdefault(process_instance.head.key, (process_instance, []))[1].append(work)
        self.pending.clear()
        for process_instance, works in left.values():
            self.emit(events.WorkPostponed(process_instance.head, tuple(works), self.activations, self.now))
        return signals

    # Incidents

    def raise_incident(self, visit: Visit, incident: Incident, job: Job | None = None) -> None:
        self.emit(
            events.IncidentRaised(
                visit.process_instance.head,
                self.next_key(),
                visit.instance.key,
                visit.element.id,
                job.key if job else None,
                incident.error_type,
                incident.message,
            )
        )

    def resolve_incident(self, process_instance: ProcessInstance, incident_key: Key) -> None:
        incident = process_instance.incidents[incident_key]
        self.emit(
            events.IncidentResolved(
                process_instance.head,
                incident_key,
                incident.element_instance_key,
                incident.job_key,
                is_last=len(process_instance.incidents) == 1,
            )
        )

    def take(self, visit: Visit, flow: Flow) -> None:
        scope_key = visit.instance.scope_key
        assert scope_key is not None, "the process itself has no outgoing flow"  # noqa: S101  # narrows the type
        self.emit(events.SequenceFlowTaken(visit.process_instance.head, scope_key, flow.id, flow.target.id))
