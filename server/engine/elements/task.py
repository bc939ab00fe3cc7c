"""Tasks without work for the engine: the undefined task and the manual task."""

from server.engine.behaviour import Behaviour


class PassThroughTask(Behaviour):
    """Passes through."""
