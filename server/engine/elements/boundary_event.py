"""Boundary event: where a path begins when the activity that it is attached to has caught its trigger."""

from server.engine.behaviour import Behaviour


class BoundaryEvent(Behaviour):
    """Passes through: it is entered once it is triggered."""
