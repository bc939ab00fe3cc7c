"""A live process instance: the records that its document holds, and the indexes that follow from them.

Only `apply` changes them, through the journal of the state. No record leads back to itself, so none of them is a matter
for the garbage collector.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import cast

import msgspec

from server.bpmn.executable import ElementType
from server.engine.events import InstanceHead
from server.engine.incidents import ErrorType
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.keys import Key
from server.engine.lifecycle import ACTIVATING, TERMINATING, ElementState
from server.engine.ordered_keys import OrderedKeys
from server.engine.subscriptions import AnySubscription, ConditionalSubscription
from server.engine.user_task_changes import UserTaskTransition, UserTaskValues
from server.engine.work import AnyWork


class JobState(StrEnum):
    ACTIVATABLE = "ACTIVATABLE"
    ACTIVATED = "ACTIVATED"
    BACKING_OFF = "BACKING_OFF"
    FAILED = "FAILED"
    ERROR_THROWN = "ERROR_THROWN"


class Variable(msgspec.Struct, gc=False):
    key: Key
    value: str


class Interruption(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The event that ended an element instance, or everything else in a scope, with what came with its trigger.

    It is finished when nothing is left of what it ended in the scope.
    """

    element_id: str
    variables: dict[str, str]
    is_finished: bool = False


class CaughtEvent(msgspec.Struct, frozen=True, gc=False):
    """The event that an element instance goes on with, with what came with its trigger."""

    element_id: str
    variables: dict[str, str]


class LoopProgress(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """How far a multi-instance body has come: its items have consecutive keys, of which `first_item` is the first.

    `is_done` says that its completion condition holds, `octets` is the size of the outputs so far.
    """

    first_item: Key
    items: int
    created: int = 0
    completed: int = 0
    is_done: bool = False
    octets: int = 0


class LoopItem(msgspec.Struct, omit_defaults=True, gc=False):
    """An item of an input collection, and what its instance gave; both are JSON text.

    Or the output of an inner instance that is `collected_by` an ad-hoc sub-process and not yet a part of the variable
    with its outputs, whose name is the input here.
    """

    key: Key
    input: str
    output: str | None = None
    collected_by: Key | None = None


class AdHocProgress(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """How far an ad-hoc sub-process has come: how many elements it has still to activate.

    When it `is_done` it is complete once nothing is active in it; with `cancels_remaining` it ends what is.
    """

    planned: int = 0
    is_done: bool = False
    cancels_remaining: bool = False


class ElementInstance(msgspec.Struct, omit_defaults=True, gc=False):
    """`children` counts the element instances inside it, `flows` the sequence flows taken there and not yet used up.

    `joins` counts, for each flow into a joining gateway inside it, the arrivals that wait for the others. `progress` are
    the steps of its activation or completion that are done. `interruption` ends it, or everything else inside it.
    `caught` is what an event sub-process begins with, or an event-based gateway is left to. A multi-instance body has a
    `loop`, each of its instances a `loop_counter`. `called_key` is the process instance that a call activity waits for.
    `compensable` counts the completed activities that can be compensated in a scope, those in completed sub-processes
    included; of a throwing event those whose handlers it has yet to invoke.
    An ad-hoc sub-process has its progress in `ad_hoc`; each of its inner instances `begins_at` an element.
    """

    key: Key
    scope_key: Key | None
    element_id: str
    type: ElementType
    state: ElementState = ACTIVATING
    children: int = 0
    flows: int = 0
    joins: dict[str, int] = {}
    job_key: Key | None = None
    incident_key: Key | None = None
    progress: int = 0
    interruption: Interruption | None = None
    caught: CaughtEvent | None = None
    loop: LoopProgress | None = None
    loop_counter: int = 0
    user_task_key: Key | None = None
    called_key: Key | None = None
    compensable: dict[str, int] = {}
    ad_hoc: AdHocProgress = AdHocProgress()
    begins_at: str = ""

    @property
    def ends_remaining(self) -> bool:
        """Whether what is still active inside it ends, because it is complete without that."""
        if self.loop is not None:
            return self.loop.is_done
        return self.ad_hoc.is_done and self.ad_hoc.cancels_remaining

    @property
    def is_being_emptied(self) -> bool:
        """Whether everything inside it ends, before it goes on with the event that ended it."""
        return (
            self.interruption is not None
            and not self.interruption.is_finished
            and self.state is not TERMINATING
        )

    def has_subscribed(self, start_listeners: int) -> bool:
        """Whether its boundary events are subscribed to, given the number of its start listeners."""
        if self.state is ACTIVATING:
            return self.progress > start_listeners + 1
        return self.state is not TERMINATING


class Job(msgspec.Struct, omit_defaults=True, gc=False):
    """`due` is the deadline of an activated job, the next offer of one that backs off.

    `offer` numbers the offers of the partition: it is the job's place among those on offer. `is_global` is that of a
    global listener.
    """

    key: Key
    element_instance_key: Key
    element_id: str
    type: str
    retries: int
    headers: dict[str, str]
    state: JobState = JobState.ACTIVATABLE
    worker: str = ""
    due: datetime | None = None
    incident_key: Key | None = None
    offer: int = 0
    kind: JobKind = JobKind.BPMN_ELEMENT
    listener_event_type: ListenerEventType = ListenerEventType.UNSPECIFIED
    is_global: bool = False


class UserTask(msgspec.Struct, omit_defaults=True, gc=False):
    """A native user task that nobody has completed yet; no assignee is empty text.

    Without a transition, its state is CREATED.
    """

    key: Key
    element_instance_key: Key
    element_id: str
    assignee: str = ""
    candidate_groups: tuple[str, ...] = ()
    candidate_users: tuple[str, ...] = ()
    due_date: datetime | None = None
    follow_up_date: datetime | None = None
    priority: int = 50
    transition: UserTaskTransition | None = None
    form_key: Key | None = None

    @property
    def values(self) -> UserTaskValues:
        return UserTaskValues(
            self.assignee,
            self.candidate_groups,
            self.candidate_users,
            self.due_date,
            self.follow_up_date,
            self.priority,
        )

    @property
    def begun(self) -> UserTaskTransition:
        """The transition of one whose listeners are being asked."""
        assert self.transition is not None, "begun before"  # noqa: S101  # narrows the type
        return self.transition

    @property
    def state(self) -> str:
        return CREATED if self.transition is None else self.transition.event_type.value


CREATED = "CREATED"


class OpenIncident(msgspec.Struct, gc=False):
    key: Key
    element_instance_key: Key
    job_key: Key | None
    error_type: ErrorType


class ProcessInstance(msgspec.Struct, eq=False, gc=False):
    """A live process instance; its own element instance carries its key.

    Two indexes have the keys for each element instance, in no order: `inside` of those inside it that are not being
    terminated, `waiting` of its subscriptions. `work` is what a command left for a later turn at `postponed_at`, after
    as many `activations` in a row. `places` is an index of one that is stored in pages, None for others: scope and name
    of each variable, and of some that are gone. `standing` counts the element instances in scopes where that was asked
    for, by element. `conditions` is an index of the subscriptions to conditions, by each scope that holds what waits for
    them and each variable that they refer to. `collected` are the outputs of each ad-hoc sub-process among the `items`,
    the oldest first. `correlation_key` is that of the message which began it, empty without one.
    It is terminated when an element of `terminates_after` has ended.
    """

    head: InstanceHead
    elements: dict[Key, ElementInstance] = {}
    variables: dict[Key, dict[str, Variable]] = {}
    jobs: dict[Key, Job] = {}
    incidents: dict[Key, OpenIncident] = {}
    subscriptions: dict[Key, AnySubscription] = {}
    items: dict[Key, LoopItem] = {}
    user_tasks: dict[Key, UserTask] = {}
    inside: dict[Key, dict[Key, None]] = {}
    waiting: dict[Key, dict[Key, None]] = {}
    work: tuple[AnyWork, ...] = ()
    activations: int = 0
    postponed_at: datetime | None = None
    places: dict[Key, tuple[Key, str]] | None = None
    standing: dict[Key, dict[str, int]] = {}
    collected: dict[Key, list[Key]] = {}
    correlation_key: str = ""
    conditions: dict[tuple[Key, str], OrderedKeys[Key, None]] = {}
    terminates_after: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        """However it is stored."""
        return isinstance(other, ProcessInstance) and self._facts() == other._facts()

    __hash__ = None  # type: ignore[assignment]  # mutable

    def _facts(self) -> tuple[object, ...]:
        passing = {"places", "standing"}
        return tuple(getattr(self, field) for field in self.__struct_fields__ if field not in passing)

    @property
    def message_start(self) -> tuple[str, str, str] | None:
        """Tenant, process id and correlation key: while it lives, it is the only one that a message began with these."""
        head = self.head
        return (
            (head.tenant_id, head.process_definition_id, self.correlation_key)
            if self.correlation_key
            else None
        )

    @property
    def size(self) -> int:
        """The number of its records."""
        variables = sum(map(len, self.variables.values()))
        waiting = len(self.jobs) + len(self.incidents) + len(self.subscriptions) + len(self.user_tasks)
        return len(self.elements) + len(self.items) + waiting + variables

    def divide(self) -> None:
        """From now on it is stored in pages."""
        self.places = {
            variable.key: (scope_key, name)
            for scope_key, scope in self.variables.items()
            for name, variable in scope.items()
        }

    def add(self, element: ElementInstance) -> None:
        key, scope_key = element.key, element.scope_key
        self.elements[key] = element
        if scope_key is not None:
            self.elements[scope_key].children += 1
            if element.state is not TERMINATING:
                inside = self.inside.get(scope_key)
                if inside is None:
                    inside = self.inside[scope_key] = {}
                inside[key] = None
            if self.standing:
                self._count(element, 1)

    def remove(self, element: ElementInstance) -> None:
        """Take an element instance out that has nothing inside any more."""
        key, scope_key = element.key, element.scope_key
        del self.elements[key]
        if scope_key is not None:
            self.elements[scope_key].children -= 1
            _discard(self.inside, scope_key, key)
        if self.standing:
            self._count(element, -1)
            self.standing.pop(key, None)

    def standing_in(self, scope_key: Key) -> Mapping[str, int]:
        """How many element instances of each element there are in a scope: counted once, and kept from then on."""
        counts = self.standing.get(scope_key)
        if counts is None:
            inside = (element for element in self.elements.values() if element.scope_key == scope_key)
            counts = self.standing[scope_key] = Counter(element.element_id for element in inside)
        return counts

    def count_anew(self) -> None:
        """Element instances have other element ids than before."""
        self.standing = {}

    def _count(self, element: ElementInstance, change: int) -> None:
        counts = self.standing.get(element.scope_key) if element.scope_key is not None else None
        if counts is None:
            return
        left = counts.get(element.element_id, 0) + change
        if left:
            counts[element.element_id] = left
        else:
            del counts[element.element_id]

    def include(self, element: ElementInstance) -> None:
        """Count it among those of its scope that are not being terminated, if it is none that is."""
        if element.scope_key is not None and element.state is not TERMINATING:
            self.inside.setdefault(element.scope_key, {})[element.key] = None

    def exclude(self, element: ElementInstance) -> None:
        if element.scope_key is not None:
            _discard(self.inside, element.scope_key, element.key)

    def open(self, subscription: AnySubscription) -> None:
        """Open it, or let it take the place of the one that has its key."""
        earlier = self.subscriptions.get(subscription.key)
        if isinstance(earlier, ConditionalSubscription):
            self._unwatch(earlier)
        self.subscriptions[subscription.key] = subscription
        self.waiting.setdefault(subscription.element_instance_key, {})[subscription.key] = None
        if isinstance(subscription, ConditionalSubscription):
            self._watch(subscription)

    def close(self, subscription: AnySubscription) -> None:
        if isinstance(subscription, ConditionalSubscription):
            self._unwatch(subscription)
        del self.subscriptions[subscription.key]
        _discard(self.waiting, subscription.element_instance_key, subscription.key)

    def _watch(self, subscription: ConditionalSubscription) -> None:
        for place in self._places(subscription):
            line = self.conditions.get(place)
            if line is None:
                line = self.conditions[place] = OrderedKeys()
            line.put(subscription.key, None)

    def _unwatch(self, subscription: ConditionalSubscription) -> None:
        for place in self._places(subscription):
            line = self.conditions[place]
            line.remove(subscription.key)
            if not line:
                del self.conditions[place]

    def _places(self, subscription: ConditionalSubscription) -> Iterator[tuple[Key, str]]:
        """Where a change of a variable concerns the condition: in the scope that waits, and in those around it."""
        key: Key | None = subscription.element_instance_key
        while key is not None:
            yield from ((key, name) for name in subscription.variable_names)
            key = self.elements[key].scope_key

    def subscribed(self, element_instance_key: Key) -> list[Key]:
        """The subscriptions of an element instance, the oldest first."""
        return sorted(self.waiting.get(element_instance_key, ()))

    def collect(self, item: LoopItem) -> None:
        """Keep an output of an ad-hoc sub-process, behind the others."""
        self.items[item.key] = item
        self.collected.setdefault(cast("Key", item.collected_by), []).append(item.key)

    def forget_last_output(self, key: Key) -> None:
        """Forget the output that an ad-hoc sub-process collected last."""
        keys = self.collected[key]
        del self.items[keys.pop()]
        if not keys:
            del self.collected[key]

    def index(self) -> None:
        """Build the indexes anew."""
        self.inside, self.waiting, self.conditions = {}, {}, {}
        for element in self.elements.values():
            self.include(element)
        for subscription in self.subscriptions.values():
            self.waiting.setdefault(subscription.element_instance_key, {})[subscription.key] = None
            if isinstance(subscription, ConditionalSubscription):
                self._watch(subscription)
        self.collected = {}
        for key in sorted(self.items):
            holder = self.items[key].collected_by
            if holder is not None:
                self.collected.setdefault(holder, []).append(key)


def _discard(index: dict[Key, dict[Key, None]], place: Key, key: Key) -> None:
    keys = index.get(place)
    if keys is not None:
        keys.pop(key, None)
        if not keys:
            del index[place]
