"""What each entity can be searched by: its annotations, plus the filter fields that no attribute stands for."""

from collections.abc import Mapping

from server.platform.query import Searchable, contains_every, contains_none, longer_than, only_if_true
from server.store.entities import (
    AuditEntry,
    DecisionDefinition,
    DecisionInstance,
    DecisionRequirements,
    ElementInstance,
    Entity,
    Incident,
    Job,
    ProcessDefinition,
    ProcessInstance,
    Variable,
)

MAX_VALUE_CHARACTERS = 8191
"""Characters of a variable's JSON text that a search answers with; a longer one is cut."""

PROCESS_DEFINITIONS = Searchable.of(
    ProcessDefinition,
    "process_definition_key",
    derived={"is_latest_version": only_if_true("is_latest_version")},
)
PROCESS_INSTANCES = Searchable.of(
    ProcessInstance,
    "process_instance_key",
    indexed=("process_definition_key", "parent_process_instance_key"),
    derived={"tags": contains_every("tags")},
)
ELEMENT_INSTANCES = Searchable.of(ElementInstance, "element_instance_key", indexed=("process_instance_key",))
JOBS = Searchable.of(Job, "job_key", indexed=("process_instance_key",))
VARIABLES = Searchable.of(
    Variable,
    "variable_key",
    indexed=("process_instance_key", "scope_key"),
    derived={"is_truncated": longer_than("value", MAX_VALUE_CHARACTERS)},
)
INCIDENTS = Searchable.of(
    Incident,
    "incident_key",
    indexed=("process_instance_key",),
    derived={"tags": contains_every("tags"), "excluded_tags": contains_none("tags")},
)

DECISION_REQUIREMENTS = Searchable.of(DecisionRequirements, "decision_requirements_key")
DECISION_DEFINITIONS = Searchable.of(
    DecisionDefinition,
    "decision_definition_key",
    derived={"is_latest_version": only_if_true("is_latest_version")},
)
DECISION_INSTANCES = Searchable.of(
    DecisionInstance,
    "decision_instance_key",
    indexed=("decision_evaluation_key", "process_instance_key"),
)

AUDIT_ENTRIES = Searchable.of(AuditEntry, "audit_entry_key", indexed=("entity_key", "process_instance_key"))

SEARCHABLES: Mapping[type[Entity], Searchable[Entity]] = {
    searchable.entity: searchable
    for searchable in (
        PROCESS_DEFINITIONS,
        PROCESS_INSTANCES,
        ELEMENT_INSTANCES,
        JOBS,
        VARIABLES,
        INCIDENTS,
        DECISION_REQUIREMENTS,
        DECISION_DEFINITIONS,
        DECISION_INSTANCES,
        AUDIT_ENTRIES,
    )
}
