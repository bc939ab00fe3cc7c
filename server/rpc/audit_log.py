"""Reads the audit log."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import audit_entry_pb2 as entity_pb
from gnomon.engine.v1 import audit_log_service_pb2 as pb
from gnomon.query.v1.page_pb2 import SORT_ORDER_DESC
from server.partition.audit import BATCH, USER_TASK
from server.platform.call import Call
from server.platform.errors import InvalidArgument
from server.platform.mapping import mapper, spellings
from server.platform.query import Condition, Operator, Query, SortKey, Window, equals
from server.platform.query.cursor import position_of
from server.platform.query.model import DEFAULT_LIMIT
from server.store.entities import AuditEntry
from server.store.ports import Store
from server.store.searchables import AUDIT_ENTRIES

# By the kind of entity.
CATEGORIES: Mapping[str, entity_pb.AuditCategory.ValueType] = {
    "RESOURCE": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "DECISION": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "PROCESS_INSTANCE": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "JOB": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "INCIDENT": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "MESSAGE": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "CONDITIONAL": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "SIGNAL": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "ELEMENT_INSTANCE": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "VARIABLE": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "GLOBAL_LISTENER": entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    "ROLE": entity_pb.AUDIT_CATEGORY_ADMIN,
    "GROUP": entity_pb.AUDIT_CATEGORY_ADMIN,
    "TENANT": entity_pb.AUDIT_CATEGORY_ADMIN,
    "MAPPING_RULE": entity_pb.AUDIT_CATEGORY_ADMIN,
    BATCH: entity_pb.AUDIT_CATEGORY_DEPLOYED_RESOURCES,
    USER_TASK: entity_pb.AUDIT_CATEGORY_USER_TASKS,
}
_TIMESTAMP = AUDIT_ENTRIES.fields["timestamp"]
_COMPUTED = frozenset({"category", "user_task_key"})

_entry = mapper(AuditEntry, entity_pb.AuditEntry, ignored=_COMPUTED)


class AuditLogServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def list_audit_entries(
        self, request: pb.ListAuditEntriesRequest, call: Call
    ) -> pb.ListAuditEntriesResponse:
        page = await self._store.search(AuditEntry, _query(request), tenant_id=call.tenant_id)
        response = pb.ListAuditEntriesResponse(cursor=page.end_cursor)
        for row in page.items:
            entry = _entry(row, response.items.add)
            entry.category = CATEGORIES[row.entity_type]
            if row.entity_type == USER_TASK and row.entity_key is not None:
                entry.user_task_key = row.entity_key
        return response


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
