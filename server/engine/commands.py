"""Commands of the engine, in the imperative.

Commands name their tenant: what another tenant owns does not exist for callers, and what is due waits in the line of
its tenant. `address` says which partition a command goes to, and which process instance it needs there.
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
    """A file that was read and found fit: `process_ids` are the executable processes in it."""

    name: str
    content: bytes
    checksum: str
    process_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedDecision:
    """A decision by what its model calls it, and the tag of its version."""

    id: str
    name: str
    version_tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionModel:
    """A file that was read and found fit: a requirements graph with the decisions in it.

    `imports` are the contents of the models that it imports; the checksum is of them, too.
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
    """A file that was read and found fit: a form."""

    name: str
    schema: str
    checksum: str
    form_id: str
    version_tag: str | None


@dataclass(frozen=True, slots=True)
class GenericFile:
    """A file that was read and found fit: a generic resource."""

    name: str
    content: str
    checksum: str
    resource_id: str
    version_tag: str | None


@dataclass(frozen=True, slots=True)
class DeployResources:
    """`generic` are the generic resources among the files."""

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
    """Another partition deployed a process definition, a requirements graph, a form or a generic resource."""

    definition: (
        ProcessDefinitionDeployed | DecisionRequirementsDeployed | FormDeployed | GenericResourceDeployed
    )

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class DeleteResource:
    """Names a process definition, a requirements graph with all of its decisions, a form or a generic resource."""

    tenant_id: str
    resource_key: Key

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptDeletion:
    """Another partition deleted a process definition, a requirements graph, a form or a generic resource."""

    tenant_id: str
    resource_key: Key

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateDecision:
    """Names its decision by key, or by id (the latest version)."""

    tenant_id: str
    decision_definition_key: Key | None = None
    decision_definition_id: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateProcessInstance:
    """Names its definition by key, or by id and version (None: the latest).

    It begins at the `start_element_ids`, without any at its none start event, and is terminated when an element of
    `terminates_after` has ended.
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
        """Instances with the same business id live in one partition."""
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
    """Delete the history of an ended process instance; `is_stored` says that the store has rows of it."""

    tenant_id: str
    process_instance_key: Key
    is_stored: bool

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class DeleteDecisionInstance:
    """Delete what is stored of an evaluation: its decisions up to the `last_place`, which is 0 when nothing is."""

    tenant_id: str
    decision_evaluation_key: Key
    last_place: int

    @property
    def address(self) -> Address:
        return OwnersOf((self.decision_evaluation_key,))


@dataclass(frozen=True, slots=True)
class ContinueProcessInstance:
    """Time: go on with the work that an earlier command left in the process instance."""

    tenant_id: str
    process_instance_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class MappingInstruction:
    """Where an element of the source goes, or a sequence flow that waits at a joining gateway."""

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
    """Variables of a flow scope of the element that is activated, or of the element itself; an empty id is the process."""

    scope_id: str
    variables: Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateInstruction:
    """Where to activate an element; without an ancestor, in the only instance of its flow scope, or in a new one."""

    element_id: str
    ancestor_element_instance_key: Key | None = None
    variable_instructions: tuple[VariableInstruction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminateInstruction:
    """Names one element instance by its key, or all of an element by its id."""

    element_instance_key: Key | None = None
    element_id: str = ""


class AncestorScopeType(StrEnum):
    """Which ancestor the target of a move has, as the wire spells it.

    `INFERRED` is the innermost flow scope instance of the source that is one of the target, too.
    """

    DIRECT = "direct"
    INFERRED = "inferred"
    SOURCE_PARENT = "sourceParent"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveInstruction:
    """Activates the target for each source, which is terminated: one by its key, or all of an element by its id."""

    source_element_instance_key: Key | None = None
    source_element_id: str = ""
    target_element_id: str
    ancestor_scope_type: AncestorScopeType = AncestorScopeType.DIRECT
    ancestor_element_instance_key: Key | None = None
    variable_instructions: tuple[VariableInstruction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyProcessInstance:
    """Elements are activated before others are terminated, so that no scope ends between the two."""

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
    """`fetch_variables` empty means every visible variable.

    The variables of all jobs have `max_octets` at most. Without a number they have those of one answer at most, and at
    least one job is activated, however large.
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
    """Activated jobs, each with the deadline that it got, never reached their worker: offer them again."""

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
    """A worker gives an activated job back."""

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
    """Time: the deadline that the job had has passed."""

    tenant_id: str
    job_key: Key
    deadline: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True)
class EndJobBackOff:
    """Time: the job may be offered again."""

    tenant_id: str
    job_key: Key
    offered_at: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True)
class TriggerTimer:
    """Time: the timer of a subscription is due."""

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
    """The partition that deploys has the home of a version set its timers, one or more, which have no keys yet."""

    tenant_id: str
    timers: tuple[StartTimer, ...]

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class TriggerStartTimer:
    """Time: a timer that begins process instances is due."""

    tenant_id: str
    timer_key: Key
    due: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.timer_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishMessage:
    """Correlate a message now, and to what begins to wait for it before its time to live is over.

    An empty `message_id` is none; another one is published once as long as the message is buffered.
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
    """Correlate a message now, to at least one process instance; it is not buffered."""

    tenant_id: str
    name: str
    correlation_key: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return HomeOf(self.tenant_id, self.correlation_key)


@dataclass(frozen=True, slots=True)
class ContinueMessage:
    """Time: correlate a message further, with which an earlier command did not come to an end."""

    tenant_id: str
    message_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.message_key,))


@dataclass(frozen=True, slots=True)
class ExpireMessage:
    """Time: the time to live of a message is over."""

    tenant_id: str
    message_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.message_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMessageSubscription:
    """To the home partition: a process instance waits for a message, or does so under another process id."""

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
    """From the home partition: it knows under which process id the process instance waits."""

    tenant_id: str
    subscription_key: Key

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class CloseMessageSubscription:
    """To the home partition: a process instance waits for a message no longer."""

    tenant_id: str
    subscription_key: Key

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class DeliverMessage:
    """From the home partition, to that of the process instance."""

    tenant_id: str
    message_key: Key
    subscription_key: Key
    variables: Variables

    @property
    def address(self) -> Address:
        return OwnersOf((self.subscription_key,))


@dataclass(frozen=True, slots=True)
class SettleMessage:
    """To the home partition: whether the process instance took the message."""

    tenant_id: str
    message_key: Key
    subscription_key: Key
    is_taken: bool

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class BeginNext:
    """Within the home partition: the process instance that a message with this correlation key began has ended."""

    tenant_id: str
    process_definition_id: str
    correlation_key: str

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class EvaluateConditionals:
    """Begin process instances at the start events whose conditions these variables meet.

    Of one version of a process, or of the latest version of each.
    """

    tenant_id: str
    variables: Variables
    process_definition_key: Key | None = None

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class BroadcastSignal:
    """Trigger everything that waits for a signal of this name, in all partitions."""

    tenant_id: str
    signal_name: str
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class ReceiveSignal:
    """From the partition where a signal was broadcast or thrown, to every other one."""

    tenant_id: str
    signal_name: str
    variables: Variables

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class ContinueBroadcast:
    """Time: go on with a broadcast, with which an earlier command did not come to an end."""

    tenant_id: str
    broadcast_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.broadcast_key,))


@dataclass(frozen=True, slots=True)
class CreateBatchOperation:
    """Begin a batch operation, whose items follow."""

    tenant_id: str
    action: BatchAction

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class AddBatchItems:
    """The next items of a batch operation, in the order of their process instances and keys."""

    tenant_id: str
    batch_operation_key: Key
    items: tuple[BatchItem, ...]

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class StartBatchOperation:
    """A batch operation has all of its items."""

    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ContinueBatchOperation:
    """Time: go on with the next items of a batch operation, or give up to wait for its items."""

    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ProcessBatchItems:
    """From the partition that leads a batch operation, to that of the items."""

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
    """To the partition that leads: why the first of the items in hand failed, None for those that did not."""

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
    """At an element instance, or at the process instance, which is the element instance with its own key.

    Local variables belong to that scope; others change the innermost of their name, or become ones of the process
    instance.
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
    """Activate elements of an active ad-hoc sub-process; `cancels_remaining` terminates what was active in it."""

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
    """None leaves a value as it is."""

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
    """The value is JSON text. A global variable belongs to all tenants, another one to the caller's."""

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
    """Another partition set a cluster variable."""

    tenant_id: str
    variable: ClusterVariableSet

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class AdoptClusterVariableDeletion:
    """Another partition deleted a cluster variable."""

    tenant_id: str
    variable: ClusterVariableSet

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class CreateGlobalTaskListener:
    """Ask a job worker about every native user task of the tenant; `event_types` are spelled as in models, or `all`."""

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
    """All of the listener but its id is new."""

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
    """Another partition set a global task listener."""

    tenant_id: str
    listener: GlobalTaskListenerSet

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class AdoptGlobalTaskListenerDeletion:
    """Another partition deleted a global task listener."""

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
