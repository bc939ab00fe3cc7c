"""What reads see of each entity: a view of its live and its ended rows."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from server.platform.query.sql import Relation, quoted
from server.store.entities import (
    AuditEntry,
    ElementInstance,
    Entity,
    Job,
    ProcessDefinition,
    ProcessInstance,
    Variable,
)
from server.store.postgres.columns import TABLES

# Texts of any length that are looked for by value. Of some the indexes hold the starts, which also gives orders; of
# others they hold what is not too long, so that matches are counted without looking at their rows.
_BY_START: Mapping[type[Entity], tuple[str, ...]] = {
    ProcessInstance: ("business_id",),
    Variable: ("value",),
}
_GUARDED: Mapping[type[Entity], tuple[str, ...]] = {
    ProcessDefinition: ("process_definition_id",),
    ProcessInstance: ("process_definition_id",),
    ElementInstance: ("process_definition_id", "element_id"),
    Job: ("type", "worker"),
    Variable: ("name",),
    AuditEntry: ("actor_id",),
}
# What may be missing, and has an index.
_IN_ORDER: Mapping[type[Entity], tuple[str, ...]] = {
    ProcessInstance: ("end_date",),
    Job: ("end_time",),
}

RELATIONS: Mapping[type[Entity], Relation] = {
    entity: Relation.of(
        entity,
        f"gnomon.{table.name}",
        by_start=_BY_START.get(entity, ()),
        guarded=_GUARDED.get(entity, ()),
        in_order=_IN_ORDER.get(entity, ()),
    )
    for entity, table in TABLES.items()
}


def within(entity: type[Entity], tables: Iterable[str]) -> Relation:
    """No more than the rows of these tables."""
    relation = RELATIONS[entity]
    columns = ", ".join(map(quoted, relation.columns))
    union = " UNION ALL ".join(f"SELECT {columns} FROM {table}" for table in tables)  # noqa: S608  # names of our own
    return replace(relation, name=f"({union}) AS {TABLES[entity].name}")
