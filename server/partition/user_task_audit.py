"""Entries of the audit log for user tasks: one for each change, whatever command brought it."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, get_args

from server.engine import events
from server.engine.keys import Key
from server.partition.audit import USER_TASK
from server.partition.origin import Origin
from server.store.entities import AuditEntry, AuditResult

# Actor of what happens because time has come, or because another partition asks for it.
UNKNOWN = "UNKNOWN"


class _Place(NamedTuple):
    """A user task and its element instance."""

    key: Key
    element_instance_key: Key


_Change = (
    events.UserTaskCreated
    | events.UserTaskAssigned
    | events.UserTaskUpdated
    | events.UserTaskCompleted
    | events.UserTaskCanceled
)
# Few commands bring any of them, and each of a command's events is looked at.
_AUDITED = frozenset({*get_args(_Change), events.ProcessInstanceMigrated})
_OPERATION_TYPES: Mapping[type[events.Event], str] = {
    events.UserTaskCreated: "CREATE",
    events.UserTaskUpdated: "UPDATE",
    events.UserTaskCompleted: "COMPLETE",
    events.UserTaskCanceled: "CANCEL",
}


def user_task_entries(
    happened: Collection[events.Event], origin: Origin | None, now: datetime
) -> Iterator[AuditEntry]:
    """`origin` is the caller of the command that made the events, None without one."""
    if _AUDITED.isdisjoint(map(type, happened)):
        return
    for event in happened:
        if isinstance(event, _Change):
            yield _entry(event.instance, event, _operation_type(event), origin, now)
        elif isinstance(event, events.ProcessInstanceMigrated):
            for element in event.elements:
                if element.user_task_key is not None:
                    moved = _Place(element.user_task_key, element.key)
                    yield _entry(event.instance, moved, "MIGRATE", origin, now)


def _operation_type(event: _Change) -> str:
    if isinstance(event, events.UserTaskAssigned):
        return "ASSIGN" if event.assignee else "UNASSIGN"
    return _OPERATION_TYPES[type(event)]


def _entry(
    head: events.InstanceHead,
    changed: _Change | _Place,
    operation_type: str,
    origin: Origin | None,
    now: datetime,
) -> AuditEntry:
    entry = AuditEntry(
        tenant_id=head.tenant_id,
        timestamp=now,
        operation_type=operation_type,
        result=AuditResult.SUCCESS,
        actor_type=UNKNOWN,
        actor_id="",
        entity_type=USER_TASK,
        entity_key=changed.key,
        process_definition_key=head.process_definition_key,
        process_instance_key=head.key,
        element_instance_key=changed.element_instance_key,
    )
    if origin is not None:
        entry.actor_type, entry.actor_id = origin.actor_type, origin.actor_id
        entry.operation_reference, entry.request_id = origin.operation_reference, origin.request_id
    return entry
