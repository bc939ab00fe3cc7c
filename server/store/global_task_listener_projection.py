"""Projects the events of global task listeners to rows."""

from datetime import datetime

from server.engine.global_task_listener_events import GlobalTaskListenerDeleted, GlobalTaskListenerSet
from server.store.entities import GlobalListenerSource, GlobalTaskListener
from server.store.ports import Change, Delete, Insert, Update


def global_task_listener_set(
    event: GlobalTaskListenerSet,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: list[Change],
) -> None:
    values = {
        "type": event.type,
        "event_types": event.event_types,
        "retries": event.retries,
        "after_non_global": event.after_non_global,
        "priority": event.priority,
    }
    if event.revision > 1:
        changes.append(Update(GlobalTaskListener, event.key, values))
        return
    row = GlobalTaskListener(
        global_task_listener_key=event.key,
        tenant_id=event.tenant_id,
        id=event.id,
        type=event.type,
        event_types=event.event_types,
        retries=event.retries,
        after_non_global=event.after_non_global,
        priority=event.priority,
        source=GlobalListenerSource.API,
    )
    changes.append(Insert(row))


def global_task_listener_deleted(
    event: GlobalTaskListenerDeleted,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: list[Change],
) -> None:
    changes.append(Delete(GlobalTaskListener, event.listener.key))
