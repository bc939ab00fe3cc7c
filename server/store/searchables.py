"""Search fields of each entity: its annotations, plus filter fields without an attribute."""

from collections.abc import Mapping

from server.platform.query import (
    Association,
    Condition,
    Operator,
    Searchable,
    contains_every,
    contains_none,
    equals,
    has_related,
    longer_than,
    only_if_true,
)
from server.store.entities import (
    AuditEntry,
    BatchOperation,
    BatchOperationItem,
    ClusterVariable,
    CorrelatedMessageSubscription,
    DecisionDefinition,
    DecisionInstance,
    DecisionRequirements,
    ElementInstance,
    Entity,
    Form,
    GenericResource,
    GlobalTaskListener,
    Incident,
    IncidentState,
    Job,
    JobState,
    MessageSubscription,
    ProcessDefinition,
    ProcessInstance,
    UserTask,
    Variable,
)

MAX_VALUE_CHARACTERS = 8191
"""Most characters of a variable's JSON text in search results; longer texts are truncated."""

PROCESS_DEFINITIONS = Searchable.of(
    ProcessDefinition,
    "process_definition_key",
    derived={"is_latest_version": only_if_true("is_latest_version")},
    contents=("xml",),
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
BATCH_OPERATION_ITEMS = Searchable.of(
    BatchOperationItem,
    "batch_operation_item_key",
    indexed=("batch_operation_key", "process_instance_key"),
)

_INSTANCE = "process_instance_key"


def _element(field: str) -> Association:
    return Association(ELEMENT_INSTANCES, _INSTANCE, field)


_BATCH_OPERATION = Association(BATCH_OPERATION_ITEMS, _INSTANCE, "batch_operation_key")

PROCESS_INSTANCES = Searchable.of(
    ProcessInstance,
    "process_instance_key",
    indexed=("process_definition_key", "parent_process_instance_key"),
    derived={
        "tags": contains_every("tags"),
        "has_retries_left": has_related(
            _INSTANCE,
            Job,
            _INSTANCE,
            # A job that failed and was migrated still waits for its next attempt.
            Condition(JOBS.fields["state"], Operator.IN, (JobState.FAILED, JobState.MIGRATED)),
            Condition(JOBS.fields["retries"], Operator.GT, 0),
            equals(JOBS, "has_failed_with_retries_left", value=True),
        ),
    },
    associations={
        "variables": Association(VARIABLES, _INSTANCE),
        "element_id": _element("element_id"),
        "element_instance_state": _element("state"),
        "has_element_instance_incident": _element("has_incident"),
        "error_message": Association(
            INCIDENTS, _INSTANCE, "error_message", (equals(INCIDENTS, "state", IncidentState.ACTIVE),)
        ),
        "batch_operation_id": _BATCH_OPERATION,
        "batch_operation_key": _BATCH_OPERATION,
    },
)

# Variables of a process instance have its key as scope key, those of an element instance that instance's key.
USER_TASKS = Searchable.of(
    UserTask,
    "user_task_key",
    indexed=("process_instance_key", "element_instance_key", "assignee"),
    derived={"tags": contains_every("tags")},
    associations={
        "process_instance_variables": Association(VARIABLES, "scope_key", key="process_instance_key"),
        "local_variables": Association(VARIABLES, "scope_key", key="element_instance_key"),
    },
    items={"candidate_group": "candidate_groups", "candidate_user": "candidate_users"},
)

MESSAGE_SUBSCRIPTIONS = Searchable.of(
    MessageSubscription,
    "message_subscription_key",
    indexed=("process_instance_key", "element_instance_key", "message_name", "correlation_key"),
)
CORRELATED_MESSAGE_SUBSCRIPTIONS = Searchable.of(
    CorrelatedMessageSubscription,
    "correlated_message_subscription_key",
    indexed=(
        *("process_instance_key", "element_instance_key", "message_name", "correlation_key"),
        *("message_key", "subscription_key"),
    ),
)

DECISION_REQUIREMENTS = Searchable.of(DecisionRequirements, "decision_requirements_key", contents=("xml",))
DECISION_DEFINITIONS = Searchable.of(
    DecisionDefinition,
    "decision_definition_key",
    derived={"is_latest_version": only_if_true("is_latest_version")},
)
DECISION_INSTANCES = Searchable.of(
    DecisionInstance,
    "decision_instance_key",
    indexed=("decision_evaluation_key", "process_instance_key"),
    contents=("inputs", "rules"),
)

FORMS = Searchable.of(Form, "form_key", indexed=("form_id",), contents=("schema",))
GENERIC_RESOURCES = Searchable.of(GenericResource, "resource_key", contents=("content",))
BATCH_OPERATIONS = Searchable.of(BatchOperation, "batch_operation_key")

CLUSTER_VARIABLES = Searchable.of(
    ClusterVariable,
    "cluster_variable_key",
    derived={"is_truncated": longer_than("value", MAX_VALUE_CHARACTERS)},
)

GLOBAL_TASK_LISTENERS = Searchable.of(GlobalTaskListener, "global_task_listener_key")

AUDIT_ENTRIES = Searchable.of(
    AuditEntry, "audit_entry_key", indexed=("entity_key", "entity_id", "process_instance_key")
)

SEARCHABLES: Mapping[type[Entity], Searchable[Entity]] = {
    searchable.entity: searchable
    for searchable in (
        PROCESS_DEFINITIONS,
        PROCESS_INSTANCES,
        ELEMENT_INSTANCES,
        JOBS,
        VARIABLES,
        INCIDENTS,
        USER_TASKS,
        MESSAGE_SUBSCRIPTIONS,
        CORRELATED_MESSAGE_SUBSCRIPTIONS,
        DECISION_REQUIREMENTS,
        DECISION_DEFINITIONS,
        DECISION_INSTANCES,
        FORMS,
        GENERIC_RESOURCES,
        CLUSTER_VARIABLES,
        GLOBAL_TASK_LISTENERS,
        BATCH_OPERATIONS,
        BATCH_OPERATION_ITEMS,
        AUDIT_ENTRIES,
    )
}
