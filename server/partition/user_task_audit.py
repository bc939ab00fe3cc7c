"""Audit entries for user tasks: one for each change, whichever command caused it."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, get_args

from server.engine import events
from server.engine.job_kinds import ListenerEventType
from server.engine.keys import Key
from server.engine.requesters import Requester
from server.engine.user_task_transitions import DENIABLE
from server.partition.audit import LONGEST_DETAIL, USER_TASK
from server.partition.origin import Origin
from server.platform.errors import InvalidState
from server.store.entities import AuditEntry, AuditResult

# The actor of due commands and of commands from other partitions.
UNKNOWN = "UNKNOWN"


class _Place(NamedTuple):
    """A user task with its element instance and its form."""

    key: Key
    element_instance_key: Key
    form_key: Key | None


_Change = (
    events.UserTaskCreated
    | events.UserTaskAssigned
    | events.UserTaskUpdated
    | events.UserTaskCompleted
    | events.UserTaskCanceled
)
# Few commands cause such events, but each event of every command is checked.
_AUDITED = frozenset({*get_args(_Change), events.UserTaskTransitionEnded, events.ProcessInstanceMigrated})
# The operation of a refused transition; only listeners of these transitions may deny them.
_REFUSED: Mapping[ListenerEventType, str] = {
    ListenerEventType.UPDATING: "UPDATE",
    ListenerEventType.COMPLETING: "COMPLETE",
}
_OPERATION_TYPES: Mapping[type[events.Event], str] = {
    events.UserTaskCreated: "CREATE",
    events.UserTaskUpdated: "UPDATE",
    events.UserTaskCompleted: "COMPLETE",
    events.UserTaskCanceled: "CANCEL",
}


def changes_user_tasks(happened: Collection[events.Event]) -> bool:
    """Whether any of the events concerns a user task."""
    return not _AUDITED.isdisjoint(map(type, happened))


def user_task_entries(
    happened: Collection[events.Event], origin: Origin | None, now: datetime
) -> Iterator[AuditEntry]:
    """The audit entries for the events; `origin` is the caller of their command, None without one."""
    for event in happened:
        if isinstance(event, _Change):
            yield _changed(event, origin, now)
        elif isinstance(event, events.UserTaskTransitionEnded):
            if event.refusal is not None and event.transition.event_type in DENIABLE:
                yield _refused(event, event.refusal, now)
        elif isinstance(event, events.ProcessInstanceMigrated):
            yield from _migrated(event, origin, now)


def _changed(event: _Change, origin: Origin | None, now: datetime) -> AuditEntry:
    entry = _entry(event.instance, event, _operation_type(event), origin, now)
    if not isinstance(event, events.UserTaskCreated):
        _note_requester(entry, event.requester)
    return entry


def _migrated(
    event: events.ProcessInstanceMigrated, origin: Origin | None, now: datetime
) -> Iterator[AuditEntry]:
    for element in event.elements:
        if element.user_task_key is not None:
            moved = _Place(element.user_task_key, element.key, element.form_key)
            yield _entry(event.instance, moved, "MIGRATE", origin, now)


def _operation_type(event: _Change) -> str:
    if isinstance(event, events.UserTaskAssigned):
        return "ASSIGN" if event.assignee else "UNASSIGN"
    return _OPERATION_TYPES[type(event)]


def _refused(event: events.UserTaskTransitionEnded, refusal: str, now: datetime) -> AuditEntry:
    transition = event.transition
    assigning = "ASSIGN" if transition.values.assignee else "UNASSIGN"
    entry = _entry(event.instance, event, _REFUSED.get(transition.event_type, assigning), None, now)
    entry.result = AuditResult.FAIL
    entry.reason, entry.detail = InvalidState.reason, refusal[:LONGEST_DETAIL]
    _note_requester(entry, transition.requester)
    return entry


def _note_requester(entry: AuditEntry, requester: Requester | None) -> None:
    """Set the caller of the earlier command whose change waited for listeners."""
    if requester is not None:
        entry.actor_type, entry.actor_id = requester.actor_type, requester.actor_id
        entry.operation_reference, entry.request_id = requester.operation_reference, requester.request_id


def _entry(
    head: events.InstanceHead,
    changed: _Change | events.UserTaskTransitionEnded | _Place,
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
        form_key=changed.form_key,
        root_process_instance_key=head.root_key,
    )
    if origin is not None:
        entry.actor_type, entry.actor_id = origin.actor_type, origin.actor_id
        entry.operation_reference, entry.request_id = origin.operation_reference, origin.request_id
    return entry
