"""None end event: where one path ends."""

from server.engine.behaviour import Behaviour


class EndEvent(Behaviour):
    """Passes through; it has no outgoing flow, so its scope looks whether anything is left."""
