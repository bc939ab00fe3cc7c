"""Start event: where a process instance or a sub-process begins."""

from server.engine.behaviour import Behaviour


class StartEvent(Behaviour):
    """Passes through."""
