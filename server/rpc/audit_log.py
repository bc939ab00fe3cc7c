"""Reads the audit log."""

from collections.abc import Iterator
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import audit_entry_pb2 as entity_pb
from gnomon.engine.v1 import audit_log_service_pb2 as pb
from gnomon.query.v1.page_pb2 import SORT_ORDER_DESC
from server.partition.audit import USER_TASK
from server.platform.call import Call
from server.platform.errors import InvalidArgument, NotFound
from server.platform.mapping import mapper, spellings
from server.platform.query import Condition, Operator, Query, SortKey, Window, equals, parse
from server.platform.query.cursor import position_of
from server.platform.query.model import DEFAULT_LIMIT
from server.rpc.audit_log_entry import CATEGORIES, audit_log
from server.rpc.audit_log_search import AUDIT_LOGS, KNOWN, KNOWN_TYPES
from server.rpc.reads import bounded, found, tell_page
from server.store.entities import AuditEntry
from server.store.ports import Store
from server.store.searchables import AUDIT_ENTRIES

_TIMESTAMP = AUDIT_ENTRIES.fields["timestamp"]
_COMPUTED = frozenset({"category", "user_task_key"})

_entry = mapper(AuditEntry, entity_pb.AuditEntry, ignored=_COMPUTED)


class AuditLogServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def list_audit_entries(
        self, request: pb.ListAuditEntriesRequest, call: Call
    ) -> pb.ListAuditEntriesResponse:
        page = await self._store.search(AuditEntry, bounded(_query(request)), tenant_id=call.tenant_id)
        response = pb.ListAuditEntriesResponse(cursor=page.end_cursor)
        for row in page.items:
            entry = _entry(row, response.items.add)
            entry.category = CATEGORIES[row.entity_type]
            if row.entity_type == USER_TASK and row.entity_key is not None:
                entry.user_task_key = row.entity_key
        return response

    async def search_audit_logs(
        self, request: pb.SearchAuditLogsRequest, call: Call
    ) -> pb.SearchAuditLogsResponse:
        query = bounded(parse(AUDIT_LOGS, request, also=(KNOWN,), default=(SortKey(_TIMESTAMP),)))
        page = await self._store.search(AuditEntry, query, tenant_id=call.tenant_id)
        response = pb.SearchAuditLogsResponse(items=map(audit_log, page.items))
        tell_page(response.page, page)
        return response

    async def get_audit_log(self, request: pb.GetAuditLogRequest, call: Call) -> pb.GetAuditLogResponse:
        row = await found(self._store, AuditEntry, request.audit_log_key, call)
        if row.entity_type not in KNOWN_TYPES:
            raise NotFound(f"there is no audit entry with key {request.audit_log_key}")
        return pb.GetAuditLogResponse(audit_log=audit_log(row))


def _query(request: pb.ListAuditEntriesRequest) -> Query:
    conditions = tuple(_conditions(request))
    is_descending = request.sort_order == SORT_ORDER_DESC
    sort = (SortKey(_TIMESTAMP, is_descending), SortKey(AUDIT_ENTRIES.key, is_descending))
    after = position_of(request.cursor, conditions, sort) if request.HasField("cursor") else None
    return Query(conditions, sort, Window(limit=request.limit or DEFAULT_LIMIT, after=after))


def _conditions(request: pb.ListAuditEntriesRequest) -> Iterator[Condition]:
    for field, value in request.ListFields():
        match field.name:
            case "result":
                yield equals(AUDIT_ENTRIES, field.name, spellings(entity_pb.AuditResult.DESCRIPTOR)[value])
            case "from":
                yield Condition(_TIMESTAMP, Operator.GTE, _instant(field.name, value))
            case "to":
                yield Condition(_TIMESTAMP, Operator.LT, _instant(field.name, value))
            case "sort_order" | "cursor" | "limit":
                pass
            case name:
                yield equals(AUDIT_ENTRIES, name, value)


def _instant(name: str, moment: Timestamp) -> datetime:
    try:
        return moment.ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"{name}: expected a date-time of the years 1 to 9999", field=name) from error
