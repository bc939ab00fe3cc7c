"""What the engine can be asked to do, in the imperative.

Commands of callers name their tenant; what another tenant owns does not exist for them.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from server.engine.decision_events import DecisionRequirementsDeployed
from server.engine.events import ProcessDefinitionDeployed
from server.engine.keys import Key
from server.engine.variables import Variables
from server.feel import DialectName


@dataclass(frozen=True, slots=True)
class Resource:
    """A file that was read and found fit: `process_ids` are the executable processes in it."""

    name: str
    content: bytes
    checksum: str
    process_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedDecision:
    """A decision by what its model calls it."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionModel:
    """A file that was read and found fit: a requirements graph with the decisions in it.

    `imports` are the contents of the models that it imports; the checksum is of them, too.
    """

    name: str
    content: bytes
    checksum: str
    imports: tuple[bytes, ...]
    dialect: DialectName
    decision_requirements_id: str
    decision_requirements_name: str
    decisions: tuple[NamedDecision, ...]


@dataclass(frozen=True, slots=True)
class DeployResources:
    tenant_id: str
    resources: tuple[Resource, ...]
    decision_models: tuple[DecisionModel, ...] = ()


@dataclass(frozen=True, slots=True)
class AdoptDefinition:
    """Another partition deployed a process definition or a requirements graph."""

    definition: ProcessDefinitionDeployed | DecisionRequirementsDeployed


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateDecision:
    """Names its decision by key, or by id (the latest version)."""

    tenant_id: str
    decision_definition_key: Key | None = None
    decision_definition_id: str = ""
    variables: Variables = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateProcessInstance:
    """Names its definition by key, or by id and version (None: the latest)."""

    tenant_id: str
    process_definition_key: Key | None = None
    process_definition_id: str = ""
    version: int | None = None
    variables: Variables = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    business_id: str | None = None


@dataclass(frozen=True, slots=True)
class CancelProcessInstance:
    tenant_id: str
    process_instance_key: Key


@dataclass(frozen=True, slots=True)
class MappingInstruction:
    """Where an element of the source goes, or a sequence flow that waits at a joining gateway."""

    source_element_id: str
    target_element_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrateProcessInstance:
    tenant_id: str
    process_instance_key: Key
    target_process_definition_key: Key
    mapping_instructions: tuple[MappingInstruction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateJobs:
    """`fetch_variables` empty means every visible variable."""

    tenant_id: str
    type: str
    worker: str
    timeout: timedelta
    max_jobs: int
    fetch_variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class YieldJobs:
    """Activated jobs, each with the deadline that it got, never reached their worker: offer them again."""

    tenant_id: str
    jobs: tuple[tuple[Key, datetime], ...]


@dataclass(frozen=True, slots=True)
class CompleteJob:
    tenant_id: str
    job_key: Key
    variables: Variables = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailJob:
    """A worker gives an activated job back."""

    tenant_id: str
    job_key: Key
    retries: int = 0
    error_message: str = ""
    retry_back_off: timedelta = timedelta()
    variables: Variables = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrowJobError:
    tenant_id: str
    job_key: Key
    error_code: str
    error_message: str = ""
    variables: Variables = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateJob:
    tenant_id: str
    job_key: Key
    retries: int | None = None
    timeout: timedelta | None = None


@dataclass(frozen=True, slots=True)
class TimeOutJob:
    """Time: the deadline that the job had has passed."""

    job_key: Key
    deadline: datetime


@dataclass(frozen=True, slots=True)
class EndJobBackOff:
    """Time: the job may be offered again."""

    job_key: Key
    offered_at: datetime


@dataclass(frozen=True, slots=True)
class ResolveIncident:
    tenant_id: str
    incident_key: Key


Command = (
    DeployResources
    | AdoptDefinition
    | EvaluateDecision
    | CreateProcessInstance
    | CancelProcessInstance
    | MigrateProcessInstance
    | ActivateJobs
    | YieldJobs
    | CompleteJob
    | FailJob
    | ThrowJobError
    | UpdateJob
    | TimeOutJob
    | EndJobBackOff
    | ResolveIncident
)
