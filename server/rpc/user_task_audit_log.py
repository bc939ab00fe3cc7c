"""The entries of the audit log about one user task."""

from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import audit_entry_pb2, audit_log_pb2
from gnomon.engine.v1 import user_task_service_pb2 as pb
from server.partition.audit import USER_TASK
from server.platform.call import Call
from server.platform.query import equals, parse
from server.store.entities import AuditEntry
from server.store.ports import Store
from server.store.searchables import AUDIT_ENTRIES


async def search_audit_logs(
    store: Store, request: pb.SearchUserTaskAuditLogsRequest, call: Call
) -> pb.SearchUserTaskAuditLogsResponse:
    """Changes of the user task, refused commands and denials of listeners."""
    also = (
        equals(AUDIT_ENTRIES, "entity_key", request.user_task_key),
        equals(AUDIT_ENTRIES, "entity_type", USER_TASK),
    )
    query = parse(AUDIT_ENTRIES, request, also=also)
    page = await store.search(AuditEntry, query, tenant_id=call.tenant_id)
    response = pb.SearchUserTaskAuditLogsResponse(items=map(_audit_log, page.items))
    response.page.total_items = page.total
    if page.start_cursor is not None and page.end_cursor is not None:
        response.page.start_cursor, response.page.end_cursor = page.start_cursor, page.end_cursor
    return response


def _audit_log(row: AuditEntry) -> audit_log_pb2.AuditLog:
    timestamp = Timestamp()
    timestamp.FromDatetime(row.timestamp)
    return audit_log_pb2.AuditLog(
        audit_log_key=row.audit_entry_key,
        entity_key=str(row.entity_key),
        entity_type=row.entity_type,
        operation_type=audit_log_pb2.AuditLogOperationType.Value(
            f"AUDIT_LOG_OPERATION_TYPE_{row.operation_type}"
        ),
        timestamp=timestamp,
        actor_id=row.actor_id or None,
        actor_type=audit_log_pb2.AuditLogActorType.Value(f"AUDIT_LOG_ACTOR_TYPE_{row.actor_type}"),
        tenant_id=row.tenant_id,
        form_key=row.form_key,
        result=audit_entry_pb2.AuditResult.Value(f"AUDIT_RESULT_{row.result}"),
        category=audit_entry_pb2.AUDIT_CATEGORY_USER_TASKS,
        process_definition_key=row.process_definition_key,
        process_instance_key=row.process_instance_key,
        root_process_instance_key=row.root_process_instance_key,
        element_instance_key=row.element_instance_key,
        user_task_key=row.entity_key,
        batch_operation_key=None if row.batch_operation_key is None else str(row.batch_operation_key),
        batch_operation_type=row.batch_operation_type,
    )
