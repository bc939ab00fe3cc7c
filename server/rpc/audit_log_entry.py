"""Converts audit entries to the messages of Camunda's API: categories, and keys by the kind of entity."""

from collections.abc import Mapping
from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import audit_entry_pb2, audit_log_pb2
from server.partition.audit import (
    BATCH,
    CONDITIONAL,
    GLOBAL_LISTENER,
    PROCESS_INSTANCE,
    SIGNAL,
    USER_TASK,
    VARIABLE,
)
from server.store.entities import AuditEntry

CATEGORIES: Mapping[str, audit_entry_pb2.AuditCategory.ValueType] = {
    **dict.fromkeys(
        (
            *("RESOURCE", "DECISION", PROCESS_INSTANCE, "JOB", "INCIDENT", VARIABLE, BATCH),
            *("MESSAGE", SIGNAL, CONDITIONAL, "ELEMENT_INSTANCE", GLOBAL_LISTENER),
        ),
        audit_entry_pb2.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    ),
    **dict.fromkeys(
        ("AUTHORIZATION", "ROLE", "GROUP", "TENANT", "MAPPING_RULE", "USER"),
        audit_entry_pb2.AUDIT_CATEGORY_ADMIN,
    ),
    USER_TASK: audit_entry_pb2.AUDIT_CATEGORY_USER_TASKS,
}
"""Audit categories by entity kind."""

OPERATION_TYPES: Mapping[str, audit_log_pb2.AuditLogOperationType.ValueType] = {
    name.removeprefix("AUDIT_LOG_OPERATION_TYPE_"): value
    for name, value in audit_log_pb2.AuditLogOperationType.items()
    if value
}
UNKNOWN = "UNKNOWN"
"""Stands for operation types that Camunda does not have."""


class Kind(NamedTuple):
    """Entries about one kind of entity, for all operations or one."""

    entity_type: str
    operation_type: str | None = None

    def includes(self, row: AuditEntry) -> bool:
        return self.entity_type == row.entity_type and self.operation_type in {None, row.operation_type}


KEYS: Mapping[str, Kind] = {
    "job_key": Kind("JOB"),
    "user_task_key": Kind(USER_TASK),
    "decision_evaluation_key": Kind("DECISION"),
    "deployment_key": Kind("RESOURCE", "CREATE"),
    "resource_key": Kind("RESOURCE", "DELETE"),
}
"""Key members of the message, each with the entity kind whose entries fill it."""


def audit_log(row: AuditEntry) -> audit_log_pb2.AuditLog:
    """An audit entry as a message; entities without a key have their id in its place."""
    timestamp = Timestamp()
    timestamp.FromDatetime(row.timestamp)
    operation_type = row.operation_type if row.operation_type in OPERATION_TYPES else UNKNOWN
    message = audit_log_pb2.AuditLog(
        audit_log_key=row.audit_entry_key,
        entity_key=(row.entity_id or "") if row.entity_key is None else str(row.entity_key),
        entity_type=row.entity_type,
        operation_type=OPERATION_TYPES[operation_type],
        timestamp=timestamp,
        actor_id=row.actor_id or None,
        actor_type=audit_log_pb2.AuditLogActorType.Value(f"AUDIT_LOG_ACTOR_TYPE_{row.actor_type}"),
        tenant_id=row.tenant_id,
        form_key=row.form_key,
        result=audit_entry_pb2.AuditResult.Value(f"AUDIT_RESULT_{row.result}"),
        category=CATEGORIES[row.entity_type],
        process_definition_key=row.process_definition_key,
        process_instance_key=row.process_instance_key,
        root_process_instance_key=row.root_process_instance_key,
        element_instance_key=row.element_instance_key,
        batch_operation_key=None if row.batch_operation_key is None else str(row.batch_operation_key),
        batch_operation_type=row.batch_operation_type,
        related_entity_key=row.related_entity_id,
        related_entity_type=row.related_entity_type,
    )
    for name, kind in KEYS.items():
        if row.entity_key is not None and kind.includes(row):
            setattr(message, name, row.entity_key)
    return message
