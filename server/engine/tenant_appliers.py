"""Appliers of the events of the removal of a tenant."""

from collections.abc import Callable, Mapping
from typing import cast

from server.engine import tenant_events as events
from server.engine.cluster_variable_events import ClusterVariableSet
from server.engine.events import Event
from server.engine.global_task_listener_events import GlobalTaskListenerSet
from server.engine.keys import Key
from server.engine.pages import Kind
from server.engine.state import State
from server.engine.tenants import definitions_of


def _marked(state: State, event: events.TenantMarked) -> None:
    state.journal.put(state.removed_tenants, event.tenant_id, event.number)


def _purged(state: State, event: events.TenantPurged) -> None:
    for document in event.documents:
        state.journal.enter(document.kind, document.key)
        _DROPS[document.kind](state, document.key)
    for key in event.definitions:
        state.purge_definition(key)
        state.decisions.purge(key, state.journal)
        state.forms.purge(key, state.journal)
        state.generic_resources.purge(key, state.journal)
    _drop_settings(state, event)


def _drop_settings(state: State, event: events.TenantPurged) -> None:
    gone = frozenset(event.definitions)
    for variable in [each for each in state.cluster_variables.of(event.tenant_id) if each.key in gone]:
        _drop_variable(state, variable)
    for listener in [each for each in state.global_task_listeners.of(event.tenant_id) if each.key in gone]:
        _drop_listener(state, listener)


def _drop_variable(state: State, variable: ClusterVariableSet) -> None:
    known = state.cluster_variables
    state.journal.note(known.put, variable.tenant_id, variable.name, variable)
    known.put(variable.tenant_id, variable.name, None)


def _drop_listener(state: State, listener: GlobalTaskListenerSet) -> None:
    known = state.global_task_listeners
    state.journal.note(known.put, listener.tenant_id, listener.id, listener)
    known.put(listener.tenant_id, listener.id, None)


def _released(state: State, event: events.TenantReleased) -> None:
    if not any(definitions_of(state, event.tenant_id)):
        state.forget_numbers(event.tenant_id)
    state.journal.drop(state.removed_tenants, event.tenant_id)


def _drop_message(state: State, key: Key) -> None:
    state.messages.remove(state.messages.messages[key], state.journal)


def _drop_subscription(state: State, key: Key) -> None:
    state.messages.close(state.messages.subscriptions[key], state.journal)


def _drop_broadcast(state: State, key: Key) -> None:
    state.signals.end(state.signals.broadcasts[key], state.journal)


def _drop_start_timer(state: State, key: Key) -> None:
    state.start_timers.close(state.start_timers.timers[key], state.journal)


def _drop_batch_operation(state: State, key: Key) -> None:
    state.batches.end(state.batches.operations[key], state.journal)


def _drop_batch_page(state: State, key: Key) -> None:
    state.batches.drop_page(key, state.journal)


_DROPS: Mapping[Kind, Callable[[State, Key], None]] = {
    Kind.PROCESS_INSTANCE: State.release,
    Kind.MESSAGE: _drop_message,
    Kind.MESSAGE_SUBSCRIPTION: _drop_subscription,
    Kind.BROADCAST: _drop_broadcast,
    Kind.START_TIMER: _drop_start_timer,
    Kind.BATCH_OPERATION: _drop_batch_operation,
    Kind.BATCH_PAGE: _drop_batch_page,
}

TENANT_APPLIERS: Mapping[type[Event], Callable[[State, Event], None]] = cast(
    "Mapping[type[Event], Callable[[State, Event], None]]",
    {
        events.TenantMarked: _marked,
        events.TenantPurged: _purged,
        events.TenantReleased: _released,
    },
)
