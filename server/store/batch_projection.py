"""Projects the events of batch operations to rows for searches."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import cast

from server.engine import batch_events as events
from server.engine.events import Event
from server.engine.keys import Key
from server.store.entities import (
    BatchOperation,
    BatchOperationItem,
    BatchOperationItemState,
    BatchOperationState,
)
from server.store.ports import Change, Insert, Update

Changes = list[Change]


def _created(event: events.BatchOperationCreated, _: datetime, changes: Changes) -> None:
    row = BatchOperation(
        batch_operation_key=event.key,
        tenant_id=event.tenant_id,
        operation_type=event.action.type,
        actor_type=event.requester.actor_type,
        actor_id=event.requester.actor_id or None,
    )
    changes.append(Insert(row))


def _items_added(event: events.BatchItemsAdded, _: datetime, changes: Changes) -> None:
    page = event.page
    for place, item in enumerate(page.items):
        row = BatchOperationItem(
            batch_operation_item_key=Key(page.key + place),
            tenant_id=event.tenant_id,
            batch_operation_key=event.key,
            operation_type=event.action.type,
            item_key=item.key,
            process_instance_key=item.process_instance_key,
            root_process_instance_key=item.root_process_instance_key,
        )
        changes.append(Insert(row))
    _change(event, changes, operations_total_count=event.total)


def _started(event: events.BatchOperationStarted, now: datetime, changes: Changes) -> None:
    _change(event, changes, state=BatchOperationState.ACTIVE, start_date=now)


def _settled(event: events.BatchItemsSettled, now: datetime, changes: Changes) -> None:
    for place, error in enumerate(event.errors):
        state = BatchOperationItemState.COMPLETED if error is None else BatchOperationItemState.FAILED
        values = {"state": state, "processed_date": now, "error_message": error}
        changes.append(Update(BatchOperationItem, Key(event.first_key + place), values))
    _change(event, changes, operations_completed_count=event.completed, operations_failed_count=event.failed)


def _dropped(event: events.BatchItemsDropped, _: datetime, changes: Changes) -> None:
    for key in range(event.first_key, event.first_key + event.count):
        changes.append(Update(BatchOperationItem, Key(key), {"state": BatchOperationItemState.CANCELED}))


def _suspended(event: events.BatchOperationSuspended, _: datetime, changes: Changes) -> None:
    _change(event, changes, state=BatchOperationState.SUSPENDED)


def _resumed(event: events.BatchOperationResumed, _: datetime, changes: Changes) -> None:
    _change(event, changes, state=BatchOperationState.ACTIVE)


def _canceled(event: events.BatchOperationCanceled, now: datetime, changes: Changes) -> None:
    _change(event, changes, state=BatchOperationState.CANCELED, end_date=now)


def _abandoned(event: events.BatchOperationAbandoned, now: datetime, changes: Changes) -> None:
    values = {"end_date": now, "failure": event.error_message}
    _change(event, changes, state=BatchOperationState.FAILED, **values)


def _ended(event: events.BatchOperationEnded, now: datetime, changes: Changes) -> None:
    if event.is_completed:
        _change(event, changes, state=BatchOperationState.COMPLETED, end_date=now)


def _change(event: events.BatchEvent, changes: Changes, **values: object) -> None:
    changes.append(Update(BatchOperation, event.key, values))


BATCH_PROJECTORS: Mapping[type[Event], Callable[[Event, datetime, Changes], None]] = cast(
    "Mapping[type[Event], Callable[[Event, datetime, Changes], None]]",
    {
        events.BatchOperationCreated: _created,
        events.BatchItemsAdded: _items_added,
        events.BatchOperationStarted: _started,
        events.BatchItemsSettled: _settled,
        events.BatchItemsDropped: _dropped,
        events.BatchOperationSuspended: _suspended,
        events.BatchOperationResumed: _resumed,
        events.BatchOperationCanceled: _canceled,
        events.BatchOperationAbandoned: _abandoned,
        events.BatchOperationEnded: _ended,
    },
)
