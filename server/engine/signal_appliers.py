"""Appliers of the events of broadcasts."""

from collections.abc import Callable, Mapping
from typing import cast

from server.engine import signal_events as events
from server.engine.events import Event
from server.engine.keys import Key
from server.engine.pages import Kind
from server.engine.signals import Broadcast
from server.engine.state import State


def _began(state: State, event: events.BroadcastBegan) -> None:
    state.claim(event.key)
    state.journal.enter(Kind.BROADCAST, event.key)
    last_process_id = "" if event.begins_processes else None
    broadcast = Broadcast(
        event.key,
        event.tenant_id,
        event.signal_name,
        event.variables,
        last_process_id=last_process_id,
        change=event.change,
    )
    state.signals.begin(broadcast, state.journal)


def _postponed(state: State, event: events.BroadcastPostponed) -> None:
    broadcast = _broadcast(state, event.key)
    state.journal.alter(broadcast, "last_key", event.last_key)
    state.journal.alter(broadcast, "last_process_id", event.last_process_id)
    state.journal.alter(broadcast, "postponed_at", event.at)


def _ended(state: State, event: events.BroadcastEnded) -> None:
    state.signals.end(_broadcast(state, event.key), state.journal)


def _broadcast(state: State, key: Key) -> Broadcast:
    """The broadcast that the event changes; the journal notes it as changed."""
    state.journal.enter(Kind.BROADCAST, key)
    return state.signals.broadcasts[key]


SIGNAL_APPLIERS: Mapping[type[Event], Callable[[State, Event], None]] = cast(
    "Mapping[type[Event], Callable[[State, Event], None]]",
    {
        events.BroadcastBegan: _began,
        events.BroadcastPostponed: _postponed,
        events.BroadcastEnded: _ended,
    },
)
