"""The audit log: an entry for every command that somebody asked for, also one that was refused.

What time brings and what other partitions send has no entry of its own, and neither has handing out jobs: what a worker
does with a job is told when it is done.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from server.engine import commands
from server.engine.answers import Answer, CreatedInstance, Deployment
from server.engine.keys import Key
from server.partition.origin import Origin
from server.platform.errors import ServiceError
from server.store.entities import AuditEntry, AuditResult

CLIENT = "CLIENT"


class Audited(NamedTuple):
    """What a command does, to what kind of entity; `key` reads the entity's key from the command."""

    entity_type: str
    operation_type: str
    key: Callable[[Any], Key | None]


def _none(_: object) -> None:
    return None


AUDITED: Mapping[type, Audited] = {
    commands.DeployResources: Audited("RESOURCE", "CREATE", _none),
    commands.CreateProcessInstance: Audited("PROCESS_INSTANCE", "CREATE", _none),
    commands.CancelProcessInstance: Audited(
        "PROCESS_INSTANCE", "CANCEL", lambda command: command.process_instance_key
    ),
    commands.CompleteJob: Audited("JOB", "COMPLETE", lambda command: command.job_key),
    commands.FailJob: Audited("JOB", "FAIL", lambda command: command.job_key),
    commands.ThrowJobError: Audited("JOB", "THROW_ERROR", lambda command: command.job_key),
    commands.UpdateJob: Audited("JOB", "UPDATE", lambda command: command.job_key),
    commands.ResolveIncident: Audited("INCIDENT", "RESOLVE", lambda command: command.incident_key),
}


def audit_entry(
    command: commands.Command, origin: Origin, result: Answer | ServiceError, now: datetime
) -> AuditEntry | None:
    """What the log keeps of a command and what became of it."""
    audited = AUDITED.get(type(command))
    if audited is None:
        return None
    entry = AuditEntry(
        tenant_id=origin.tenant_id,
        timestamp=now,
        operation_type=audited.operation_type,
        result=AuditResult.SUCCESS,
        actor_type=CLIENT,
        actor_id=origin.actor_id,
        entity_type=audited.entity_type,
        entity_key=audited.key(command),
        operation_reference=origin.operation_reference,
        request_id=origin.request_id,
    )
    match result:
        case ServiceError():
            entry.result, entry.reason, entry.detail = AuditResult.FAIL, result.reason, result.detail
        case CreatedInstance(head):
            entry.entity_key = entry.process_instance_key = head.key
            entry.process_definition_key = head.process_definition_key
        case Deployment(key):
            entry.entity_key = key
        case _:
            if audited.entity_type == "PROCESS_INSTANCE":
                entry.process_instance_key = entry.entity_key
    return entry
