"""The handlers of commands: one for each type of command, in one table.

A handler rejects before it emits any event.
"""

from collections.abc import Callable, Mapping
from typing import cast

from server.engine import commands
from server.engine.answers import Answer
from server.engine.handlers import (
    ad_hoc_sub_process,
    batch_operation,
    cluster_variable,
    conditional,
    decision,
    deployment,
    global_task_listener,
    incident,
    job,
    job_activation,
    message,
    migration,
    modification,
    process_instance,
    resource,
    signal,
    start_timer,
    timer,
    user_task,
    variable,
)
from server.engine.step import Step

Handler = Callable[[commands.Command, Step], Answer]

HANDLERS: Mapping[type[commands.Command], Handler] = cast(
    "Mapping[type[commands.Command], Handler]",
    {
        commands.DeployResources: deployment.deploy,
        commands.AdoptDefinition: deployment.adopt,
        commands.DeleteResource: resource.delete,
        commands.AdoptDeletion: resource.adopt,
        commands.EvaluateDecision: decision.evaluate,
        commands.DeleteDecisionInstance: decision.delete,
        # process instances
        commands.CreateProcessInstance: process_instance.create,
        commands.CancelProcessInstance: process_instance.cancel,
        commands.DeleteProcessInstance: process_instance.delete,
        commands.ContinueProcessInstance: process_instance.go_on,
        commands.MigrateProcessInstance: migration.migrate,
        commands.ModifyProcessInstance: modification.modify,
        commands.ActivateAdHocSubProcessActivities: ad_hoc_sub_process.activate,
        # jobs
        commands.ActivateJobs: job_activation.activate,
        commands.YieldJobs: job_activation.yield_,
        commands.TimeOutJob: job_activation.time_out,
        commands.EndJobBackOff: job_activation.end_back_off,
        commands.CompleteJob: job.complete,
        commands.FailJob: job.fail,
        commands.ThrowJobError: job.throw_error,
        commands.UpdateJob: job.update,
        # events
        commands.TriggerTimer: timer.trigger,
        commands.FireTimer: timer.fire,
        commands.SetStartTimers: start_timer.set_timers,
        commands.TriggerStartTimer: start_timer.trigger,
        # user tasks
        commands.AssignUserTask: user_task.assign,
        commands.UnassignUserTask: user_task.unassign,
        commands.UpdateUserTask: user_task.update,
        commands.CompleteUserTask: user_task.complete,
        # messages
        commands.PublishMessage: message.publish,
        commands.CorrelateMessage: message.correlate,
        commands.ContinueMessage: message.go_on,
        commands.ExpireMessage: message.expire,
        commands.OpenMessageSubscription: message.open_subscription,
        commands.ConfirmMessageSubscription: message.confirm,
        commands.CloseMessageSubscription: message.close_subscription,
        commands.DeliverMessage: message.deliver,
        commands.SettleMessage: message.settle,
        commands.BeginNext: message.begin_next,
        # batch operations
        commands.CreateBatchOperation: batch_operation.create,
        commands.AddBatchItems: batch_operation.add_items,
        commands.StartBatchOperation: batch_operation.start,
        commands.ContinueBatchOperation: batch_operation.go_on,
        commands.ProcessBatchItems: batch_operation.process,
        commands.SettleBatchItems: batch_operation.settle,
        commands.SuspendBatchOperation: batch_operation.suspend,
        commands.ResumeBatchOperation: batch_operation.resume,
        commands.CancelBatchOperation: batch_operation.cancel,
        # signals
        commands.EvaluateConditionals: conditional.evaluate,
        commands.BroadcastSignal: signal.broadcast,
        commands.ReceiveSignal: signal.receive,
        commands.ContinueBroadcast: signal.go_on,
        # incidents
        commands.ResolveIncident: incident.resolve,
        # variables
        commands.CreateClusterVariable: cluster_variable.create,
        commands.UpdateClusterVariable: cluster_variable.update,
        commands.DeleteClusterVariable: cluster_variable.delete,
        commands.AdoptClusterVariable: cluster_variable.adopt,
        commands.AdoptClusterVariableDeletion: cluster_variable.adopt_deletion,
        commands.CreateGlobalTaskListener: global_task_listener.create,
        commands.UpdateGlobalTaskListener: global_task_listener.update,
        commands.DeleteGlobalTaskListener: global_task_listener.delete,
        commands.AdoptGlobalTaskListener: global_task_listener.adopt,
        commands.AdoptGlobalTaskListenerDeletion: global_task_listener.adopt_deletion,
        commands.SetVariables: variable.set_variables,
    },
)
