"""Requests with references to entities of another tenant, derived from the descriptors of the contract."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from server.platform.policy import Policy
from tests.end_to_end.tenancy.world import PASSWORD, STARTS_OF_A_ROLE, Facts

# A key above all that the tests create, and a text that is the name of nothing.
UNKNOWN_KEY = 2251799899999999
UNKNOWN_TEXT = "nothing-has-this-name"

# Values of request fields that are no references, by RPC, or by RPC and reference.
_RULE = {"name": "Rule", "claim_name": "a", "claim_value": "b"}
_MAPPING = [{"source_element_id": "task", "target_element_id": "task"}]
_DAY = 86_400
_FILE = {"name": "a.txt", "content": b"a"}
_TEMPLATES: Mapping[str, Mapping[str, Any]] = {
    "ActivateAdHocSubProcessActivities": {"elements": [{"element_id": "feed"}]},
    "ActivateJobs": {"timeout": 1, "max_jobs_to_activate": 100, "request_timeout": -1, "worker": "a"},
    "StreamActivatedJobs": {"timeout": 1, "worker": "a"},
    "AssignUserTask": {"assignee": "ada"},
    "CompleteJob": {},
    "CompleteJobs": {"completions": [{"job_key": 1}]},
    "CreateAuthorization": {"resource_id": "any", **STARTS_OF_A_ROLE},
    "CreateDeployment": {"resources": [{"name": "a.rpa", "content": b'{"id":"a"}'}]},
    "CreateDocument": {"file": _FILE},
    "CreateDocuments": {"files": [_FILE], "metadata_list": [{}]},
    "CreateElementInstanceVariables": {"variables": b'{"a":2}'},
    "CreateGlobalTaskListener": {"type": "watch", "event_types": ["creating"]},
    "CreateGroup": {"name": "Another"},
    "CreateMappingRule": _RULE,
    "CreateProcessInstances": {"creations": [{"process_definition_id": UNKNOWN_TEXT}]},
    "CreateProcessInstances.creations.process_definition_key": {"creations": [{}]},
    "CreateRole": {"name": "Another"},
    "CreateTenant": {"name": "Another"},
    "CreateTenantClusterVariable": {"value": b"1"},
    "CreateUser": {"password": PASSWORD},
    "EvaluateConditionals": {"variables": b"{}"},
    "EvaluateConditionals.process_definition_key": {"variables": b'{"amountOfTenants":1}'},
    "EvaluateExpression": {"expression": "=1"},
    "AcceptMigration": {"mapping_instructions": _MAPPING},
    "MigrateProcessInstance": {"mapping_instructions": _MAPPING},
    "MigrateProcessInstancesBatchOperation": {
        "filter": {"business_id": {"eq": "none"}},
        "migration_plan": {"mapping_instructions": _MAPPING},
    },
    "ModifyProcessInstance": {"terminate_instructions": [{"element_id": "task"}]},
    "ModifyProcessInstance.activate_instructions": {"activate_instructions": [{"element_id": "task"}]},
    "ModifyProcessInstance.terminate_instructions": {"terminate_instructions": [{}]},
    "ModifyProcessInstance.move_instructions.source_element_instruction.source_element_instance_key": {
        "move_instructions": [
            {"source_element_instruction": {"source_type": "byKey"}, "target_element_id": "task"}
        ]
    },
    "ModifyProcessInstance.move_instructions.ancestor_scope_instruction.ancestor_element_instance_key": {
        "move_instructions": [
            {
                "source_element_instruction": {"source_type": "byId", "source_element_id": "task"},
                "target_element_id": "task",
                "ancestor_scope_instruction": {"ancestor_scope_type": "direct"},
            }
        ]
    },
    "ModifyProcessInstancesBatchOperation": {
        "filter": {"business_id": {"eq": "none"}},
        "move_instructions": [{"source_element_id": "task", "target_element_id": "task"}],
    },
    "ThrowJobError": {"error_code": "a"},
    "UpdateAuthorization": {"resource_id": "any", **STARTS_OF_A_ROLE},
    "UpdateGlobalTaskListener": {"type": "watch", "event_types": ["creating"]},
    "UpdateGroup": {"name": "Another"},
    "UpdateJob": {"changeset": {"retries": 1}},
    "UpdateMappingRule": _RULE,
    "UpdateRole": {"name": "Another"},
    "UpdateTenant": {"name": "Another"},
    "UpdateTenantClusterVariable": {"value": b"2"},
    "UpdateUser": {"name": "Another"},
    "UpdateUserTask": {"changeset": {"priority": 1}},
    "GetUsageMetrics": {"start_time": {"seconds": 0}, "end_time": {"seconds": 4_000_000_000}},
}

# The entity that a reference field refers to, if its name differs; by RPC and path, or by field name.
_FACTS: Mapping[str, str] = {
    "PublishMessage.name": "message_name",
    "CorrelateMessage.name": "message_name",
    "CreateTenantClusterVariable.name": "setting",
    "GetTenantClusterVariable.name": "setting",
    "UpdateTenantClusterVariable.name": "setting",
    "DeleteTenantClusterVariable.name": "setting",
    "ActivateJobs.type": "job_type",
    "StreamActivatedJobs.type": "job_type",
    "DeleteProcessInstance.process_instance_key": "ended_process_instance_key",
    "SearchElementInstanceIncidents.element_instance_key": "incident_element_instance_key",
    "SearchProcessInstanceIncidents.process_instance_key": "incident_process_instance_key",
    "ResolveProcessInstanceIncidents.process_instance_key": "incident_process_instance_key",
    "FireTimer.process_instance_key": "timed_process_instance_key",
    "ListTimers.process_instance_key": "timed_process_instance_key",
    "id": "listener",
    "owner_id": "role_id",
    "target_process_definition_key": "process_definition_key",
    "ancestor_element_instance_key": "element_instance_key",
    "source_element_instance_key": "element_instance_key",
    "bpmn_process_id": "process_definition_id",
    "entity_key": "user_task_key",
    "entity_id": "role_id",
    "tenant_ids": "tenant_id",
    "subject": "client_id",
}
# Filter fields that an operation requires, and the entities in them.
_FILTERS: Mapping[str, str] = {
    "GetJobErrorStatistics": "job_type",
    "GetJobTimeSeriesStatistics": "job_type",
    "GetJobWorkerStatistics": "job_type",
    "GetProcessDefinitionInstanceVersionStatistics": "process_definition_id",
    "GetProcessInstanceStatisticsByDefinition": "error_hash_code",
}
# Fields with the id of the entity that the operation creates.
_GIVEN = {
    "CreateTenantClusterVariable.name",
    "CreateGlobalTaskListener.id",
    "CreateDocument.document_id",
    "CreateGroup.group_id",
    "CreateMappingRule.mapping_rule_id",
    "CreateProcessInstance.business_id",
    "CreateProcessInstances.creations.business_id",
    "CreateRole.role_id",
    "CreateUser.username",
}
# Free texts, and ids that are unique within a process instance or a definition only.
_TEXTS = {
    "after_element_id",
    "element_id",
    "message_id",
    "name",
    "CreateAuthorization.resource_id",
    "UpdateAuthorization.resource_id",
    "scope_id",
    "source_element_id",
    "store_id",
    "target_element_id",
    "type",
}
_QUERY = {"filter", "page", "sort"}
Path = tuple[FieldDescriptor, ...]


@dataclass(frozen=True)
class Reference:
    """A request field that refers to an entity of a tenant, and the kind of the entity."""

    rpc: str
    path: Path
    fact: str

    def __str__(self) -> str:
        return ".".join(field.name for field in self.path)

    @property
    def is_given(self) -> bool:
        """Whether the operation creates the entity; another tenant may use the same id."""
        return f"{self.rpc}.{self}" in _GIVEN

    @property
    def unknown(self) -> int | str:
        if self.path[-1].name == "decision_evaluation_instance_key":
            return f"{UNKNOWN_KEY}-1"
        is_text = self.path[-1].type == FieldDescriptor.TYPE_STRING
        return UNKNOWN_TEXT if is_text else UNKNOWN_KEY


def references(policy: Policy) -> Iterator[Reference]:
    for path in _fields(policy.request.DESCRIPTOR):
        name = path[-1].name
        dotted = ".".join((policy.name, *(field.name for field in path)))
        fact = _FACTS.get(dotted) or _FACTS.get(name) or (None if {name, dotted} & _TEXTS else name)
        if fact is not None:
            yield Reference(policy.name, path, fact)


def _fields(message: Descriptor, above: Path = ()) -> Iterator[Path]:
    for field in message.fields:
        kind = field.message_type
        if kind is None:
            if _names(field.name):
                yield (*above, field)
        elif field.name not in _QUERY and kind not in {each.message_type for each in above}:
            yield from _fields(kind, (*above, field))


def _names(field: str) -> bool:
    return field.endswith(("_key", "_id", "_ids")) or field in {"id", "name", "subject", "type", "username"}


def base_request(policy: Policy, facts: Facts, reference: Reference | None = None) -> Any:
    """Return a valid request of the caller with the required references only."""
    request: Any = policy.request(**copy.deepcopy(_template(policy.name, reference)))
    for each in references(policy):
        if len(each.path) == 1 and not each.path[0].has_presence and not each.path[0].is_repeated:
            fill(request, each.path, facts[each.fact])
    if policy.name in _FILTERS:
        member = _FILTERS[policy.name]
        setattr(request.filter, member, facts[member])
    _fill_day(request, facts["now"])
    return request


def _fill_day(request: Any, now: int) -> None:
    """Set the interval of a statistic to the present day."""
    target = request
    if "from" not in request.DESCRIPTOR.fields_by_name:
        target = getattr(request, "filter", request)
    if {"from", "to", "job_type"} <= set(target.DESCRIPTOR.fields_by_name):
        getattr(target, "from").seconds = now - _DAY
        target.to.seconds = now + _DAY


def _template(rpc: str, reference: Reference | None) -> Mapping[str, Any]:
    if reference is not None:
        for name in (f"{rpc}.{reference}", f"{rpc}.{reference.path[0].name}"):
            if name in _TEMPLATES:
                return _TEMPLATES[name]
    return _TEMPLATES.get(rpc, {})


def request_with(policy: Policy, facts: Facts, reference: Reference, value: object) -> Any:
    """Return the caller's request with one reference replaced."""
    request = base_request(policy, facts, reference)
    fill(request, reference.path, value)
    return request


def fill(request: Message, path: Path, value: object) -> None:
    *above, last = path
    target: Any = request
    for field in above:
        target = getattr(target, field.name)
        if field.is_repeated:
            target = target[0] if len(target) else target.add()
    if last.is_repeated:
        getattr(target, last.name).append(value)
        return
    is_text = last.type == FieldDescriptor.TYPE_STRING
    setattr(target, last.name, str(value) if is_text else value)


def scalars(message: Message) -> Iterator[object]:
    """Yield every text and number of a message, at any depth."""
    for field, value in message.ListFields():
        for each in value if field.is_repeated else (value,):
            if isinstance(each, Message):
                yield from scalars(each)
            else:
                yield each
