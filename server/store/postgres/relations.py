"""What reads see of each entity: a view of its live and its ended rows."""

from collections.abc import Mapping

from server.platform.query.sql import Relation
from server.store.entities import (
    AuditEntry,
    ElementInstance,
    Entity,
    Incident,
    Job,
    ProcessDefinition,
    ProcessInstance,
    Variable,
)
from server.store.postgres.columns import TABLES

# Texts of any length that are looked for by value: the indexes hold their starts.
_PREFIXED: Mapping[type[Entity], tuple[str, ...]] = {
    ProcessDefinition: ("process_definition_id",),
    ProcessInstance: ("process_definition_id", "business_id"),
    ElementInstance: ("process_definition_id", "element_id"),
    Job: ("type",),
    Variable: ("name", "value"),
    Incident: (),
    AuditEntry: (),
}

RELATIONS: Mapping[type[Entity], Relation] = {
    entity: Relation.of(entity, f"gnomon.{TABLES[entity].name}", prefixed=prefixed)
    for entity, prefixed in _PREFIXED.items()
}
