"""None start event: where an instance begins."""

from server.engine.behaviour import Behaviour


class StartEvent(Behaviour):
    """Passes through."""
