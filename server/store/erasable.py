"""Texts of rows that may contain values of variables, and what takes their place when the variables are erased.

Partitions change the texts of open incidents and jobs and the variables of active scopes themselves. These are the
texts of rows that no command changes any more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from server.store.entities import (
    AuditEntry,
    BatchOperationItem,
    CorrelatedMessageSubscription,
    DecisionInstance,
    Entity,
    Incident,
    IncidentState,
    Job,
    MessageSubscription,
    Variable,
)
from server.store.ports import Erase

ERASED: Final = "[erased]"
ERASED_VALUE: Final = '"[erased]"'
"""JSON text that takes the place of a value."""

NO_ITEMS: Final = "[]"


@dataclass(frozen=True, slots=True)
class Erasable:
    """`texts` are the fields with the text that takes their place; missing values stay missing.

    `moment` is the field with the time from which on no command changes them, if the field `settled` has its value.
    """

    moment: str
    texts: Mapping[str, str]
    settled: tuple[str, str | bool] | None = None


ERASABLE: Mapping[type[Entity], Erasable] = {
    Job: Erasable("end_time", {"error_message": ERASED, "denied_reason": ERASED}),
    Incident: Erasable("creation_time", {"error_message": ERASED}, ("state", IncidentState.RESOLVED)),
    MessageSubscription: Erasable("last_updated_date", {"correlation_key": ERASED}, ("is_open", False)),
    CorrelatedMessageSubscription: Erasable("correlation_time", {"correlation_key": ERASED}),
    DecisionInstance: Erasable(
        "evaluation_date",
        {
            "result": ERASED_VALUE,
            "inputs": NO_ITEMS,
            "rules": NO_ITEMS,
            "evaluation_failure": ERASED,
        },
    ),
    BatchOperationItem: Erasable("processed_date", {"error_message": ERASED}),
    AuditEntry: Erasable("timestamp", {"detail": ERASED}),
}
"""The server cannot tell which variables these texts contain, so an erasure of some variables rewrites all of them."""


def erased_values(
    row: Entity, erase: Erase, end_of: Callable[[Variable], datetime | None]
) -> Mapping[str, object]:
    """The new values of a row; none if commands may still change it. `end_of` is the end of a variable's scope."""
    if isinstance(row, Variable):
        is_named = not erase.names or row.name in erase.names
        return {"value": ERASED_VALUE} if is_named and _is_over(end_of(row), erase) else {}
    erasable = ERASABLE.get(type(row))
    if erasable is None or not _is_over(getattr(row, erasable.moment), erase):
        return {}
    if erasable.settled is not None and getattr(row, erasable.settled[0]) != erasable.settled[1]:
        return {}
    return {name: text for name, text in erasable.texts.items() if getattr(row, name) is not None}


def _is_over(moment: datetime | None, erase: Erase) -> bool:
    return moment is not None and moment <= erase.moment
