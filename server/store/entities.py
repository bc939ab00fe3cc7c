"""The rows of searches and reads.

A field has the name of the contract's message field and of the column; the mapper and the query engine rely
on it. Only the store changes its rows.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from server.engine.batch_operations import BatchOperationType
from server.engine.keys import Key


class ProcessDefinitionState(StrEnum):
    ACTIVE = "ACTIVE"
    DELETED = "DELETED"


class ProcessInstanceState(StrEnum):
    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"


class ElementInstanceState(StrEnum):
    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"


class IncidentState(StrEnum):
    ACTIVE = "ACTIVE"
    RESOLVED = "RESOLVED"


class JobState(StrEnum):
    CREATED = "CREATED"
    TIMED_OUT = "TIMED_OUT"
    FAILED = "FAILED"
    RETRIES_UPDATED = "RETRIES_UPDATED"
    COMPLETED = "COMPLETED"
    CANCELED = "CANCELED"
    ERROR_THROWN = "ERROR_THROWN"
    MIGRATED = "MIGRATED"


class UserTaskState(StrEnum):
    CREATING = "CREATING"
    CREATED = "CREATED"
    ASSIGNING = "ASSIGNING"
    UPDATING = "UPDATING"
    COMPLETING = "COMPLETING"
    CANCELING = "CANCELING"
    COMPLETED = "COMPLETED"
    CANCELED = "CANCELED"


class MessageSubscriptionState(StrEnum):
    CREATED = "CREATED"
    CORRELATED = "CORRELATED"
    DELETED = "DELETED"
    MIGRATED = "MIGRATED"


class MessageSubscriptionType(StrEnum):
    """Whether a start event or an element instance waits for the message."""

    START_EVENT = "START_EVENT"
    PROCESS_EVENT = "PROCESS_EVENT"


class DecisionInstanceState(StrEnum):
    EVALUATED = "EVALUATED"
    FAILED = "FAILED"


class DecisionDefinitionType(StrEnum):
    """Kinds of decision logic in searches; the answer of an evaluation distinguishes more kinds."""

    DECISION_TABLE = "DECISION_TABLE"
    LITERAL_EXPRESSION = "LITERAL_EXPRESSION"
    UNKNOWN = "UNKNOWN"


class AuditResult(StrEnum):
    SUCCESS = "SUCCESS"
    FAIL = "FAIL"


class BatchOperationState(StrEnum):
    CREATED = "CREATED"
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    COMPLETED = "COMPLETED"
    CANCELED = "CANCELED"
    FAILED = "FAILED"


class BatchOperationItemState(StrEnum):
    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


class Row(msgspec.Struct, gc=False):
    """Base of all rows; `__struct_fields__` are the names of its fields."""


class ProcessDefinition(Row, kw_only=True, gc=False):
    process_definition_key: Key
    tenant_id: str
    process_definition_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource_name: str
    xml: str
    deployment_key: Key
    deployment_time: datetime
    has_start_form: bool = False
    is_latest_version: bool = True
    state: ProcessDefinitionState = ProcessDefinitionState.ACTIVE
    start_form_id: str | None = None


class ProcessInstance(Row, kw_only=True, gc=False):
    process_instance_key: Key
    tenant_id: str
    process_definition_key: Key
    process_definition_id: str
    process_definition_name: str | None
    process_definition_version: int
    process_definition_version_tag: str | None
    start_date: datetime
    end_date: datetime | None = None
    state: ProcessInstanceState = ProcessInstanceState.ACTIVE
    has_incident: bool = False
    parent_process_instance_key: Key | None = None
    parent_element_instance_key: Key | None = None
    root_process_instance_key: Key | None = None
    tags: tuple[str, ...] = ()
    business_id: str | None = None


class ElementInstance(Row, kw_only=True, gc=False):
    """An element instance; `sequence_flow_ids` are the flows that were taken when it completed."""

    element_instance_key: Key
    tenant_id: str
    process_instance_key: Key
    process_definition_key: Key
    process_definition_id: str
    element_id: str
    element_name: str
    type: str
    element_instance_scope_key: Key
    start_date: datetime
    end_date: datetime | None = None
    state: ElementInstanceState = ElementInstanceState.ACTIVE
    has_incident: bool = False
    incident_key: Key | None = None
    root_process_instance_key: Key | None = None
    sequence_flow_ids: tuple[str, ...] = ()


class Job(Row, kw_only=True, gc=False):
    job_key: Key
    tenant_id: str
    type: str
    retries: int
    custom_headers: Mapping[str, str]
    element_id: str
    element_instance_key: Key
    process_instance_key: Key
    process_definition_key: Key
    process_definition_id: str
    creation_time: datetime
    last_update_time: datetime
    worker: str = ""
    deadline: datetime | None = None
    end_time: datetime | None = None
    state: JobState = JobState.CREATED
    kind: str = "BPMN_ELEMENT"
    listener_event_type: str = "UNSPECIFIED"
    error_code: str | None = None
    error_message: str | None = None
    has_failed_with_retries_left: bool = False
    denied_reason: str | None = None
    is_denied: bool | None = None
    root_process_instance_key: Key | None = None


class Variable(Row, kw_only=True, gc=False):
    """A variable; `value` is the whole value as JSON text."""

    variable_key: Key
    tenant_id: str
    name: str
    scope_key: Key
    process_instance_key: Key
    value: str
    root_process_instance_key: Key | None = None


class Incident(Row, kw_only=True, gc=False):
    """An incident; `tags` are those of its process instance, for searches."""

    incident_key: Key
    tenant_id: str
    process_definition_key: Key
    process_definition_id: str
    process_instance_key: Key
    element_id: str
    element_instance_key: Key
    job_key: Key | None
    error_type: str
    error_message: str
    creation_time: datetime
    state: IncidentState = IncidentState.ACTIVE
    tags: tuple[str, ...] = ()
    root_process_instance_key: Key | None = None


class UserTask(Row, kw_only=True, gc=False):
    """A user task; `completion_date` is set when it is completed or canceled, `tags` are those of its process instance."""

    user_task_key: Key
    tenant_id: str
    name: str | None
    element_id: str
    element_instance_key: Key
    process_instance_key: Key
    process_name: str | None
    process_definition_key: Key
    process_definition_id: str
    process_definition_version: int
    creation_date: datetime
    custom_headers: Mapping[str, str]
    completion_date: datetime | None = None
    state: UserTaskState = UserTaskState.CREATED
    assignee: str | None = None
    candidate_groups: tuple[str, ...] = ()
    candidate_users: tuple[str, ...] = ()
    due_date: datetime | None = None
    follow_up_date: datetime | None = None
    priority: int = 50
    external_form_reference: str | None = None
    form_key: Key | None = None
    tags: tuple[str, ...] = ()
    root_process_instance_key: Key | None = None


class MessageSubscription(Row, kw_only=True, gc=False):
    """A message subscription; that of a start event has no process instance and no correlation key.

    The state is the last thing that happened to it; `is_open` is true while it still waits.
    """

    message_subscription_key: Key
    tenant_id: str
    process_definition_key: Key
    process_definition_id: str
    process_definition_name: str | None
    process_definition_version: int
    element_id: str
    message_name: str
    last_updated_date: datetime
    extension_properties: Mapping[str, str]
    tool_name: str | None = None
    inbound_connector_type: str | None = None
    message_subscription_state: MessageSubscriptionState = MessageSubscriptionState.CREATED
    message_subscription_type: MessageSubscriptionType = MessageSubscriptionType.PROCESS_EVENT
    is_open: bool = True
    process_instance_key: Key | None = None
    element_instance_key: Key | None = None
    correlation_key: str | None = None
    root_process_instance_key: Key | None = None


class CorrelatedMessageSubscription(Row, kw_only=True, gc=False):
    """A message that a process instance caught or was started by; the latter has no element instance.

    `partition_id` is the partition of the process instance.
    """

    correlated_message_subscription_key: Key
    tenant_id: str
    partition_id: int
    message_key: Key
    subscription_key: Key
    message_name: str
    correlation_key: str | None
    correlation_time: datetime
    process_definition_key: Key
    process_definition_id: str
    process_instance_key: Key
    element_id: str
    element_instance_key: Key | None = None
    root_process_instance_key: Key | None = None


class DecisionRequirements(Row, kw_only=True, gc=False):
    decision_requirements_key: Key
    tenant_id: str
    decision_requirements_id: str
    decision_requirements_name: str
    version: int
    resource_name: str
    xml: str
    deployment_key: Key
    deployment_time: datetime
    is_deleted: bool = False


class DecisionDefinition(Row, kw_only=True, gc=False):
    decision_definition_key: Key
    tenant_id: str
    decision_definition_id: str
    name: str
    version: int
    decision_requirements_key: Key
    decision_requirements_id: str
    decision_requirements_name: str
    decision_requirements_version: int
    is_latest_version: bool = True
    is_deleted: bool = False


class DecisionInstance(Row, kw_only=True, gc=False):
    """The evaluation of one decision, for a caller or as a requirement of another decision.

    Its key is the key of the whole evaluation plus its place in it, counted from one. Callers refer to it by
    the text `decision_evaluation_instance_key`, which has both. `result`, `inputs` and matched `rules` are
    JSON text.
    """

    decision_instance_key: Key
    tenant_id: str
    decision_evaluation_key: Key
    decision_evaluation_instance_key: str
    decision_definition_key: Key
    decision_definition_id: str
    decision_definition_name: str
    decision_definition_type: DecisionDefinitionType
    decision_definition_version: int
    decision_requirements_key: Key
    root_decision_definition_key: Key
    evaluation_date: datetime
    result: str
    inputs: str
    rules: str
    evaluation_failure: str | None = None
    state: DecisionInstanceState = DecisionInstanceState.EVALUATED
    process_definition_key: Key | None = None
    process_instance_key: Key | None = None
    element_instance_key: Key | None = None
    root_process_instance_key: Key | None = None


class Form(Row, kw_only=True, gc=False):
    """A deployed version of a form; `schema` is its file, JSON text. User tasks keep deleted forms."""

    form_key: Key
    tenant_id: str
    form_id: str
    version: int
    version_tag: str | None
    resource_name: str
    schema: str
    deployment_key: Key
    deployment_time: datetime
    is_latest_version: bool = True
    is_deleted: bool = False


class GenericResource(Row, kw_only=True, gc=False):
    """A deployed version of a generic resource; `content` is its file. Jobs keep deleted resources."""

    resource_key: Key
    tenant_id: str
    resource_id: str
    version: int
    version_tag: str | None
    resource_name: str
    content: str
    deployment_key: Key
    deployment_time: datetime
    is_latest_version: bool = True
    is_deleted: bool = False


class BatchOperation(Row, kw_only=True, gc=False):
    """A batch operation; `failure` is the reason why its items could not be collected."""

    batch_operation_key: Key
    tenant_id: str
    operation_type: BatchOperationType
    state: BatchOperationState = BatchOperationState.CREATED
    start_date: datetime | None = None
    end_date: datetime | None = None
    actor_type: str | None = None
    actor_id: str | None = None
    operations_total_count: int = 0
    operations_failed_count: int = 0
    operations_completed_count: int = 0
    failure: str | None = None


class BatchOperationItem(Row, kw_only=True, gc=False):
    """An item; `item_key` is the key of a process instance, an incident in it, or a decision evaluation.

    The item of a decision evaluation has no process instance.
    """

    batch_operation_item_key: Key
    tenant_id: str
    batch_operation_key: Key
    operation_type: BatchOperationType
    item_key: Key
    process_instance_key: Key | None = None
    root_process_instance_key: Key | None = None
    state: BatchOperationItemState = BatchOperationItemState.ACTIVE
    processed_date: datetime | None = None
    error_message: str | None = None


class ClusterVariableScope(StrEnum):
    GLOBAL = "GLOBAL"
    TENANT = "TENANT"


class ClusterVariable(Row, kw_only=True, gc=False):
    """A variable of one tenant, or a global one for all tenants. The value is JSON text."""

    cluster_variable_key: Key
    tenant_id: str | None
    name: str
    value: str
    scope: ClusterVariableScope


class GlobalListenerSource(StrEnum):
    CONFIGURATION = "CONFIGURATION"
    API = "API"


class GlobalTaskListener(Row, kw_only=True, gc=False):
    """A listener for every native user task of its tenant."""

    global_task_listener_key: Key
    tenant_id: str
    id: str
    type: str
    event_types: tuple[str, ...]
    retries: int
    after_non_global: bool
    priority: int
    source: GlobalListenerSource


class AuditEntry(Row, kw_only=True, gc=False):
    """A command of a caller, rejected ones included; the entry gets its key at the commit.

    `entity_key` is the key that the command named or created, `detail` the reason of a rejection. Identity
    entities have ids instead of keys. `related_entity_id` is the entity that is assigned to or unassigned
    from the audited one.
    """

    audit_entry_key: Key = Key(0)
    tenant_id: str
    timestamp: datetime
    operation_type: str
    result: AuditResult
    actor_type: str
    actor_id: str
    entity_type: str
    entity_key: Key | None = None
    process_definition_key: Key | None = None
    process_instance_key: Key | None = None
    operation_reference: int | None = None
    request_id: str | None = None
    reason: str | None = None
    detail: str | None = None
    entity_id: str | None = None
    related_entity_type: str | None = None
    related_entity_id: str | None = None
    element_instance_key: Key | None = None
    batch_operation_key: Key | None = None
    batch_operation_type: str | None = None
    form_key: Key | None = None
    root_process_instance_key: Key | None = None


Entity = (
    ProcessDefinition
    | ProcessInstance
    | ElementInstance
    | Job
    | Variable
    | Incident
    | UserTask
    | MessageSubscription
    | CorrelatedMessageSubscription
    | DecisionRequirements
    | DecisionDefinition
    | DecisionInstance
    | Form
    | GenericResource
    | ClusterVariable
    | GlobalTaskListener
    | BatchOperation
    | BatchOperationItem
    | AuditEntry
)
