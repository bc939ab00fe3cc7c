"""Events of the timers that begin process instances."""

from server.engine.events import Event
from server.engine.keys import Key
from server.engine.start_timers import StartTimer


class StartTimerOpened(Event, frozen=True):
    """Waits for its time; one with the key of an earlier timer takes its place."""

    timer: StartTimer


class StartTimerClosed(Event, frozen=True):
    """It has fired for the last time, or a later version of its process was deployed."""

    key: Key
