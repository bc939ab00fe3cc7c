"""The engine: a pure function from state and command to events.

`process(state, command, now)` decides, `apply(state, event)` changes; nothing here reads a clock, draws a random
number, waits or knows the wire.
"""

from server.engine.apply import apply
from server.engine.engine import Outcome, process
from server.engine.state import State

__all__ = ["Outcome", "State", "apply", "process"]
