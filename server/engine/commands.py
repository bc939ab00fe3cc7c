"""Commands of the engine, in the imperative.

Commands name their tenant: entities of other tenants do not exist for the caller, and due commands queue per
tenant. `address` is the partition that handles the command, with the process instances that it needs there.
"""

from server.engine.batch_commands import (
    AddBatchItems,
    CancelBatchOperation,
    ContinueBatchOperation,
    CreateBatchOperation,
    ProcessBatchItems,
    ResumeBatchOperation,
    SettleBatchItems,
    StartBatchOperation,
    SuspendBatchOperation,
)
from server.engine.cluster_variable_commands import (
    AdoptClusterVariable,
    AdoptClusterVariableDeletion,
    CreateClusterVariable,
    DeleteClusterVariable,
    UpdateClusterVariable,
)
from server.engine.decision_commands import DeleteDecisionInstance, EvaluateDecision
from server.engine.deployment_commands import AdoptDefinition, AdoptDeletion, DeleteResource, DeployResources
from server.engine.global_task_listener_commands import (
    AdoptGlobalTaskListener,
    AdoptGlobalTaskListenerDeletion,
    CreateGlobalTaskListener,
    DeleteGlobalTaskListener,
    UpdateGlobalTaskListener,
)
from server.engine.job_commands import (
    ActivateJobs,
    CompleteJob,
    EndJobBackOff,
    FailJob,
    ThrowJobError,
    TimeOutJob,
    UpdateJob,
    YieldJobs,
)
from server.engine.message_commands import (
    BeginNext,
    CloseMessageSubscription,
    ConfirmMessageSubscription,
    ContinueMessage,
    CorrelateMessage,
    DeliverMessage,
    ExpireMessage,
    OpenMessageSubscription,
    PublishMessage,
    SettleMessage,
)
from server.engine.migration_commands import MigrateProcessInstance
from server.engine.modification_commands import ModifyProcessInstance
from server.engine.process_instance_commands import (
    ActivateAdHocSubProcessActivities,
    CancelProcessInstance,
    ContinueProcessInstance,
    CreateProcessInstance,
    DeleteProcessInstance,
    ResolveIncident,
    SetVariables,
)
from server.engine.signal_commands import (
    BroadcastSignal,
    ContinueBroadcast,
    EvaluateConditionals,
    ReceiveSignal,
)
from server.engine.tenant_commands import MarkTenant, PurgeTenant, ReleaseTenant
from server.engine.timer_commands import FireTimer, SetStartTimers, TriggerStartTimer, TriggerTimer
from server.engine.user_task_commands import (
    AssignUserTask,
    CompleteUserTask,
    UnassignUserTask,
    UpdateUserTask,
)

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
    | MarkTenant
    | PurgeTenant
    | ReleaseTenant
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
