"""The states of an element instance and the transitions between them.

ACTIVATING ─► ACTIVATED ─► COMPLETING ─► COMPLETED
     └────────────┴─────────────┴─► TERMINATING ─► TERMINATED

An incident keeps an element in ACTIVATING or COMPLETING. COMPLETED and TERMINATED instances are removed from
the state.
"""

from collections.abc import Mapping
from enum import StrEnum


class ElementState(StrEnum):
    ACTIVATING = "ACTIVATING"
    ACTIVATED = "ACTIVATED"
    COMPLETING = "COMPLETING"
    COMPLETED = "COMPLETED"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"


# Accessing a member through its enumeration takes three times as long, at every step of every element.
ACTIVATING, ACTIVATED, COMPLETING, COMPLETED, TERMINATING, TERMINATED = ElementState

TRANSITIONS: Mapping[ElementState, frozenset[ElementState]] = {
    ACTIVATING: frozenset({ACTIVATED, TERMINATING}),
    ACTIVATED: frozenset({COMPLETING, TERMINATING}),
    COMPLETING: frozenset({COMPLETED, TERMINATING}),
    COMPLETED: frozenset(),
    TERMINATING: frozenset({TERMINATED}),
    TERMINATED: frozenset(),
}


class IllegalTransition(Exception):
    """The engine tried a transition that the table does not have: a fault of the program."""

    def __init__(self, current: ElementState, following: ElementState) -> None:
        super().__init__(f"{current} to {following}")
