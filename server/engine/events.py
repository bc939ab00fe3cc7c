"""Events of the engine, in the past tense. Applying them again rebuilds the state.

They are structs rather than dataclasses for speed: the engine creates a dozen for each process instance, and
the durable modes pack them. `instance` is the shared head of the process instance, so each event can be
understood alone.
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
    """The call activity that started a process instance.

    `root_process_instance_key` is the top-level process instance, `depth` is the number of calls below it.
    """

    process_instance_key: Key
    element_instance_key: Key
    root_process_instance_key: Key
    depth: int


class InstanceHead(msgspec.Struct, frozen=True, gc=False):
    """The facts about a process instance that change only by a migration."""

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
        """The key of the top-level process instance, which no call activity started."""
        return self.key if self.caller is None else self.caller.root_process_instance_key


class Event(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """Base of all events."""


class InstanceEvent(Event, frozen=True):
    """An event of one process instance."""

    instance: InstanceHead


class DeploymentCreated(Event, frozen=True):
    key: Key
    tenant_id: str


class ProcessDefinitionDeployed(Event, frozen=True):
    """A version of a process was deployed.

    `previous_key` is the version that was the latest before, `starts` are the triggers of start events.
    Events of format 1 have no version tag. The stored form has `is_deleted` set after a deletion.
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
        """The key of the last start event; start events have the keys after the definition's, in their order."""
        return Key(self.key + len(self.starts))


class ProcessDefinitionAdopted(Event, frozen=True):
    """A definition that another partition deployed is now known in this one."""

    definition: ProcessDefinitionDeployed


class ProcessDefinitionDeleted(Event, frozen=True):
    """A definition was deleted; its process instances continue.

    `latest_key` is the version that becomes the latest, if this one was.
    """

    definition: ProcessDefinitionDeployed
    latest_key: Key | None


class DeletionAdopted(Event, frozen=True):
    """A deployed resource that another partition deleted is deleted in this partition too."""

    key: Key


class ProcessInstanceDeleted(Event, frozen=True):
    """The rows of an ended process instance are deleted; partitions hold nothing of it."""

    key: Key
    tenant_id: str


class VariablesErased(Event, frozen=True):
    """Stored values of variables of a process instance are erased, all without `names`; variables of active scopes are null.

    `incident_keys` and `job_keys` are the open incidents and jobs, whose messages may contain values.
    """

    key: Key
    tenant_id: str
    process_instance_key: Key
    names: tuple[str, ...] = ()
    incident_keys: tuple[Key, ...] = ()
    job_keys: tuple[Key, ...] = ()


class ProcessInstanceCreated(InstanceEvent, frozen=True):
    """A process instance was created.

    While it runs, no other message with this correlation key starts an instance of its process; an empty key
    means none. It is terminated when an element of `terminates_after` has ended.
    """

    correlation_key: str = ""
    terminates_after: tuple[str, ...] = ()


class MigratedElement(msgspec.Struct, frozen=True, gc=False):
    """An element instance with its id in the target definition, and the job, user task and incident that it keeps.

    `joins` are the arrivals that wait inside it, by the new flow ids; `compensable` are its completed
    activities that can be compensated, by their new ids.
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
    """A process instance was migrated; `instance` is the new head, `elements` are all active element instances.

    `subscriptions` are the catch events of kept subscriptions, by their new ids; `messages` are those that
    wait for a message.
    """

    elements: tuple[MigratedElement, ...]
    subscriptions: dict[Key, str] = {}
    messages: tuple[Key, ...] = ()


class ElementActivating(InstanceEvent, frozen=True):
    """An element instance was created.

    `joined_flows` are the incoming flows whose arrivals it consumes; `scope_key` is the instance of its flow
    scope. `begins_at` is the element at which an inner instance of an ad-hoc sub-process begins.
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
    """The number of finished steps of an activation or completion: mappings, listeners, subscriptions.

    Finished steps are not repeated.
    """

    key: Key
    progress: int


class ElementInterrupted(InstanceEvent, frozen=True):
    """An interrupting event ends an element instance, or the other element instances of a scope; then the event follows.

    A boundary event is entered with these variables, a start event starts its event sub-process, and an end
    event completes the scope.
    """

    key: Key
    element_id: str
    variables: dict[str, str]


class InterruptionFinished(InstanceEvent, frozen=True):
    """All interrupted element instances of the scope have ended; its taken sequence flows are dropped."""

    key: Key


class InterruptionLifted(InstanceEvent, frozen=True):
    """A modification activates an element in the interrupted scope, where flows and events take effect again."""

    key: Key


class EventCaught(InstanceEvent, frozen=True):
    """The element instance caught the event with this id, and continues with the variables of the trigger."""

    key: Key
    element_id: str
    variables: dict[str, str]


class ElementCompleting(InstanceEvent, frozen=True):
    key: Key


class ElementCompleted(InstanceEvent, frozen=True):
    """An element instance completed; `flow_ids` are the sequence flows that are taken next."""

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
    """A multi-instance body has these items, as JSON text, with consecutive keys."""

    key: Key
    first_item: Key
    items: tuple[str, ...]


class LoopItemCompleted(InstanceEvent, frozen=True):
    """An instance of a multi-instance body completed with this output, as JSON text; `is_last` ends all others."""

    key: Key
    item_key: Key
    output: str | None
    is_last: bool


class ElementsPlanned(InstanceEvent, frozen=True):
    """`number` further elements of an ad-hoc sub-process will be activated, unless it ends before."""

    key: Key
    number: int


class OutputCollected(InstanceEvent, frozen=True):
    """An ad-hoc sub-process keeps the output of an inner instance, as JSON text, for its collection `name`."""

    key: Key
    item_key: Key
    name: str
    output: str


class OutputsMerged(InstanceEvent, frozen=True):
    """The kept outputs of an ad-hoc sub-process were merged into its collection, or dropped because it was set anew."""

    key: Key


class AdHocConditionEvaluated(InstanceEvent, frozen=True):
    """The result of a completion condition, and whether the ad-hoc sub-process then terminates its active children."""

    key: Key
    is_fulfilled: bool
    cancels_remaining: bool


class ProcessCalled(InstanceEvent, frozen=True):
    """A call activity waits for the process instance with `called_key`."""

    key: Key
    called_key: Key


class CallEnded(InstanceEvent, frozen=True):
    """The process instance that a call activity called has ended."""

    key: Key


class ConditionalsEvaluated(Event, frozen=True):
    """The conditions of start events were evaluated for a caller; the created process instances follow."""

    key: Key
    tenant_id: str


class ActivitiesCompleted(InstanceEvent, frozen=True):
    """Activities in the scope `key` completed and can be compensated, with their counts."""

    key: Key
    counts: dict[str, int]


class CompensationTriggered(InstanceEvent, frozen=True):
    """The throwing event `key` compensates all completed activities with these ids in the scope."""

    key: Key
    scope_key: Key
    activity_ids: tuple[str, ...]


class CompensationInvoked(InstanceEvent, frozen=True):
    """The throwing event `key` starts the handler of one completed activity."""

    key: Key
    activity_id: str


class SubscriptionOpened(InstanceEvent, frozen=True):
    """A subscription was opened, or replaced the earlier one with its key.

    `properties` are those of the element that waits for a message.
    """

    subscription: AnySubscription
    properties: Mapping[str, str] = {}


class SubscriptionClosed(InstanceEvent, frozen=True):
    """A subscription was closed; `is_message` if it was for a message, `is_correlated` if the message triggered it."""

    key: Key
    is_message: bool = False
    is_correlated: bool = False


class SubscriptionMoved(InstanceEvent, frozen=True):
    """A migration reports the new process of a message subscription to its home partition, or the home confirmed it."""

    key: Key
    is_moving: bool


class MessageCorrelated(InstanceEvent, frozen=True):
    """The process instance caught a message by this subscription, or was started by it.

    A start event has no element instance when its message arrives.
    """

    key: Key
    message_key: Key
    subscription_key: Key
    element_id: str
    element_instance_key: Key | None
    message_name: str
    correlation_key: str


class MessageStartsChanged(Event, frozen=True):
    """The message subscriptions of a version's start events open or close, because another version becomes the latest."""

    keys: tuple[Key, ...]
    are_open: bool


class WorkPostponed(InstanceEvent, frozen=True):
    """The command did enough, and the rest of its work is postponed to a later turn.

    `activations` is the number of elements activated since the last wait state.
    """

    work: tuple[AnyWork, ...]
    activations: int
    at: datetime


class WorkResumed(InstanceEvent, frozen=True):
    """All postponed work is being done now."""


class VariableCreated(InstanceEvent, frozen=True):
    """A variable was created; `value` is JSON text."""

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
    """A job was created; `is_global` is true for the job of a global task listener."""

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
    """A job was completed; only a task listener may deny the change of its user task."""

    key: Key
    is_denied: bool | None = None
    denied_reason: str | None = None


class JobWithheld(InstanceEvent, frozen=True):
    """The job is too large for a worker, and is not offered until its incident is resolved."""

    key: Key
    message: str


class JobFailed(InstanceEvent, frozen=True):
    """A job failed; a worker may activate it again at `offered_at`. None with retries left means at once."""

    key: Key
    retries: int
    error_message: str
    offered_at: datetime | None


class JobBackOffEnded(InstanceEvent, frozen=True):
    key: Key


class JobTimedOut(InstanceEvent, frozen=True):
    key: Key


class JobErrorThrown(InstanceEvent, frozen=True):
    """A worker threw an error; a job whose error is caught is removed."""

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
    """A user task was created, without an assignee."""

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
    """A user task was assigned, or unassigned by an empty `assignee`.

    `requester` is the caller of the earlier command that asked for it, if there is one.
    """

    key: Key
    element_instance_key: Key
    assignee: str
    requester: Requester | None = None
    form_key: Key | None = None


class UserTaskUpdated(InstanceEvent, frozen=True):
    """The values of a user task after an update, unchanged ones included; None leaves the assignee as it is.

    `requester` is the caller of the earlier command that asked for it, if there is one.
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
    """A user task was completed; `requester` is the caller of the earlier command that asked for it, if there is one."""

    key: Key
    element_instance_key: Key
    requester: Requester | None = None
    form_key: Key | None = None


class UserTaskCanceled(InstanceEvent, frozen=True):
    """A user task was canceled; `requester` is the caller of the earlier command that ended it, if there is one."""

    key: Key
    element_instance_key: Key
    requester: Requester | None = None
    form_key: Key | None = None


class UserTaskTransitionBegan(InstanceEvent, frozen=True):
    """The task listeners of a user task begin to run, one after the other, before the transition takes effect."""

    key: Key
    element_instance_key: Key
    transition: UserTaskTransition


class UserTaskCorrected(InstanceEvent, frozen=True):
    """A task listener changed the values that the user task will have after the transition."""

    key: Key
    element_instance_key: Key
    values: UserTaskValues
    corrected: tuple[str, ...]


class UserTaskTransitionEnded(InstanceEvent, frozen=True):
    """The task listeners have finished; with a `refusal`, the transition does not take effect."""

    key: Key
    element_instance_key: Key
    transition: UserTaskTransition
    refusal: str | None = None
    form_key: Key | None = None


class IncidentRaised(InstanceEvent, frozen=True):
    """An incident was raised; `job_key` is set when it concerns a job."""

    key: Key
    element_instance_key: Key
    element_id: str
    job_key: Key | None
    error_type: ErrorType
    message: str


class IncidentResolved(InstanceEvent, frozen=True):
    """An incident was resolved; `is_last` is true when the process instance has no other open incident."""

    key: Key
    element_instance_key: Key
    job_key: Key | None
    is_last: bool
