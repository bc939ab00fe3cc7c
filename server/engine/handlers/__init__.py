"""The handlers of commands: one for each type of command, in one table.

A handler rejects before it emits any event.
"""

from collections.abc import Callable, Mapping
from typing import cast

from server.engine import (
    batch_commands,
    cluster_variable_commands,
    commands,
    decision_commands,
    deployment_commands,
    global_task_listener_commands,
    job_commands,
    message_commands,
    migration_commands,
    modification_commands,
    process_instance_commands,
    signal_commands,
    tenant_commands,
    timer_commands,
    user_task_commands,
)
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
    tenant,
    timer,
    user_task,
    variable,
)
from server.engine.step import Step

Handler = Callable[[commands.Command, Step], Answer]

HANDLERS: Mapping[type[commands.Command], Handler] = cast(
    "Mapping[type[commands.Command], Handler]",
    {
        deployment_commands.DeployResources: deployment.deploy,
        deployment_commands.AdoptDefinition: deployment.adopt,
        deployment_commands.DeleteResource: resource.delete,
        deployment_commands.AdoptDeletion: resource.adopt,
        decision_commands.EvaluateDecision: decision.evaluate,
        decision_commands.DeleteDecisionInstance: decision.delete,
        # process instances
        process_instance_commands.CreateProcessInstance: process_instance.create,
        process_instance_commands.CancelProcessInstance: process_instance.cancel,
        process_instance_commands.DeleteProcessInstance: process_instance.delete,
        process_instance_commands.ContinueProcessInstance: process_instance.go_on,
        migration_commands.MigrateProcessInstance: migration.migrate,
        modification_commands.ModifyProcessInstance: modification.modify,
        process_instance_commands.ActivateAdHocSubProcessActivities: ad_hoc_sub_process.activate,
        # jobs
        job_commands.ActivateJobs: job_activation.activate,
        job_commands.YieldJobs: job_activation.yield_,
        job_commands.TimeOutJob: job_activation.time_out,
        job_commands.EndJobBackOff: job_activation.end_back_off,
        job_commands.CompleteJob: job.complete,
        job_commands.FailJob: job.fail,
        job_commands.ThrowJobError: job.throw_error,
        job_commands.UpdateJob: job.update,
        # events
        timer_commands.TriggerTimer: timer.trigger,
        timer_commands.FireTimer: timer.fire,
        timer_commands.SetStartTimers: start_timer.set_timers,
        timer_commands.TriggerStartTimer: start_timer.trigger,
        # tenants
        tenant_commands.MarkTenant: tenant.mark,
        tenant_commands.PurgeTenant: tenant.purge,
        tenant_commands.ReleaseTenant: tenant.release,
        # user tasks
        user_task_commands.AssignUserTask: user_task.assign,
        user_task_commands.UnassignUserTask: user_task.unassign,
        user_task_commands.UpdateUserTask: user_task.update,
        user_task_commands.CompleteUserTask: user_task.complete,
        # messages
        message_commands.PublishMessage: message.publish,
        message_commands.CorrelateMessage: message.correlate,
        message_commands.ContinueMessage: message.go_on,
        message_commands.ExpireMessage: message.expire,
        message_commands.OpenMessageSubscription: message.open_subscription,
        message_commands.ConfirmMessageSubscription: message.confirm,
        message_commands.CloseMessageSubscription: message.close_subscription,
        message_commands.DeliverMessage: message.deliver,
        message_commands.SettleMessage: message.settle,
        message_commands.BeginNext: message.begin_next,
        # batch operations
        batch_commands.CreateBatchOperation: batch_operation.create,
        batch_commands.AddBatchItems: batch_operation.add_items,
        batch_commands.StartBatchOperation: batch_operation.start,
        batch_commands.ContinueBatchOperation: batch_operation.go_on,
        batch_commands.ProcessBatchItems: batch_operation.process,
        batch_commands.SettleBatchItems: batch_operation.settle,
        batch_commands.SuspendBatchOperation: batch_operation.suspend,
        batch_commands.ResumeBatchOperation: batch_operation.resume,
        batch_commands.CancelBatchOperation: batch_operation.cancel,
        # signals
        signal_commands.EvaluateConditionals: conditional.evaluate,
        signal_commands.BroadcastSignal: signal.broadcast,
        signal_commands.ReceiveSignal: signal.receive,
        signal_commands.ContinueBroadcast: signal.go_on,
        # incidents
        process_instance_commands.ResolveIncident: incident.resolve,
        # variables
        cluster_variable_commands.CreateClusterVariable: cluster_variable.create,
        cluster_variable_commands.UpdateClusterVariable: cluster_variable.update,
        cluster_variable_commands.DeleteClusterVariable: cluster_variable.delete,
        cluster_variable_commands.AdoptClusterVariable: cluster_variable.adopt,
        cluster_variable_commands.AdoptClusterVariableDeletion: cluster_variable.adopt_deletion,
        global_task_listener_commands.CreateGlobalTaskListener: global_task_listener.create,
        global_task_listener_commands.UpdateGlobalTaskListener: global_task_listener.update,
        global_task_listener_commands.DeleteGlobalTaskListener: global_task_listener.delete,
        global_task_listener_commands.AdoptGlobalTaskListener: global_task_listener.adopt,
        global_task_listener_commands.AdoptGlobalTaskListenerDeletion: global_task_listener.adopt_deletion,
        process_instance_commands.SetVariables: variable.set_variables,
    },
)
