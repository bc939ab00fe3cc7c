"""Bounds in octets beside the bounds in rows and commands, and the octets that a command adds to a commit.

PostgreSQL needs about 0.05 s of processor time for a megabyte of variables. Therefore a commit ends near
`MOST_OCTETS`: one command that needs more goes alone.
"""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter

from server.engine.engine import Outcome
from server.engine.octets import document_octets, octets_of
from server.engine.pages import DocumentId
from server.engine.sent import CommandSent
from server.engine.state import State
from server.store.entities import (
    ClusterVariable,
    DecisionInstance,
    DecisionRequirements,
    Entity,
    Form,
    GenericResource,
    Incident,
    Job,
    ProcessDefinition,
    UserTask,
    Variable,
)
from server.store.ports import Change, Insert, Update

_MIB = 1024 * 1024

# A commit with more octets would delay the callers of small commands; a single command may exceed it.
MOST_OCTETS = 4 * _MIB
# A command with this many octets takes the store as long as a hundred other commands.
MANY_OCTETS = _MIB

# The columns that can hold much text; the others are as long as names of models.
_LARGE: Mapping[type[Entity], tuple[str, ...]] = {
    ClusterVariable: ("value",),
    DecisionInstance: ("result", "inputs", "rules"),
    DecisionRequirements: ("xml",),
    Form: ("schema",),
    GenericResource: ("content",),
    Incident: ("error_message",),
    Job: ("custom_headers",),
    ProcessDefinition: ("xml",),
    UserTask: ("custom_headers", "candidate_groups", "candidate_users"),
    Variable: ("value",),
}
_READ: Mapping[type[Entity], Callable[[Entity], object]] = {
    entity: attrgetter(*names) for entity, names in _LARGE.items()
}


def written_octets(
    outcome: Outcome, changes: Iterable[Change], state: State, touched: Mapping[DocumentId, object]
) -> int:
    """The octets that a command adds to a commit: its rows, what it sends, and documents that are not `touched` yet."""
    total = _of_rows(changes)
    for document, records in outcome.changed.items():
        if document not in touched:
            total += document_octets(state, document, records)
    for event in outcome.events:
        if type(event) is CommandSent:
            total += octets_of(event.command)
    return total


def _of_rows(changes: Iterable[Change]) -> int:
    total = 0
    for change in changes:
        if type(change) is Insert:
            read = _READ.get(type(change.row))
            value = None if read is None else read(change.row)
            if value:
                total += octets_of(value)
        elif type(change) is Update and change.entity in _READ:
            total += octets_of(change.values)
    return total
