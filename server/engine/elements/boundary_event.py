"""Boundary event: the start of a path, after its activity has caught the trigger."""

from server.engine.behaviour import Behaviour


class BoundaryEvent(Behaviour):
    """Passes through: the event is entered after it was triggered."""
