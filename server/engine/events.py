"""Events of the engine, in the past tense. Applying them again rebuilds the state.

Structs rather than dataclasses: the engine makes a dozen for each process instance, and the durable modes pack them.
`instance` is the shared head of the process instance, so an event can be understood alone.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from server.bpmn.executable import ElementType
from server.engine.incidents import ErrorType
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.keys import Key
from server.engine.requesters import Requester
from server.engine.start_triggers import AnyStartTrigger
from server.engine.subscriptions import AnySubscription
from server.engine.user_task_changes import UserTaskTransition, UserTaskValues
from server.engine.work import AnyWork


class Caller(msgspec.Struct, frozen=True, gc=False):
    """The call activity that a process instance was started by.

    `root_process_instance_key` is the first of all that called each other, `depth` counts the calls since then.
    """

    process_instance_key: Key
    element_instance_key: Key
    root_process_instance_key: Key
    depth: int


class InstanceHead(msgspec.Struct, frozen=True, gc=False):
    """The facts about a process instance that only a migration changes."""

    key: Key
    tenant_id: str
    process_definition_key: Key
    process_definition_id: str
    version: int
    process_name: str | None
    version_tag: str | None
    tags: tuple[str, ...] = ()
    business_id: str | None = None
    caller: Caller | None = None

    @property
    def root_key(self) -> Key:
        """The process instance that was started by no call, directly or indirectly the caller of this one."""
        return self.key if self.caller is None else self.caller.root_process_instance_key


class Event(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """Base of all events."""


class InstanceEvent(Event, frozen=True):
    """Something happened in one process instance."""

    instance: InstanceHead


class DeploymentCreated(Event, frozen=True):
    key: Key
    tenant_id: str


class ProcessDefinitionDeployed(Event, frozen=True):
    """`previous_key` is the version that was the latest until now, `starts` are the triggers that begin instances.

    Releases of format 1 left the version tag out. As it is stored, `is_deleted` says what became of it.
    """

    key: Key
    deployment_key: Key
    tenant_id: str
    process_definition_id: str
    version: int
    previous_key: Key | None
    resource_name: str
    checksum: str
    content: bytes
    starts: tuple[AnyStartTrigger, ...] = ()
    version_tag: str | msgspec.UnsetType | None = msgspec.UNSET
    is_deleted: bool = False

    @property
    def last_key(self) -> Key:
        """The start events have the keys behind its own, in their order."""
        return Key(self.key + len(self.starts))


class ProcessDefinitionAdopted(Event, frozen=True):
    """A definition that another partition deployed is known here from now on."""

    definition: ProcessDefinitionDeployed


class ProcessDefinitionDeleted(Event, frozen=True):
    """Process instances of the definition go on; `latest_key` is the version that takes its place, if it was the latest."""

    definition: ProcessDefinitionDeployed
    latest_key: Key | None


class DeletionAdopted(Event, frozen=True):
    """A deployed resource that another partition deleted is deleted in this partition too."""

    key: Key


class ProcessInstanceDeleted(Event, frozen=True):
    """The rows of an ended process instance are not wanted any more; partitions know nothing of it."""

    key: Key
    tenant_id: str


class ProcessInstanceCreated(InstanceEvent, frozen=True):
    """Until it ends, no other message with this correlation key begins one of its process; an empty one is none.

    It is terminated when an element of `terminates_after` has ended.
    """

    correlation_key: str = ""
    terminates_after: tuple[str, ...] = ()


class MigratedElement(msgspec.Struct, frozen=True, gc=False):
    """An element instance by the id that it has in the other definition, with the job, the user task and the incident that it keeps.

    `joins` are the arrivals that wait inside it, by the new ids of their flows; `compensable` are the activities that can
    be compensated there, by their new ids.
    """

    key: Key
    element_id: str
    element_name: str | None
    job_key: Key | None
    incident_key: Key | None
    joins: dict[str, int] = {}
    user_task_key: Key | None = None
    compensable: dict[str, int] = {}
    form_key: Key | None = None


class ProcessInstanceMigrated(InstanceEvent, frozen=True):
    """`instance` is the head from now on; every element instance that is active is among the `elements`.

    `subscriptions` are the catch events, by their new ids, that are waited for by the same subscriptions as before;
    those among `messages` wait for a message.
    """

    elements: tuple[MigratedElement, ...]
    subscriptions: dict[Key, str] = {}
    messages: tuple[Key, ...] = ()


class ElementActivating(InstanceEvent, frozen=True):
    """`joined_flows` are the incoming flows whose arrival it uses up; `scope_key` is the flow scope's instance.

    An inner instance of an ad-hoc sub-process begins at the element `begins_at`.
    """

    key: Key
    scope_key: Key
    element_id: str
    element_name: str | None
    type: ElementType
    joined_flows: tuple[str, ...] = ()
    begins_at: str = ""


class ElementActivated(InstanceEvent, frozen=True):
    key: Key


class ElementProgressed(InstanceEvent, frozen=True):
    """The number of finished steps of its activation or completion: mappings, listeners, subscriptions. None is repeated."""

    key: Key
    progress: int


class ElementInterrupted(InstanceEvent, frozen=True):
    """An interrupting event ends the element instance, or a scope's other element instances; then the event goes on.

    On the boundary it is entered with these variables, as the start of an event sub-process it begins that, as an end
    event it completes the scope.
    """

    key: Key
    element_id: str
    variables: dict[str, str]


class InterruptionFinished(InstanceEvent, frozen=True):
    """Nothing that was interrupted is left in the scope; flows that were taken there lead nowhere any more."""

    key: Key


class InterruptionLifted(InstanceEvent, frozen=True):
    """A modification activates something in the interrupted scope, where flows and events lead on again."""

    key: Key


class EventCaught(InstanceEvent, frozen=True):
    """The element instance goes on with the event that has this id, and with what came with its trigger."""

    key: Key
    element_id: str
    variables: dict[str, str]


class ElementCompleting(InstanceEvent, frozen=True):
    key: Key


class ElementCompleted(InstanceEvent, frozen=True):
    """`flow_ids` are those of the sequence flows that it is left by, which are taken next."""

    key: Key
    flow_ids: tuple[str, ...] = ()


class ElementTerminating(InstanceEvent, frozen=True):
    key: Key


class ElementTerminated(InstanceEvent, frozen=True):
    key: Key


class SequenceFlowTaken(InstanceEvent, frozen=True):
    scope_key: Key
    flow_id: str
    target_id: str


class LoopBegan(InstanceEvent, frozen=True):
    """A multi-instance body has these items, as JSON text; their keys are consecutive."""

    key: Key
    first_item: Key
    items: tuple[str, ...]


class LoopItemCompleted(InstanceEvent, frozen=True):
    """An instance of a multi-instance body gave this output, as JSON text; `is_last` ends all others."""

    key: Key
    item_key: Key
    output: str | None
    is_last: bool


class ElementsPlanned(InstanceEvent, frozen=True):
    """A number of further elements of an ad-hoc sub-process will be activated, unless it ends before."""

    key: Key
    number: int


class OutputCollected(InstanceEvent, frozen=True):
    """An ad-hoc sub-process keeps the output of an inner instance, JSON text, for its collection with this name."""

    key: Key
    item_key: Key
    name: str
    output: str


class OutputsMerged(InstanceEvent, frozen=True):
    """The kept outputs of an ad-hoc sub-process were merged into its collection, or dropped because the collection was set anew."""

    key: Key


class AdHocConditionEvaluated(InstanceEvent, frozen=True):
    """Whether an ad-hoc sub-process is complete once nothing is active in it, and whether it ends what is."""

    key: Key
    is_fulfilled: bool
    cancels_remaining: bool


class ProcessCalled(InstanceEvent, frozen=True):
    """A call activity waits for the process instance `called_key`."""

    key: Key
    called_key: Key


class CallEnded(InstanceEvent, frozen=True):
    """The process instance that a call activity called has ended."""

    key: Key


class ConditionalsEvaluated(Event, frozen=True):
    """The conditions of start events were evaluated for a caller; each process instance that this began follows."""

    key: Key
    tenant_id: str


class ActivitiesCompleted(InstanceEvent, frozen=True):
    """Activities that can be compensated from now on, with their counts, in the scope `key`."""

    key: Key
    counts: dict[str, int]


class CompensationTriggered(InstanceEvent, frozen=True):
    """The throwing event `key` compensates these activities, all that completed in the scope."""

    key: Key
    scope_key: Key
    activity_ids: tuple[str, ...]


class CompensationInvoked(InstanceEvent, frozen=True):
    """The throwing event `key` has the handler of one completed activity run."""

    key: Key
    activity_id: str


class SubscriptionOpened(InstanceEvent, frozen=True):
    """Waits for a trigger; one with the key of an earlier subscription takes its place.

    `properties` are those of the element that waits for a message.
    """

    subscription: AnySubscription
    properties: Mapping[str, str] = {}


class SubscriptionClosed(InstanceEvent, frozen=True):
    """`is_message` says that it was for a message, `is_correlated` that the message ended it."""

    key: Key
    is_message: bool = False
    is_correlated: bool = False


class SubscriptionMoved(InstanceEvent, frozen=True):
    """The home of a message subscription is about to learn of another process, or has learned of it."""

    key: Key
    is_moving: bool


class MessageCorrelated(InstanceEvent, frozen=True):
    """The process instance caught a message by this subscription, or began with it.

    A start event has no element instance when its message comes.
    """

    key: Key
    message_key: Key
    subscription_key: Key
    element_id: str
    element_instance_key: Key | None
    message_name: str
    correlation_key: str


class MessageStartsChanged(Event, frozen=True):
    """The message subscriptions of the start events of a version wait again, or no more: another one is the latest."""

    keys: tuple[Key, ...]
    are_open: bool


class WorkPostponed(InstanceEvent, frozen=True):
    """The command did enough: the rest of its work goes on in a later turn.

    `activations` are the elements that were activated in a row so far.
    """

    work: tuple[AnyWork, ...]
    activations: int
    at: datetime


class WorkResumed(InstanceEvent, frozen=True):
    """All work that was left is being done now."""


class VariableCreated(InstanceEvent, frozen=True):
    """`value` is JSON text."""

    key: Key
    scope_key: Key
    name: str
    value: str


class VariableUpdated(InstanceEvent, frozen=True):
    key: Key
    scope_key: Key
    name: str
    value: str


class JobCreated(InstanceEvent, frozen=True):
    """`is_global` is the job of a global listener."""

    key: Key
    element_instance_key: Key
    element_id: str
    type: str
    retries: int
    headers: dict[str, str]
    kind: JobKind = JobKind.BPMN_ELEMENT
    listener_event_type: ListenerEventType = ListenerEventType.UNSPECIFIED
    is_global: bool = False


class JobActivated(InstanceEvent, frozen=True):
    key: Key
    worker: str
    deadline: datetime


class JobYielded(InstanceEvent, frozen=True):
    key: Key


class JobCompleted(InstanceEvent, frozen=True):
    """That of a task listener denies what is being done with its user task, or not; others have nothing to deny."""

    key: Key
    is_denied: bool | None = None
    denied_reason: str | None = None


class JobWithheld(InstanceEvent, frozen=True):
    """It is too large for a worker, and is not offered until its incident is resolved."""

    key: Key
    message: str


class JobFailed(InstanceEvent, frozen=True):
    """`offered_at` is when a worker may have it again; None with retries left means at once."""

    key: Key
    retries: int
    error_message: str
    offered_at: datetime | None


class JobBackOffEnded(InstanceEvent, frozen=True):
    key: Key


class JobTimedOut(InstanceEvent, frozen=True):
    key: Key


class JobErrorThrown(InstanceEvent, frozen=True):
    """A job whose error is caught is gone."""

    key: Key
    error_code: str
    error_message: str
    is_caught: bool = False


class JobRetriesUpdated(InstanceEvent, frozen=True):
    key: Key
    retries: int


class JobDeadlineUpdated(InstanceEvent, frozen=True):
    key: Key
    deadline: datetime


class JobCanceled(InstanceEvent, frozen=True):
    key: Key


class UserTaskCreated(InstanceEvent, frozen=True):
    """The user task begins without an assignee."""

    key: Key
    element_instance_key: Key
    element_id: str
    element_name: str | None
    headers: dict[str, str]
    external_form_reference: str | None
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_date: datetime | None
    follow_up_date: datetime | None
    priority: int
    form_key: Key | None = None


class UserTaskAssigned(InstanceEvent, frozen=True):
    """An empty `assignee` unassigns it; a `requester` asked for it in an earlier command."""

    key: Key
    element_instance_key: Key
    assignee: str
    requester: Requester | None = None
    form_key: Key | None = None


class UserTaskUpdated(InstanceEvent, frozen=True):
    """The values from now on, those that did not change included; without an assignee it stays as it is.

    A `requester` asked for it in an earlier command.
    """

    key: Key
    element_instance_key: Key
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_date: datetime | None
    follow_up_date: datetime | None
    priority: int
    assignee: str | None = None
    requester: Requester | None = None
    form_key: Key | None = None


class UserTaskCompleted(InstanceEvent, frozen=True):
    """A `requester` asked for it in an earlier command."""

    key: Key
    element_instance_key: Key
    requester: Requester | None = None
    form_key: Key | None = None


class UserTaskCanceled(InstanceEvent, frozen=True):
    """A `requester` stands for what ended it in an earlier command."""

    key: Key
    element_instance_key: Key
    requester: Requester | None = None
    form_key: Key | None = None


class UserTaskTransitionBegan(InstanceEvent, frozen=True):
    """From now on the listeners are asked, from the first one on, what is being done with the user task."""

    key: Key
    element_instance_key: Key
    transition: UserTaskTransition


class UserTaskCorrected(InstanceEvent, frozen=True):
    """A listener changed the values that the user task will have after the transition."""

    key: Key
    element_instance_key: Key
    values: UserTaskValues
    corrected: tuple[str, ...]


class UserTaskTransitionEnded(InstanceEvent, frozen=True):
    """The listeners are done; with a `refusal` what they were asked about does not happen."""

    key: Key
    element_instance_key: Key
    transition: UserTaskTransition
    refusal: str | None = None
    form_key: Key | None = None


class IncidentRaised(InstanceEvent, frozen=True):
    """`job_key` is given when it is the job that cannot go on."""

    key: Key
    element_instance_key: Key
    element_id: str
    job_key: Key | None
    error_type: ErrorType
    message: str


class IncidentResolved(InstanceEvent, frozen=True):
    """`is_last` says that the process instance has no other open incident."""

    key: Key
    element_instance_key: Key
    job_key: Key | None
    is_last: bool
