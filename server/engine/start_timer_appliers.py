"""Appliers of the events of start timers."""

from collections.abc import Callable, Mapping
from typing import cast

from server.engine import start_timer_events as events
from server.engine.events import Event
from server.engine.pages import Kind
from server.engine.state import State


def _opened(state: State, event: events.StartTimerOpened) -> None:
    state.claim(event.timer.key)
    state.journal.enter(Kind.START_TIMER, event.timer.key)
    state.start_timers.open(event.timer, state.journal)


def _closed(state: State, event: events.StartTimerClosed) -> None:
    state.journal.enter(Kind.START_TIMER, event.key)
    state.start_timers.close(state.start_timers.timers[event.key], state.journal)


START_TIMER_APPLIERS: Mapping[type[Event], Callable[[State, Event], None]] = cast(
    "Mapping[type[Event], Callable[[State, Event], None]]",
    {events.StartTimerOpened: _opened, events.StartTimerClosed: _closed},
)
