"""Appliers of the events of batch operations."""

from collections.abc import Callable, Mapping
from typing import cast

from server.engine import batch_events as events
from server.engine.batch_operations import BatchOperation, Phase
from server.engine.events import Event
from server.engine.keys import Key
from server.engine.pages import Kind
from server.engine.state import State


def _created(state: State, event: events.BatchOperationCreated) -> None:
    state.claim(event.key)
    state.journal.enter(Kind.BATCH_OPERATION, event.key)
    operation = BatchOperation(event.key, event.tenant_id, event.action, event.requester, event.due)
    state.batches.begin(operation, state.journal)


def _items_added(state: State, event: events.BatchItemsAdded) -> None:
    page = event.page
    state.claim(Key(page.key + len(page.items) - 1))
    state.journal.enter(Kind.BATCH_PAGE, page.key)
    state.batches.add_page(page, state.journal)
    operation = _operation(state, event)
    state.journal.alter(operation, "pages", (*operation.pages, page.key))
    state.journal.alter(operation, "total", event.total)


def _taken(state: State, event: events.BatchItemsTaken) -> None:
    state.journal.alter(_operation(state, event), "in_hand", event.count)


def _settled(state: State, event: events.BatchItemsSettled) -> None:
    operation = _operation(state, event)
    state.journal.alter(operation, "in_hand", 0)
    state.journal.alter(operation, "completed", event.completed)
    state.journal.alter(operation, "failed", event.failed)
    _advance(state, operation, len(event.errors))


def _dropped(state: State, event: events.BatchItemsDropped) -> None:
    _advance(state, _operation(state, event), event.count)


def _advance(state: State, operation: BatchOperation, count: int) -> None:
    """Move the position past `count` items; drop the page when its last item is passed."""
    position, first = operation.position + count, operation.pages[0]
    if position < len(state.batches.pages[first].items):
        state.journal.alter(operation, "position", position)
        return
    state.journal.alter(operation, "position", 0)
    state.journal.alter(operation, "pages", operation.pages[1:])
    state.journal.enter(Kind.BATCH_PAGE, first)
    state.batches.drop_page(first, state.journal)


def _turned(following: Phase) -> Callable[[State, events.BatchEvent], None]:
    def turn(state: State, event: events.BatchEvent) -> None:
        state.journal.alter(_operation(state, event), "phase", following)

    return turn


def _ended(state: State, event: events.BatchOperationEnded) -> None:
    state.batches.end(_operation(state, event), state.journal)


def _processed(_: State, event: events.BatchItemsProcessed) -> None:
    """Changes nothing: the events of the items have changed the process instances."""


def _operation(state: State, event: events.BatchEvent) -> BatchOperation:
    """The batch operation that the event changes; the journal notes it as changed."""
    state.journal.enter(Kind.BATCH_OPERATION, event.key)
    operation = state.batches.operations[event.key]
    state.journal.alter(operation, "due", event.due)
    return operation


BATCH_APPLIERS: Mapping[type[Event], Callable[[State, Event], None]] = cast(
    "Mapping[type[Event], Callable[[State, Event], None]]",
    {
        events.BatchOperationCreated: _created,
        events.BatchItemsAdded: _items_added,
        events.BatchOperationStarted: _turned(Phase.ACTIVE),
        events.BatchItemsTaken: _taken,
        events.BatchItemsSettled: _settled,
        events.BatchItemsDropped: _dropped,
        events.BatchOperationSuspended: _turned(Phase.SUSPENDED),
        events.BatchOperationResumed: _turned(Phase.ACTIVE),
        events.BatchOperationCanceled: _turned(Phase.CANCELED),
        events.BatchOperationAbandoned: _turned(Phase.FAILED),
        events.BatchOperationEnded: _ended,
        events.BatchItemsProcessed: _processed,
    },
)
