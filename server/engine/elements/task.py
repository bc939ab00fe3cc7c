"""Tasks that the engine only passes: the undefined task, and the manual task that people do elsewhere."""

from server.engine.behaviour import Behaviour


class PassThroughTask(Behaviour):
    """Passes through."""
