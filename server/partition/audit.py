"""The audit log: an entry for every command of a caller, rejected ones included.

Due commands, commands of other partitions and job activations have no entries; a job's entry is written when
the worker completes or fails it. Changes of user tasks are in `user_task_audit`; of the commands for user
tasks, only rejected ones are here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

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
    timer_commands,
    user_task_commands,
)
from server.engine.answers import (
    DONE,
    Answer,
    BatchOperationCreated,
    ChangedClusterVariable,
    ChangedGlobalTaskListener,
    CorrelatedMessage,
    CreatedInstance,
    DecisionResult,
    Deployment,
    EvaluatedConditionals,
    PublishedMessage,
    SignalBroadcast,
)
from server.engine.events import InstanceHead
from server.engine.keys import Key
from server.partition.origin import Origin
from server.platform.errors import ServiceError
from server.store.entities import AuditEntry, AuditResult

PROCESS_INSTANCE = "PROCESS_INSTANCE"
USER_TASK = "USER_TASK"
# A signal concerns many process instances, so its entry names none.
SIGNAL = "SIGNAL"
# An evaluation concerns the conditional start events of any number of processes.
CONDITIONAL = "CONDITIONAL"
BATCH = "BATCH"
VARIABLE = "VARIABLE"
GLOBAL_LISTENER = "GLOBAL_LISTENER"
LONGEST_DETAIL = 2_000


class Audited(NamedTuple):
    """The audited names of a command and its entity.

    `key` is the command field with the entity's key, `id` the field with its name; the API request has the
    same fields.
    """

    entity_type: str
    operation_type: str
    key: str | None = None
    id: str | None = None


AUDITED: Mapping[type, Audited] = {
    deployment_commands.DeployResources: Audited("RESOURCE", "CREATE"),
    deployment_commands.DeleteResource: Audited("RESOURCE", "DELETE", "resource_key"),
    decision_commands.EvaluateDecision: Audited("DECISION", "EVALUATE"),
    decision_commands.DeleteDecisionInstance: Audited("DECISION", "DELETE", "decision_evaluation_key"),
    process_instance_commands.CreateProcessInstance: Audited(PROCESS_INSTANCE, "CREATE"),
    process_instance_commands.CancelProcessInstance: Audited(
        PROCESS_INSTANCE, "CANCEL", "process_instance_key"
    ),
    process_instance_commands.DeleteProcessInstance: Audited(
        PROCESS_INSTANCE, "DELETE", "process_instance_key"
    ),
    migration_commands.MigrateProcessInstance: Audited(PROCESS_INSTANCE, "MIGRATE", "process_instance_key"),
    modification_commands.ModifyProcessInstance: Audited(PROCESS_INSTANCE, "MODIFY", "process_instance_key"),
    timer_commands.FireTimer: Audited(PROCESS_INSTANCE, "UPDATE", "process_instance_key"),
    job_commands.CompleteJob: Audited("JOB", "COMPLETE", "job_key"),
    job_commands.FailJob: Audited("JOB", "FAIL", "job_key"),
    job_commands.ThrowJobError: Audited("JOB", "THROW_ERROR", "job_key"),
    job_commands.UpdateJob: Audited("JOB", "UPDATE", "job_key"),
    process_instance_commands.ResolveIncident: Audited("INCIDENT", "RESOLVE", "incident_key"),
    process_instance_commands.SetVariables: Audited(VARIABLE, "UPDATE", "element_instance_key"),
    cluster_variable_commands.CreateClusterVariable: Audited(VARIABLE, "CREATE", id="name"),
    cluster_variable_commands.UpdateClusterVariable: Audited(VARIABLE, "UPDATE", id="name"),
    cluster_variable_commands.DeleteClusterVariable: Audited(VARIABLE, "DELETE", id="name"),
    global_task_listener_commands.CreateGlobalTaskListener: Audited(GLOBAL_LISTENER, "CREATE", id="id"),
    global_task_listener_commands.UpdateGlobalTaskListener: Audited(GLOBAL_LISTENER, "UPDATE", id="id"),
    global_task_listener_commands.DeleteGlobalTaskListener: Audited(GLOBAL_LISTENER, "DELETE", id="id"),
    process_instance_commands.ActivateAdHocSubProcessActivities: Audited(
        "ELEMENT_INSTANCE", "ACTIVATE", "ad_hoc_sub_process_instance_key"
    ),
    user_task_commands.AssignUserTask: Audited(USER_TASK, "ASSIGN", "user_task_key"),
    user_task_commands.UnassignUserTask: Audited(USER_TASK, "UNASSIGN", "user_task_key"),
    user_task_commands.UpdateUserTask: Audited(USER_TASK, "UPDATE", "user_task_key"),
    user_task_commands.CompleteUserTask: Audited(USER_TASK, "COMPLETE", "user_task_key"),
    message_commands.PublishMessage: Audited("MESSAGE", "CREATE"),
    message_commands.CorrelateMessage: Audited("MESSAGE", "CORRELATE"),
    signal_commands.BroadcastSignal: Audited(SIGNAL, "CREATE"),
    signal_commands.EvaluateConditionals: Audited(CONDITIONAL, "EVALUATE"),
    batch_commands.CreateBatchOperation: Audited(BATCH, "CREATE"),
    batch_commands.SuspendBatchOperation: Audited(BATCH, "SUSPEND", "batch_operation_key"),
    batch_commands.ResumeBatchOperation: Audited(BATCH, "RESUME", "batch_operation_key"),
    batch_commands.CancelBatchOperation: Audited(BATCH, "CANCEL", "batch_operation_key"),
}


class Concerned(NamedTuple):
    """The process instance that a command changed, or the user task that a rejected command concerns."""

    head: InstanceHead | None = None
    element_instance_key: Key | None = None
    form_key: Key | None = None


NOTHING = Concerned()


def audit_entry(
    command: commands.Command,
    origin: Origin,
    result: Answer | ServiceError,
    now: datetime,
    *,
    concerned: Concerned = NOTHING,
) -> AuditEntry | None:
    """The audit entry for a command and its result; None if the command is not audited here."""
    audited = AUDITED.get(type(command))
    if audited is None:
        return None
    if isinstance(result, ServiceError):
        entry = refused_entry(audited, command, origin, result, now)
    elif audited.entity_type == USER_TASK:
        return None
    else:
        entry = _entry(audited, command, origin, now)
    head = concerned.head
    if head is not None and audited.entity_type not in {SIGNAL, CONDITIONAL}:
        entry.process_instance_key = head.key
        entry.process_definition_key = head.process_definition_key
        entry.root_process_instance_key = head.root_key
        entry.element_instance_key = concerned.element_instance_key
        entry.form_key = concerned.form_key
    if result is not DONE:
        _note_entity(entry, result)
    _note_batch_operation(entry, command)
    return entry


def _note_entity(entry: AuditEntry, result: Answer | ServiceError) -> None:
    """Set the key of the entity that the command created."""
    match result:
        case CreatedInstance(head):
            entry.entity_key = head.key
        case (
            Deployment(key)
            | PublishedMessage(key)
            | CorrelatedMessage(key)
            | SignalBroadcast(key)
            | EvaluatedConditionals(key)
            | BatchOperationCreated(key)
            | ChangedClusterVariable(key)
            | ChangedGlobalTaskListener(key)
        ):
            entry.entity_key = key
        case DecisionResult(evaluation):
            entry.entity_key = evaluation.key
        case _:
            pass


def _note_batch_operation(entry: AuditEntry, command: commands.Command) -> None:
    if entry.entity_type == BATCH:
        entry.batch_operation_key = entry.entity_key
        if isinstance(command, batch_commands.CreateBatchOperation):
            entry.batch_operation_type = command.action.type


def refused_entry(
    audited: Audited, named: object, origin: Origin, refusal: ServiceError, now: datetime
) -> AuditEntry:
    """The entry of a rejected command; `named` is the command or its request, and has the entity's key."""
    entry = _entry(audited, named, origin, now)
    entry.result = AuditResult.FAIL
    entry.reason, entry.detail = refusal.reason, refusal.detail[:LONGEST_DETAIL]
    return entry


def _entry(audited: Audited, named: object, origin: Origin, now: datetime) -> AuditEntry:
    key = _key(audited, named)
    return AuditEntry(
        tenant_id=origin.tenant_id,
        timestamp=now,
        operation_type=audited.operation_type,
        result=AuditResult.SUCCESS,
        actor_type=origin.actor_type,
        actor_id=origin.actor_id,
        entity_type=audited.entity_type,
        entity_key=key,
        entity_id=getattr(named, audited.id) if audited.id else None,
        process_instance_key=key if audited.entity_type == PROCESS_INSTANCE else None,
        operation_reference=origin.operation_reference,
        request_id=origin.request_id,
    )


def _key(audited: Audited, named: object) -> Key | None:
    """The entity's key, or None for a number that no entity can have."""
    key: Key = getattr(named, audited.key) if audited.key else Key(0)
    return key if key > 0 else None
