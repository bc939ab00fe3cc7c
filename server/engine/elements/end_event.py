"""End event: where one path ends, or everything in the scope, or where an error is thrown."""

from server.engine.behaviour import Behaviour


class EndEvent(Behaviour):
    """Passes through; it has no outgoing flow, so its scope looks whether anything is left."""
