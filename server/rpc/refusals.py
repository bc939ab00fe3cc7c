"""Audit entries for commands that are refused before a partition receives them, and for refused identity changes.

An entry belongs to a tenant. A caller of several tenants that was refused before one was selected leaves no
entry.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from server.engine import commands
from server.partition.audit import AUDITED, LONGEST_DETAIL, Audited, refused_entry
from server.partition.origin import Origin
from server.platform.audit import note_of
from server.platform.call import Call, TenantId
from server.platform.clock import Clock, to_the_millisecond
from server.platform.errors import ServiceError, Unavailable
from server.rpc.origin import operation_reference_of
from server.store.entities import AuditEntry, AuditResult

AUDITED_RPCS: Mapping[str, Audited] = {
    "CreateDeployment": AUDITED[commands.DeployResources],
    "DeleteResource": AUDITED[commands.DeleteResource],
    "EvaluateDecision": AUDITED[commands.EvaluateDecision],
    "DeleteDecisionInstance": AUDITED[commands.DeleteDecisionInstance],
    # process instances
    "CreateProcessInstance": AUDITED[commands.CreateProcessInstance],
    # Refused as a whole: the entry names no process instance.
    "CreateProcessInstances": AUDITED[commands.CreateProcessInstance]._replace(key=None),
    "CancelProcessInstance": AUDITED[commands.CancelProcessInstance],
    "DeleteProcessInstance": AUDITED[commands.DeleteProcessInstance],
    "AcceptCancellation": AUDITED[commands.CancelProcessInstance],
    "MigrateProcessInstance": AUDITED[commands.MigrateProcessInstance],
    "AcceptMigration": AUDITED[commands.MigrateProcessInstance],
    "ModifyProcessInstance": AUDITED[commands.ModifyProcessInstance],
    "FireTimer": AUDITED[commands.FireTimer],
    # jobs
    "CompleteJob": AUDITED[commands.CompleteJob],
    # Refused as a whole: the entry names no job.
    "CompleteJobs": AUDITED[commands.CompleteJob]._replace(key=None),
    "FailJob": AUDITED[commands.FailJob],
    "ThrowJobError": AUDITED[commands.ThrowJobError],
    "UpdateJob": AUDITED[commands.UpdateJob],
    # user tasks
    "AssignUserTask": AUDITED[commands.AssignUserTask],
    "UnassignUserTask": AUDITED[commands.UnassignUserTask],
    "UpdateUserTask": AUDITED[commands.UpdateUserTask],
    "CompleteUserTask": AUDITED[commands.CompleteUserTask],
    # incidents
    "ResolveIncident": AUDITED[commands.ResolveIncident],
    # variables
    "CreateElementInstanceVariables": AUDITED[commands.SetVariables],
    "CreateGlobalClusterVariable": AUDITED[commands.CreateClusterVariable],
    "CreateTenantClusterVariable": AUDITED[commands.CreateClusterVariable],
    "UpdateGlobalClusterVariable": AUDITED[commands.UpdateClusterVariable],
    "UpdateTenantClusterVariable": AUDITED[commands.UpdateClusterVariable],
    "DeleteGlobalClusterVariable": AUDITED[commands.DeleteClusterVariable],
    "DeleteTenantClusterVariable": AUDITED[commands.DeleteClusterVariable],
    # global task listeners
    "CreateGlobalTaskListener": AUDITED[commands.CreateGlobalTaskListener],
    "UpdateGlobalTaskListener": AUDITED[commands.UpdateGlobalTaskListener],
    "DeleteGlobalTaskListener": AUDITED[commands.DeleteGlobalTaskListener],
    # element instances
    "ActivateAdHocSubProcessActivities": AUDITED[commands.ActivateAdHocSubProcessActivities],
    # messages
    "PublishMessage": AUDITED[commands.PublishMessage],
    "CorrelateMessage": AUDITED[commands.CorrelateMessage],
    # conditions
    "EvaluateConditionals": AUDITED[commands.EvaluateConditionals],
    # batch operations
    "CancelProcessInstancesBatchOperation": AUDITED[commands.CreateBatchOperation],
    "DeleteDecisionInstancesBatchOperation": AUDITED[commands.CreateBatchOperation],
    "DeleteProcessInstancesBatchOperation": AUDITED[commands.CreateBatchOperation],
    "MigrateProcessInstancesBatchOperation": AUDITED[commands.CreateBatchOperation],
    "ModifyProcessInstancesBatchOperation": AUDITED[commands.CreateBatchOperation],
    "ResolveIncidentsBatchOperation": AUDITED[commands.CreateBatchOperation],
    "ResolveProcessInstanceIncidents": AUDITED[commands.CreateBatchOperation],
    "SuspendBatchOperation": AUDITED[commands.SuspendBatchOperation],
    "ResumeBatchOperation": AUDITED[commands.ResumeBatchOperation],
    "CancelBatchOperation": AUDITED[commands.CancelBatchOperation],
    # signals
    "BroadcastSignal": AUDITED[commands.BroadcastSignal],
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
        actor_id=call.principal.subject,
        request_id=call.request_id,
        operation_reference=operation_reference_of(call.request),
        actor_type=call.principal.actor_type,
    )
