"""Start event: the first element of a process instance or a sub-process."""

from server.engine.behaviour import Behaviour


class StartEvent(Behaviour):
    """Passes through."""
