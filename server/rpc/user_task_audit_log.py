"""Searches the audit entries about one user task."""

from gnomon.engine.v1 import user_task_service_pb2 as pb
from server.partition.audit import USER_TASK
from server.platform.call import Call
from server.platform.query import equals, parse
from server.rpc.audit_log_entry import audit_log
from server.rpc.reads import bounded, tell_page
from server.store.entities import AuditEntry
from server.store.ports import Store
from server.store.searchables import AUDIT_ENTRIES


async def search_audit_logs(
    store: Store, request: pb.SearchUserTaskAuditLogsRequest, call: Call
) -> pb.SearchUserTaskAuditLogsResponse:
    """Search changes of the user task, refused commands and denials of listeners."""
    also = (
        equals(AUDIT_ENTRIES, "entity_key", request.user_task_key),
        equals(AUDIT_ENTRIES, "entity_type", USER_TASK),
    )
    query = bounded(parse(AUDIT_ENTRIES, request, also=also))
    page = await store.search(AuditEntry, query, tenant_id=call.tenant_id)
    response = pb.SearchUserTaskAuditLogsResponse(items=map(audit_log, page.items))
    tell_page(response.page, page)
    return response
