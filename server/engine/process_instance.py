"""A live process instance: the records of its document, and the indexes derived from them.

Only `apply` changes them, through the journal of the state. Records hold no reference cycles, so the garbage
collector need not track them.
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
from server.engine.pages import is_large
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
    """The event that interrupted an element instance or the rest of a scope, with the variables of its trigger.

    The interruption is finished when everything that it ended in the scope is gone.
    """

    element_id: str
    variables: dict[str, str]
    is_finished: bool = False


class CaughtEvent(msgspec.Struct, frozen=True, gc=False):
    """The event that an element instance continues with, with the variables of its trigger."""

    element_id: str
    variables: dict[str, str]


class LoopProgress(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Progress of a multi-instance body; its items have consecutive keys from `first_item`.

    `is_done` is true when its completion condition is, `octets` is the size of the outputs so far.
    """

    first_item: Key
    items: int
    created: int = 0
    completed: int = 0
    is_done: bool = False
    octets: int = 0


class LoopItem(msgspec.Struct, omit_defaults=True, gc=False):
    """An item of an input collection, with the output of its instance; both are JSON text.

    With `collected_by` it is an output of an ad-hoc sub-process that is not yet merged into the collection
    variable; `input` is then the name of that variable.
    """

    key: Key
    input: str
    output: str | None = None
    collected_by: Key | None = None

    @property
    def is_large(self) -> bool:
        return is_large(self.input) or (self.output is not None and is_large(self.output))


class AdHocProgress(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Progress of an ad-hoc sub-process; `planned` elements are still to be activated.

    When it `is_done`, it completes once nothing is active inside; with `cancels_remaining` it terminates its
    children.
    """

    planned: int = 0
    is_done: bool = False
    cancels_remaining: bool = False


class ElementInstance(msgspec.Struct, omit_defaults=True, gc=False):
    """An active instance of an element.

    - `children`: the number of element instances inside it
    - `flows`: the number of sequence flows taken inside it that have not arrived yet
    - `joins`: for each flow into a joining gateway inside it, the arrivals that wait for the others
    - `progress`: the number of finished steps of its activation or completion
    - `interruption`: the event that ends it, or everything else inside it
    - `caught`: the event that an event sub-process begins with, or an event-based gateway continues with
    - `loop`: progress of a multi-instance body; `loop_counter`: number of one of its instances
    - `called_key`: the process instance that a call activity waits for
    - `compensable`: the completed activities of a scope that can be compensated, by id; for a throwing event,
      those whose handlers it has not invoked yet
    - `ad_hoc`: progress of an ad-hoc sub-process; `begins_at`: the first element of one of its inner
      instances
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
        """Whether the multi-instance or ad-hoc body is complete and therefore terminates its active children."""
        if self.loop is not None:
            return self.loop.is_done
        return self.ad_hoc.is_done and self.ad_hoc.cancels_remaining

    @property
    def is_being_emptied(self) -> bool:
        """Whether everything inside it is being terminated before the interrupting event."""
        return (
            self.interruption is not None
            and not self.interruption.is_finished
            and self.state is not TERMINATING
        )

    @property
    def ends_children(self) -> bool:
        """Whether everything inside it is being terminated."""
        return self.state is TERMINATING or self.is_being_emptied or self.ends_remaining

    def has_subscribed(self, start_listeners: int) -> bool:
        """Whether the element instance has boundary event subscriptions; `start_listeners` is the number of start listeners."""
        if self.state is ACTIVATING:
            return self.progress > start_listeners + 1
        return self.state is not TERMINATING


class Job(msgspec.Struct, omit_defaults=True, gc=False):
    """A job; `due` is the deadline of an activated job, or the next offer of a job that backs off.

    `offer` numbers the offers of the partition and is the job's position among them. `is_global` is true for
    the job of a global task listener.
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
    """An open native user task; an empty `assignee` means unassigned.

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
        """The current transition; there must be one."""
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
    """A live process instance; its root element instance has the same key.

    - `work`: the work that a command postponed at `postponed_at`, after `activations` elements without a wait
      state
    - `correlation_key`: the one of the message that started it, or empty
    - `terminates_after`: it is terminated when one of these elements has ended

    Indexes:

    - `inside`: for each element instance, its children that are not being terminated
    - `waiting`: for each element instance, its subscriptions
    - `places`: for an instance stored in pages, scope and name of each variable and of some removed ones;
      else None
    - `standing`: the number of element instances by element, in scopes where it was asked for
    - `conditions`: the conditional subscriptions, by each enclosing scope and each variable that they read
    - `collected`: for each ad-hoc sub-process, the `items` that are its unmerged outputs, oldest first
    - `large`: scope and name of each variable with a large value, None for each item with one; also of those
      that became small or were removed since the last commit
    - `is_apart`: whether the values of `large` are stored on pages of their own
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
    large: dict[Key, tuple[Key, str] | None] = {}
    is_apart: bool = False

    def __eq__(self, other: object) -> bool:
        """Equality of content, not of storage layout."""
        return isinstance(other, ProcessInstance) and self._facts() == other._facts()

    __hash__ = None  # type: ignore[assignment]  # mutable

    def _facts(self) -> tuple[object, ...]:
        passing = {"places", "standing", "large", "is_apart"}
        return tuple(getattr(self, field) for field in self.__struct_fields__ if field not in passing)

    @property
    def message_start(self) -> tuple[str, str, str] | None:
        """Tenant, process id and correlation key of a message start; no other live instance has the same."""
        head = self.head
        return (
            (head.tenant_id, head.process_definition_id, self.correlation_key)
            if self.correlation_key
            else None
        )

    @property
    def size(self) -> int:
        """The number of records."""
        variables = sum(map(len, self.variables.values()))
        waiting = len(self.jobs) + len(self.incidents) + len(self.subscriptions) + len(self.user_tasks)
        return len(self.elements) + len(self.items) + waiting + variables

    def divide(self) -> None:
        """Store the process instance in pages from now on."""
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
        """Remove an element instance without children."""
        key, scope_key = element.key, element.scope_key
        del self.elements[key]
        if scope_key is not None:
            self.elements[scope_key].children -= 1
            _discard(self.inside, scope_key, key)
        if self.standing:
            self._count(element, -1)
            self.standing.pop(key, None)

    def standing_in(self, scope_key: Key) -> Mapping[str, int]:
        """The number of element instances in a scope, by element: counted on first use and updated afterwards."""
        counts = self.standing.get(scope_key)
        if counts is None:
            inside = (element for element in self.elements.values() if element.scope_key == scope_key)
            counts = self.standing[scope_key] = Counter(element.element_id for element in inside)
        return counts

    def count_anew(self) -> None:
        """Drop the counts after element ids have changed."""
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
        """Add it to the children of its scope that are not being terminated, if it is not."""
        if element.scope_key is not None and element.state is not TERMINATING:
            self.inside.setdefault(element.scope_key, {})[element.key] = None

    def exclude(self, element: ElementInstance) -> None:
        if element.scope_key is not None:
            _discard(self.inside, element.scope_key, element.key)

    def open(self, subscription: AnySubscription) -> None:
        """Add a subscription, or replace the one with its key."""
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
        """The scopes whose variable changes affect the condition: its own scope and the enclosing ones."""
        key: Key | None = subscription.element_instance_key
        while key is not None:
            yield from ((key, name) for name in subscription.variable_names)
            key = self.elements[key].scope_key

    def subscribed(self, element_instance_key: Key) -> list[Key]:
        """The subscriptions of an element instance, oldest first."""
        return sorted(self.waiting.get(element_instance_key, ()))

    def collect(self, item: LoopItem) -> None:
        """Add an output of an ad-hoc sub-process after the earlier ones."""
        self.items[item.key] = item
        self.collected.setdefault(cast("Key", item.collected_by), []).append(item.key)

    def forget_last_output(self, key: Key) -> None:
        """Undo the last `collect` of an ad-hoc sub-process."""
        keys = self.collected[key]
        del self.items[keys.pop()]
        if not keys:
            del self.collected[key]

    def index(self) -> None:
        """Rebuild the indexes."""
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
        # Otherwise, the large values are those that were found on pages of their own.
        if not self.is_apart:
            self.large = {
                **{
                    variable.key: (scope_key, name)
                    for scope_key, scope in self.variables.items()
                    for name, variable in scope.items()
                    if is_large(variable.value)
                },
                **{key: None for key, item in self.items.items() if item.is_large},
            }


def _discard(index: dict[Key, dict[Key, None]], place: Key, key: Key) -> None:
    keys = index.get(place)
    if keys is not None:
        keys.pop(key, None)
        if not keys:
            del index[place]
