"""The process itself: it waits for what runs inside it."""

from server.engine.behaviour import Behaviour


class Process(Behaviour):
    """Completes when nothing is active inside it any more."""

    completes_at_once = False
