"""Intermediate throw event: a milestone that an instance passes, an escalation or a link."""

from server.engine.behaviour import Behaviour


class IntermediateThrowEvent(Behaviour):
    """Passes through; what it throws is in `throw_events`, where it links to in its element."""
