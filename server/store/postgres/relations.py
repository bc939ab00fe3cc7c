"""The relation that reads use for each entity: a view of its live and ended rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from server.platform.query import Statistic
from server.platform.query.sql import Relation, quoted
from server.store.entities import (
    AuditEntry,
    CorrelatedMessageSubscription,
    ElementInstance,
    Entity,
    Job,
    MessageSubscription,
    ProcessDefinition,
    ProcessInstance,
    UserTask,
    Variable,
)
from server.store.postgres.columns import BUCKETED, TABLES

# Texts of any length that searches look up by value. For some, indexes hold their first characters, which
# also provide an order; for others, indexes hold all values up to a length, so that matches are counted
# without reading the rows.
_BY_START: Mapping[type[Entity], tuple[str, ...]] = {
    ProcessInstance: ("business_id",),
    Variable: ("value",),
    AuditEntry: ("entity_id",),
}
_GUARDED: Mapping[type[Entity], tuple[str, ...]] = {
    ProcessDefinition: ("process_definition_id",),
    ProcessInstance: ("process_definition_id",),
    ElementInstance: ("process_definition_id", "element_id"),
    Job: ("type", "worker"),
    Variable: ("name",),
    MessageSubscription: ("message_name", "correlation_key"),
    CorrelatedMessageSubscription: ("message_name", "correlation_key"),
    AuditEntry: ("actor_id",),
}
# Nullable columns with an index.
_IN_ORDER: Mapping[type[Entity], tuple[str, ...]] = {
    ProcessInstance: ("end_date",),
    Job: ("end_time",),
    UserTask: ("due_date", "follow_up_date", "completion_date"),
}

RELATIONS: Mapping[type[Entity], Relation] = {
    entity: Relation.of(
        entity,
        f"gnomon.{table.name}",
        by_start=_BY_START.get(entity, ()),
        guarded=_GUARDED.get(entity, ()),
        in_order=_IN_ORDER.get(entity, ()),
        other=lambda other: RELATIONS[other],
    )
    for entity, table in TABLES.items()
}


def counted_in(statistic: Statistic[object]) -> Relation:
    """The relation that a statistic reads."""
    entity: type[Entity] = statistic.entity
    return within(entity, [f"runtime.{TABLES[entity].name}"]) if statistic.is_live else RELATIONS[entity]


def table(entity: type[Entity], name: str) -> Relation:
    """The rows of one table, with related rows from the tables beside it."""
    return replace(RELATIONS[entity], name=name, other=partial(_sibling, entity, name))


def within(entity: type[Entity], names: Sequence[str]) -> Relation:
    """The rows of these tables, with related rows from the tables beside them."""
    relation = RELATIONS[entity]
    columns = ", ".join(map(quoted, relation.columns))
    union = " UNION ALL ".join(f"SELECT {columns} FROM {name}" for name in names)  # noqa: S608  # names of our own
    return replace(
        relation, name=f"({union}) AS {TABLES[entity].name}", other=partial(_siblings, entity, names)
    )


def _siblings(entity: type[Entity], names: Sequence[str], other: type[Entity]) -> Relation:
    if other not in BUCKETED:
        return RELATIONS[other]
    return within(other, [_beside(entity, name, other) for name in names])


def _sibling(entity: type[Entity], name: str, other: type[Entity]) -> Relation:
    return table(other, _beside(entity, name, other)) if other in BUCKETED else RELATIONS[other]


def _beside(entity: type[Entity], name: str, other: type[Entity]) -> str:
    """The table of one entity for the same week as another entity's table.

    All rows of a process instance are in the same week, because they are moved to history together.
    """
    schema, dot, part = name.partition(".")
    return f"{schema}{dot}{TABLES[other].name}{part.removeprefix(TABLES[entity].name)}"
