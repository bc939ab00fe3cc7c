"""Events of the timers of start events."""

from server.engine.events import Event
from server.engine.keys import Key
from server.engine.start_timers import StartTimer


class StartTimerOpened(Event, frozen=True):
    """A timer was set, or replaced the earlier one with its key."""

    timer: StartTimer


class StartTimerClosed(Event, frozen=True):
    """A timer fired for the last time, or a later version of its process was deployed."""

    key: Key
