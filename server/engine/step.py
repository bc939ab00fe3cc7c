"""One command being handled: the state it sees, the events it makes, the work it leaves for later in the same turn.

Behaviours and handlers hold a `Step` and nothing else; an event is applied the moment it is emitted.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime
from functools import partial

from server import feel
from server.bpmn.executable import Element, Flow
from server.engine import events
from server.engine.apply import apply
from server.engine.chance import bits
from server.engine.decision_events import DecisionRequirementsAdopted, DecisionRequirementsDeployed
from server.engine.documents import pack, unpack
from server.engine.incidents import Incident
from server.engine.keys import Key
from server.engine.state import ElementInstance, Job, ProcessInstance, State

# More elements than this in one command, without a wait state, is a loop that goes nowhere.
MAX_ACTIVATIONS = 5_000


class Visit:
    """An element instance with all that surrounds it, while it is being worked on."""

    __slots__ = ("element", "instance", "process_instance")

    def __init__(
        self, process_instance: ProcessInstance, element: Element, instance: ElementInstance
    ) -> None:
        self.process_instance = process_instance
        self.element = element
        self.instance = instance


class Step:
    """Collects what one command does; `now` is the only time there is."""

    def __init__(self, state: State, now: datetime) -> None:
        self.state = state
        self.now = now
        self.events: list[events.Event] = []
        self.activations = 0
        self._draws = 0
        self._pending: deque[Callable[[], None]] = deque()
        self._last_key, self._last_offer = state.last_key, state.last_offer
        self._documents: dict[Key, bytes | None] = {}

    # State

    def enter(self, key: Key) -> ProcessInstance:
        """The process instance, kept as it is now in case the command ends in a fault; raises NotLoaded."""
        instance = self.state.instance(key)
        assert instance is not None, f"no process instance {key}"  # noqa: S101  # narrows the type
        if key not in self._documents:
            self._documents[key] = pack(instance)
        return instance

    def visit(self, process_instance: ProcessInstance, instance: ElementInstance) -> Visit:
        definition = self.state.definition_of(process_instance)
        return Visit(process_instance, definition.element(instance.element_id), instance)

    def next_key(self) -> Key:
        """A key for the next event; one that is not used is given out again."""
        return Key(self.state.last_key + 1)

    def emit(self, event: events.Event) -> None:
        apply(self.state, event)
        self.events.append(event)

    def create(self, head: events.InstanceHead) -> ProcessInstance:
        self._documents[head.key] = None
        self.emit(events.ProcessInstanceCreated(head))
        return self.state.instances[head.key]

    def roll_back(self) -> None:
        """A fault of ours: leave every definition and process instance as it was before the command."""
        for event in reversed(self.events):
            match event:
                case events.ProcessDefinitionDeployed(key=key):
                    self.state.undefine(self.state.definitions[key])
                case events.ProcessDefinitionAdopted(definition=definition):
                    self.state.undefine(self.state.definitions[definition.key])
                case DecisionRequirementsDeployed():
                    self.state.decisions.undefine(event)
                case DecisionRequirementsAdopted(definition=graph):
                    self.state.decisions.undefine(graph)
                case _:
                    pass
        for key, document in self._documents.items():
            self.state.release(key)
            if document is not None:
                self.state.adopt(unpack(document))
        self.state.last_key, self.state.last_offer = self._last_key, self._last_offer

    # Expressions

    def ports(self, scope_key: Key) -> feel.Ports:
        """Time and chance for what is evaluated in this scope."""
        return feel.Ports(self.now, partial(self._bits, scope_key))

    def _bits(self, scope_key: Key, count: int) -> int:
        # Commands at the same time differ in their scope, or in the keys that were given before them.
        self._draws += 1
        return bits(count, scope_key, self.state.last_key, self.now, self._draws)

    # Work for later in this turn

    def defer(self, work: Callable[[], None]) -> None:
        self._pending.append(work)

    def run(self) -> None:
        while self._pending:
            self._pending.popleft()()

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
