"""Commands of the engine, in the imperative.

Commands name their tenant: entities of other tenants do not exist for the caller, and due commands queue per
tenant. `address` is the partition that handles the command, with the process instances that it needs there.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from server.engine.addresses import ANYWHERE, FIRST, HERE, Address, Hashed, HomeOf, OwnersOf
from server.engine.batch_operations import BatchAction, BatchItem
from server.engine.cluster_variable_events import ClusterVariableSet
from server.engine.decision_events import DecisionRequirementsDeployed
from server.engine.events import ProcessDefinitionDeployed
from server.engine.form_events import FormDeployed
from server.engine.generic_resource_events import GenericResourceDeployed
from server.engine.global_task_listener_events import GlobalTaskListenerSet
from server.engine.job_results import AnyJobResult
from server.engine.keys import Key
from server.engine.requesters import Requester
from server.engine.start_timers import StartTimer
from server.engine.user_task_changes import DateChange
from server.engine.variables import Variables
from server.engine.work import Activation
from server.feel import DialectName


@dataclass(frozen=True, slots=True)
class Resource:
    """A BPMN file that was read and validated; `process_ids` are its executable processes."""

    name: str
    content: bytes
    checksum: str
    process_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedDecision:
    """A decision with the id, name and version tag of its model."""

    id: str
    name: str
    version_tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionModel:
    """A DMN file that was read and validated: a requirements graph with its decisions.

    `imports` are the contents of the imported models; the checksum covers them, too.
    """

    name: str
    content: bytes
    checksum: str
    imports: tuple[bytes, ...]
    dialect: DialectName
    decision_requirements_id: str
    decision_requirements_name: str
    decisions: tuple[NamedDecision, ...]


@dataclass(frozen=True, slots=True)
class FormFile:
    """A form file that was read and validated."""

    name: str
    schema: str
    checksum: str
    form_id: str
    version_tag: str | None


@dataclass(frozen=True, slots=True)
class GenericFile:
    """A generic resource that was read and validated."""

    name: str
    content: str
    checksum: str
    resource_id: str
    version_tag: str | None


@dataclass(frozen=True, slots=True)
class DeployResources:
    """Deploy files of any kind; `generic` are the generic resources among them."""

    tenant_id: str
    resources: tuple[Resource, ...]
    decision_models: tuple[DecisionModel, ...] = ()
    forms: tuple[FormFile, ...] = ()
    generic: tuple[GenericFile, ...] = ()

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptDefinition:
    """Make a definition known that another partition deployed."""

    definition: (
        ProcessDefinitionDeployed | DecisionRequirementsDeployed | FormDeployed | GenericResourceDeployed
    )

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class DeleteResource:
    """Delete a process definition, a requirements graph with all of its decisions, a form or a generic resource."""

    tenant_id: str
    resource_key: Key

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptDeletion:
    """Delete a definition that another partition deleted."""

    tenant_id: str
    resource_key: Key

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateDecision:
    """Evaluate a decision, named by key, or by id for its latest version."""

    tenant_id: str
    decision_definition_key: Key | None = None
    decision_definition_id: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateProcessInstance:
    """Create an instance of a definition, named by key, or by id and version (None for the latest).

    The instance starts at the `start_element_ids`, or at the none start event if there are none. It is
    terminated when an element of `terminates_after` has ended.
    """

    tenant_id: str
    process_definition_key: Key | None = None
    process_definition_id: str = ""
    version: int | None = None
    variables: Variables = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    business_id: str | None = None
    start_element_ids: tuple[str, ...] = ()
    terminates_after: tuple[str, ...] = ()

    @property
    def address(self) -> Address:
        """Process instances with the same business id live in one partition."""
        return ANYWHERE if self.business_id is None else Hashed((self.tenant_id, self.business_id))


@dataclass(frozen=True, slots=True)
class CancelProcessInstance:
    tenant_id: str
    process_instance_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class DeleteProcessInstance:
    """Delete the history of an ended process instance; `is_stored` is true when the store has rows of it."""

    tenant_id: str
    process_instance_key: Key
    is_stored: bool

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class DeleteDecisionInstance:
    """Delete the stored decisions of an evaluation, up to `last_place`, which is 0 when none are stored."""

    tenant_id: str
    decision_evaluation_key: Key
    last_place: int

    @property
    def address(self) -> Address:
        return OwnersOf((self.decision_evaluation_key,))


@dataclass(frozen=True, slots=True)
class ContinueProcessInstance:
    """Sent by time: continue the work of a process instance that an earlier command postponed."""

    tenant_id: str
    process_instance_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class MappingInstruction:
    """The target of an active element, or of a sequence flow that waits at a joining gateway."""

    source_element_id: str
    target_element_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrateProcessInstance:
    tenant_id: str
    process_instance_key: Key
    target_process_definition_key: Key
    mapping_instructions: tuple[MappingInstruction, ...]

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class VariableInstruction:
    """Variables for the activated element or one of its flow scopes; an empty scope id is the process instance."""

    scope_id: str
    variables: Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateInstruction:
    """An element to activate.

    Without an ancestor key, the element is activated in the only instance of its flow scope, or in a new one.
    """

    element_id: str
    ancestor_element_instance_key: Key | None = None
    variable_instructions: tuple[VariableInstruction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminateInstruction:
    """Element instances to terminate: one by its key, or all instances of an element by its id."""

    element_instance_key: Key | None = None
    element_id: str = ""


class AncestorScopeType(StrEnum):
    """How a move finds the ancestor of its target, as the wire spells it.

    `INFERRED` is the innermost flow scope instance that source and target have in common.
    """

    DIRECT = "direct"
    INFERRED = "inferred"
    SOURCE_PARENT = "sourceParent"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveInstruction:
    """Activates the target once for each source, and terminates the sources: one by key, or all of an element by id."""

    source_element_instance_key: Key | None = None
    source_element_id: str = ""
    target_element_id: str
    ancestor_scope_type: AncestorScopeType = AncestorScopeType.DIRECT
    ancestor_element_instance_key: Key | None = None
    variable_instructions: tuple[VariableInstruction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyProcessInstance:
    """Modify a process instance: elements are activated before others are terminated, so no scope ends between the two."""

    tenant_id: str
    process_instance_key: Key
    activate_instructions: tuple[ActivateInstruction, ...] = ()
    move_instructions: tuple[MoveInstruction, ...] = ()
    terminate_instructions: tuple[TerminateInstruction, ...] = ()

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateJobs:
    """Activate up to `max_jobs` jobs of a type; empty `fetch_variables` mean every visible variable.

    The variables of all jobs have at most `max_octets`. With None, they fit into one answer, and at least one
    job is activated however large its variables are.
    """

    tenant_id: str
    type: str
    worker: str
    timeout: timedelta
    max_jobs: int
    fetch_variables: tuple[str, ...] = ()
    max_octets: int | None = None

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class YieldJobs:
    """Offer activated jobs again that never reached their worker; each has the deadline of its activation."""

    tenant_id: str
    jobs: tuple[tuple[Key, datetime], ...]

    @property
    def address(self) -> Address:
        return OwnersOf(tuple(key for key, _ in self.jobs))


@dataclass(frozen=True, slots=True)
class CompleteJob:
    tenant_id: str
    job_key: Key
    variables: Variables = field(default_factory=dict)
    result: AnyJobResult | None = None

    @property
    def address(self) -> Address:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailJob:
    """Return an activated job with a failure."""

    tenant_id: str
    job_key: Key
    retries: int = 0
    error_message: str = ""
    retry_back_off: timedelta = timedelta()
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrowJobError:
    tenant_id: str
    job_key: Key
    error_code: str
    error_message: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateJob:
    tenant_id: str
    job_key: Key
    retries: int | None = None
    timeout: timedelta | None = None

    @property
    def address(self) -> Address:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True)
class TimeOutJob:
    """Sent by time: the deadline of an activated job has passed."""

    tenant_id: str
    job_key: Key
    deadline: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True)
class EndJobBackOff:
    """Sent by time: the retry back-off of a job has ended."""

    tenant_id: str
    job_key: Key
    offered_at: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True)
class TriggerTimer:
    """Sent by time: the timer of a subscription is due."""

    tenant_id: str
    subscription_key: Key
    due: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.subscription_key,))


@dataclass(frozen=True, slots=True)
class FireTimer:
    """The timer of a test run fires before it is due; other process instances keep their time."""

    tenant_id: str
    process_instance_key: Key
    timer_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class SetStartTimers:
    """Set the start timers of a version in its home partition, which assigns their keys; sent by the deploying partition."""

    tenant_id: str
    timers: tuple[StartTimer, ...]

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class TriggerStartTimer:
    """Sent by time: the timer of a start event is due."""

    tenant_id: str
    timer_key: Key
    due: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.timer_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishMessage:
    """Publish a message: correlate it now, and to subscriptions that open before its time to live is over.

    An empty `message_id` means none. While a message is buffered, another one with its id is rejected.
    """

    tenant_id: str
    name: str
    correlation_key: str = ""
    time_to_live: timedelta = timedelta()
    message_id: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return HomeOf(self.tenant_id, self.correlation_key)


@dataclass(frozen=True, slots=True)
class CorrelateMessage:
    """Correlate a message now, to at least one process instance, without buffering it."""

    tenant_id: str
    name: str
    correlation_key: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return HomeOf(self.tenant_id, self.correlation_key)


@dataclass(frozen=True, slots=True)
class ContinueMessage:
    """Sent by time: continue a correlation that an earlier command postponed."""

    tenant_id: str
    message_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.message_key,))


@dataclass(frozen=True, slots=True)
class ExpireMessage:
    """Sent by time: the time to live of a message is over."""

    tenant_id: str
    message_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.message_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMessageSubscription:
    """To the home partition: a process instance opened a message subscription, or changed its process id."""

    tenant_id: str
    subscription_key: Key
    process_instance_key: Key
    process_definition_id: str
    message_name: str
    correlation_key: str
    is_to_be_confirmed: bool = False

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class ConfirmMessageSubscription:
    """The home partition confirms that it knows the subscription's process id."""

    tenant_id: str
    subscription_key: Key

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class CloseMessageSubscription:
    """To the home partition: a process instance closed a message subscription."""

    tenant_id: str
    subscription_key: Key

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class DeliverMessage:
    """The home partition delivers a message to the partition of the subscribed process instance."""

    tenant_id: str
    message_key: Key
    subscription_key: Key
    variables: Variables

    @property
    def address(self) -> Address:
        return OwnersOf((self.subscription_key,))


@dataclass(frozen=True, slots=True)
class SettleMessage:
    """To the home partition: whether the process instance accepted the message."""

    tenant_id: str
    message_key: Key
    subscription_key: Key
    is_taken: bool

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class BeginNext:
    """Start the process with the next buffered message of this correlation key, after the previous instance ended.

    The home partition sends it to itself.
    """

    tenant_id: str
    process_definition_id: str
    correlation_key: str

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class EvaluateConditionals:
    """Create process instances at the conditional start events whose conditions these variables meet.

    The start events are those of one version, or of the latest version of each process.
    """

    tenant_id: str
    variables: Variables
    process_definition_key: Key | None = None

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class BroadcastSignal:
    """Broadcast a signal: trigger everything that waits for its name, in all partitions."""

    tenant_id: str
    signal_name: str
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class ReceiveSignal:
    """A signal of another partition, which sends it to every other partition."""

    tenant_id: str
    signal_name: str
    variables: Variables

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class ContinueBroadcast:
    """Sent by time: continue a broadcast that an earlier command postponed."""

    tenant_id: str
    broadcast_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.broadcast_key,))


@dataclass(frozen=True, slots=True)
class CreateBatchOperation:
    """Create a batch operation; its items follow with `AddBatchItems`."""

    tenant_id: str
    action: BatchAction

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class AddBatchItems:
    """Add the next items of a batch operation, in the order of their process instances and keys."""

    tenant_id: str
    batch_operation_key: Key
    items: tuple[BatchItem, ...]

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class StartBatchOperation:
    """Start a batch operation whose items are complete."""

    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ContinueBatchOperation:
    """Sent by time: process the next items of a batch operation, or give up waiting for more items."""

    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ProcessBatchItems:
    """The partition that leads a batch operation asks the partition of the items to process them."""

    tenant_id: str
    batch_operation_key: Key
    action: BatchAction
    requester: Requester
    items: tuple[BatchItem, ...]

    @property
    def address(self) -> Address:
        return OwnersOf(self.process_instance_keys)

    @property
    def process_instance_keys(self) -> tuple[Key, ...]:
        keys = (item.process_instance_key for item in self.items)
        return tuple(key for key in keys if key is not None)


@dataclass(frozen=True, slots=True)
class SettleBatchItems:
    """To the leading partition: the errors of the first items in hand, None for each item that succeeded."""

    tenant_id: str
    batch_operation_key: Key
    errors: tuple[str | None, ...]

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class SuspendBatchOperation:
    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ResumeBatchOperation:
    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class CancelBatchOperation:
    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ResolveIncident:
    tenant_id: str
    incident_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.incident_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetVariables:
    """Set variables at an element instance, or at the process instance, whose element instance has the same key.

    Local variables are set in that scope. Others update the innermost variable with their name, or are
    created at the process instance.
    """

    tenant_id: str
    process_instance_key: Key
    element_instance_key: Key
    variables: Variables
    is_local: bool = False

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateAdHocSubProcessActivities:
    """Activate elements of an active ad-hoc sub-process; `cancels_remaining` terminates its earlier children."""

    tenant_id: str
    process_instance_key: Key
    ad_hoc_sub_process_instance_key: Key
    elements: tuple[Activation, ...]
    cancels_remaining: bool = False

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignUserTask:
    tenant_id: str
    user_task_key: Key
    assignee: str
    allow_override: bool = True
    action: str = "assign"

    @property
    def address(self) -> Address:
        return OwnersOf((self.user_task_key,))


@dataclass(frozen=True, slots=True)
class UnassignUserTask:
    tenant_id: str
    user_task_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.user_task_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateUserTask:
    """Update the values of a user task; None leaves a value as it is."""

    tenant_id: str
    user_task_key: Key
    candidate_groups: tuple[str, ...] | None = None
    candidate_users: tuple[str, ...] | None = None
    due_date: DateChange | None = None
    follow_up_date: DateChange | None = None
    priority: int | None = None
    action: str = "update"

    @property
    def address(self) -> Address:
        return OwnersOf((self.user_task_key,))


@dataclass(frozen=True, slots=True)
class CompleteUserTask:
    tenant_id: str
    user_task_key: Key
    variables: Variables = field(default_factory=dict)
    action: str = "complete"

    @property
    def address(self) -> Address:
        return OwnersOf((self.user_task_key,))


@dataclass(frozen=True, slots=True)
class CreateClusterVariable:
    """Create a cluster variable with a JSON text, for all tenants if `is_global`, else for the caller's tenant."""

    tenant_id: str
    name: str
    value: str
    is_global: bool = False

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class UpdateClusterVariable:
    tenant_id: str
    name: str
    value: str
    is_global: bool = False

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class DeleteClusterVariable:
    tenant_id: str
    name: str
    is_global: bool = False

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptClusterVariable:
    """Set a cluster variable that another partition set."""

    tenant_id: str
    variable: ClusterVariableSet

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class AdoptClusterVariableDeletion:
    """Delete a cluster variable that another partition deleted."""

    tenant_id: str
    variable: ClusterVariableSet

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class CreateGlobalTaskListener:
    """Create a task listener for every native user task of the tenant.

    `event_types` are spelled as in models, or `all`.
    """

    tenant_id: str
    id: str
    type: str
    event_types: tuple[str, ...]
    retries: int = 3
    after_non_global: bool = False
    priority: int = 50

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class UpdateGlobalTaskListener:
    """Replace everything of a global task listener except its id."""

    tenant_id: str
    id: str
    type: str
    event_types: tuple[str, ...]
    retries: int = 3
    after_non_global: bool = False
    priority: int = 50

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class DeleteGlobalTaskListener:
    tenant_id: str
    id: str

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptGlobalTaskListener:
    """Set a global task listener that another partition set."""

    tenant_id: str
    listener: GlobalTaskListenerSet

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class AdoptGlobalTaskListenerDeletion:
    """Delete a global task listener that another partition deleted."""

    tenant_id: str
    listener: GlobalTaskListenerSet

    @property
    def address(self) -> Address:
        return HERE


Command = (
    DeployResources
    | AdoptDefinition
    | DeleteResource
    | AdoptDeletion
    | EvaluateDecision
    | CreateClusterVariable
    | UpdateClusterVariable
    | DeleteClusterVariable
    | AdoptClusterVariable
    | AdoptClusterVariableDeletion
    | CreateGlobalTaskListener
    | UpdateGlobalTaskListener
    | DeleteGlobalTaskListener
    | AdoptGlobalTaskListener
    | AdoptGlobalTaskListenerDeletion
    | CreateProcessInstance
    | CancelProcessInstance
    | DeleteProcessInstance
    | DeleteDecisionInstance
    | ContinueProcessInstance
    | MigrateProcessInstance
    | ModifyProcessInstance
    | ActivateJobs
    | YieldJobs
    | CompleteJob
    | FailJob
    | ThrowJobError
    | UpdateJob
    | TimeOutJob
    | EndJobBackOff
    | TriggerTimer
    | FireTimer
    | SetStartTimers
    | TriggerStartTimer
    | PublishMessage
    | CorrelateMessage
    | ContinueMessage
    | ExpireMessage
    | OpenMessageSubscription
    | ConfirmMessageSubscription
    | CloseMessageSubscription
    | DeliverMessage
    | SettleMessage
    | BeginNext
    | EvaluateConditionals
    | BroadcastSignal
    | ReceiveSignal
    | ContinueBroadcast
    | CreateBatchOperation
    | AddBatchItems
    | StartBatchOperation
    | ContinueBatchOperation
    | ProcessBatchItems
    | SettleBatchItems
    | SuspendBatchOperation
    | ResumeBatchOperation
    | CancelBatchOperation
    | ResolveIncident
    | SetVariables
    | ActivateAdHocSubProcessActivities
    | AssignUserTask
    | UnassignUserTask
    | UpdateUserTask
    | CompleteUserTask
)
