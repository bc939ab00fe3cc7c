"""The states of an element instance and the moves between them.

ACTIVATING ─► ACTIVATED ─► COMPLETING ─► COMPLETED
     └────────────┴─────────────┴─► TERMINATING ─► TERMINATED

An incident keeps an element in ACTIVATING or COMPLETING. COMPLETED and TERMINATED instances are gone from the state.
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


_S = ElementState

TRANSITIONS: Mapping[ElementState, frozenset[ElementState]] = {
    _S.ACTIVATING: frozenset({_S.ACTIVATED, _S.TERMINATING}),
    _S.ACTIVATED: frozenset({_S.COMPLETING, _S.TERMINATING}),
    _S.COMPLETING: frozenset({_S.COMPLETED, _S.TERMINATING}),
    _S.COMPLETED: frozenset(),
    _S.TERMINATING: frozenset({_S.TERMINATED}),
    _S.TERMINATED: frozenset(),
}


class IllegalTransition(Exception):
    """The engine tried a move that the table does not have: a fault of ours."""


def check(current: ElementState, following: ElementState) -> None:
    if following not in TRANSITIONS[current]:
        raise IllegalTransition(f"{current} to {following}")
