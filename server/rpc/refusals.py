"""Audit entries for commands that are refused before a partition receives them, and for refused identity changes.

An entry belongs to a tenant. A caller of several tenants that was refused before one was selected leaves no
entry.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from server.engine import (
    batch_commands,
    cluster_variable_commands,
    decision_commands,
    deployment_commands,
    global_task_listener_commands,
    job_commands,
    message_commands,
    migration_commands,
    modification_commands,
    process_instance_commands,
    signal_commands,
    timer_commands,
    user_task_commands,
)
from server.partition.audit import AUDITED, LONGEST_DETAIL, Audited, refused_entry
from server.partition.origin import Origin
from server.platform.audit import note_of
from server.platform.call import Call, TenantId
from server.platform.clock import Clock, to_the_millisecond
from server.platform.errors import ServiceError, Unavailable
from server.rpc.origin import operation_reference_of
from server.store.entities import AuditEntry, AuditResult

AUDITED_RPCS: Mapping[str, Audited] = {
    "CreateDeployment": AUDITED[deployment_commands.DeployResources],
    "DeleteResource": AUDITED[deployment_commands.DeleteResource],
    "EvaluateDecision": AUDITED[decision_commands.EvaluateDecision],
    "DeleteDecisionInstance": AUDITED[decision_commands.DeleteDecisionInstance],
    # process instances
    "CreateProcessInstance": AUDITED[process_instance_commands.CreateProcessInstance],
    # Refused as a whole: the entry names no process instance.
    "CreateProcessInstances": AUDITED[process_instance_commands.CreateProcessInstance]._replace(key=None),
    "CancelProcessInstance": AUDITED[process_instance_commands.CancelProcessInstance],
    "DeleteProcessInstance": AUDITED[process_instance_commands.DeleteProcessInstance],
    "AcceptCancellation": AUDITED[process_instance_commands.CancelProcessInstance],
    "MigrateProcessInstance": AUDITED[migration_commands.MigrateProcessInstance],
    "AcceptMigration": AUDITED[migration_commands.MigrateProcessInstance],
    "ModifyProcessInstance": AUDITED[modification_commands.ModifyProcessInstance],
    "FireTimer": AUDITED[timer_commands.FireTimer],
    # jobs
    "CompleteJob": AUDITED[job_commands.CompleteJob],
    # Refused as a whole: the entry names no job.
    "CompleteJobs": AUDITED[job_commands.CompleteJob]._replace(key=None),
    "FailJob": AUDITED[job_commands.FailJob],
    "ThrowJobError": AUDITED[job_commands.ThrowJobError],
    "UpdateJob": AUDITED[job_commands.UpdateJob],
    # user tasks
    "AssignUserTask": AUDITED[user_task_commands.AssignUserTask],
    "UnassignUserTask": AUDITED[user_task_commands.UnassignUserTask],
    "UpdateUserTask": AUDITED[user_task_commands.UpdateUserTask],
    "CompleteUserTask": AUDITED[user_task_commands.CompleteUserTask],
    # incidents
    "ResolveIncident": AUDITED[process_instance_commands.ResolveIncident],
    # variables
    "CreateElementInstanceVariables": AUDITED[process_instance_commands.SetVariables],
    "CreateGlobalClusterVariable": AUDITED[cluster_variable_commands.CreateClusterVariable],
    "CreateTenantClusterVariable": AUDITED[cluster_variable_commands.CreateClusterVariable],
    "UpdateGlobalClusterVariable": AUDITED[cluster_variable_commands.UpdateClusterVariable],
    "UpdateTenantClusterVariable": AUDITED[cluster_variable_commands.UpdateClusterVariable],
    "DeleteGlobalClusterVariable": AUDITED[cluster_variable_commands.DeleteClusterVariable],
    "DeleteTenantClusterVariable": AUDITED[cluster_variable_commands.DeleteClusterVariable],
    # global task listeners
    "CreateGlobalTaskListener": AUDITED[global_task_listener_commands.CreateGlobalTaskListener],
    "UpdateGlobalTaskListener": AUDITED[global_task_listener_commands.UpdateGlobalTaskListener],
    "DeleteGlobalTaskListener": AUDITED[global_task_listener_commands.DeleteGlobalTaskListener],
    # element instances
    "ActivateAdHocSubProcessActivities": AUDITED[process_instance_commands.ActivateAdHocSubProcessActivities],
    # messages
    "PublishMessage": AUDITED[message_commands.PublishMessage],
    "CorrelateMessage": AUDITED[message_commands.CorrelateMessage],
    # conditions
    "EvaluateConditionals": AUDITED[signal_commands.EvaluateConditionals],
    # batch operations
    "CancelProcessInstancesBatchOperation": AUDITED[batch_commands.CreateBatchOperation],
    "DeleteDecisionInstancesBatchOperation": AUDITED[batch_commands.CreateBatchOperation],
    "DeleteProcessInstancesBatchOperation": AUDITED[batch_commands.CreateBatchOperation],
    "EraseVariablesBatchOperation": AUDITED[batch_commands.CreateBatchOperation],
    "MigrateProcessInstancesBatchOperation": AUDITED[batch_commands.CreateBatchOperation],
    "ModifyProcessInstancesBatchOperation": AUDITED[batch_commands.CreateBatchOperation],
    "ResolveIncidentsBatchOperation": AUDITED[batch_commands.CreateBatchOperation],
    "ResolveProcessInstanceIncidents": AUDITED[batch_commands.CreateBatchOperation],
    "SuspendBatchOperation": AUDITED[batch_commands.SuspendBatchOperation],
    "ResumeBatchOperation": AUDITED[batch_commands.ResumeBatchOperation],
    "CancelBatchOperation": AUDITED[batch_commands.CancelBatchOperation],
    # signals
    "BroadcastSignal": AUDITED[signal_commands.BroadcastSignal],
}


class AuditTrail(Protocol):
    """Port of the audit log, which writes entries later."""

    def note(self, entry: AuditEntry) -> None:
        """Accept an entry, without waiting or failing."""
        ...


class Refusals:
    """Writes audit entries for calls that a dispatcher refused.

    Refused identity changes are left out until `keeps_identity`, because nodes of older versions cannot read
    them.
    """

    def __init__(self, trail: AuditTrail, clock: Clock, keeps_identity: Callable[[], bool]) -> None:
        self._trail = trail
        self._clock = clock
        self._keeps_identity = keeps_identity

    def __call__(self, call: Call, refusal: ServiceError) -> None:
        tenant_id = tenant_of(call)
        entry = self._entry(call, tenant_id, refusal) if tenant_id is not None else None
        if entry is not None:
            self._trail.note(entry)

    def _entry(self, call: Call, tenant_id: TenantId, refusal: ServiceError) -> AuditEntry | None:
        now = to_the_millisecond(self._clock.now())
        audited = AUDITED_RPCS.get(call.policy.name)
        if audited is not None:
            return refused_entry(audited, call.request, _origin(call, tenant_id), refusal, now)
        if call.policy.audit is None or not self._keeps_identity():
            return None
        if isinstance(refusal, Unavailable):
            # The change may have been committed together with its own entry.
            return None
        note = note_of(call, now)
        return AuditEntry(
            tenant_id=tenant_id,
            timestamp=now,
            operation_type=note.operation_type,
            result=AuditResult.FAIL,
            actor_type=note.actor_type,
            actor_id=note.actor_id,
            entity_type=note.entity_type,
            entity_id=note.entity_id,
            related_entity_type=note.related_entity_type,
            related_entity_id=note.related_entity_id,
            request_id=note.request_id,
            reason=refusal.reason,
            detail=refusal.detail[:LONGEST_DETAIL],
        )


def tenant_of(call: Call) -> TenantId | None:
    """The selected tenant, or the caller's only tenant."""
    own = call.principal.tenant_ids
    return call.tenant_id or (next(iter(own)) if len(own) == 1 else None)


def _origin(call: Call, tenant_id: TenantId) -> Origin:
    return Origin(
        tenant_id=tenant_id,
        actor_id=call.principal.actor_id,
        request_id=call.request_id,
        operation_reference=operation_reference_of(call.request),
        actor_type=call.principal.actor_type,
    )
