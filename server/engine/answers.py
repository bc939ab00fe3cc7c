"""Answers of commands."""

from dataclasses import dataclass
from datetime import datetime

import msgspec

from server.engine.decision_events import DecisionEvaluated
from server.engine.events import InstanceHead
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.keys import Key
from server.engine.user_task_changes import UserTaskValues
from server.engine.variables import Variables, octets

# Most octets of variables in one answer to a job activation: about 3 MiB, below the limit of a gRPC message.
MAX_ANSWER_OCTETS = 3 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class DeployedProcess:
    """A process definition in the answer to its deployment."""

    key: Key
    process_definition_id: str
    version: int
    resource_name: str


@dataclass(frozen=True, slots=True)
class DeployedDecision:
    """A decision in the answer to its deployment."""

    key: Key
    decision_definition_id: str
    name: str
    version: int


@dataclass(frozen=True, slots=True)
class DeployedRequirements:
    """A requirements graph in the answer to its deployment."""

    key: Key
    decision_requirements_id: str
    name: str
    version: int
    resource_name: str
    decisions: tuple[DeployedDecision, ...]


@dataclass(frozen=True, slots=True)
class DeployedForm:
    """A form in the answer to its deployment."""

    key: Key
    form_id: str
    version: int
    resource_name: str


@dataclass(frozen=True, slots=True)
class DeployedResource:
    """A generic resource in the answer to its deployment."""

    key: Key
    resource_id: str
    version: int
    resource_name: str


@dataclass(frozen=True, slots=True)
class Deployment:
    """The answer to a deployment: definitions of each kind in the order of the files, unchanged ones included."""

    key: Key
    definitions: tuple[DeployedProcess, ...]
    requirements: tuple[DeployedRequirements, ...] = ()
    forms: tuple[DeployedForm, ...] = ()
    resources: tuple[DeployedResource, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """The result of a decision evaluation, which has an output or a failure."""

    evaluation: DecisionEvaluated


class CreatedInstance(msgspec.Struct, frozen=True, gc=False):
    head: InstanceHead


class UserTaskProperties(msgspec.Struct, frozen=True, gc=False):
    """The user task of a task listener job: its values after the transition, and the names of the changed ones."""

    key: Key
    action: str
    values: UserTaskValues
    changed_attributes: tuple[str, ...]
    form_key: Key | None = None

    @property
    def octets(self) -> int:
        names = (*self.values.candidate_groups, *self.values.candidate_users)
        return sum(octets(name) for name in names)


class ActivatedJob(msgspec.Struct, frozen=True, gc=False):
    """An activated job as its worker receives it."""

    key: Key
    instance: InstanceHead
    type: str
    element_id: str
    element_instance_key: Key
    headers: dict[str, str]
    worker: str
    retries: int
    deadline: datetime
    variables: Variables
    kind: JobKind = JobKind.BPMN_ELEMENT
    listener_event_type: ListenerEventType = ListenerEventType.UNSPECIFIED
    user_task: UserTaskProperties | None = None

    @property
    def octets(self) -> int:
        """The size of the variables and of the user task of a listener job."""
        size = sum([octets(text) for text in self.variables.values()])
        return size if self.user_task is None else size + self.user_task.octets


class ActivatedJobs(msgspec.Struct, frozen=True, gc=False):
    jobs: tuple[ActivatedJob, ...]


@dataclass(frozen=True, slots=True)
class PublishedMessage:
    key: Key


@dataclass(frozen=True, slots=True)
class CorrelatedMessage:
    """The answer to a message correlation.

    The process instance is one that the message started, or else one that received it.
    """

    key: Key
    process_instance_key: Key


@dataclass(frozen=True, slots=True)
class EvaluatedConditionals:
    """The answer to an evaluation of conditional start events: the process instances that were created."""

    key: Key
    heads: tuple[InstanceHead, ...]


@dataclass(frozen=True, slots=True)
class SignalBroadcast:
    key: Key


@dataclass(frozen=True, slots=True)
class BatchOperationCreated:
    key: Key


@dataclass(frozen=True, slots=True)
class ChangedClusterVariable:
    key: Key


@dataclass(frozen=True, slots=True)
class ChangedGlobalTaskListener:
    key: Key


@dataclass(frozen=True, slots=True)
class TransitionBegun:
    """The task listeners of a user task run first; the command is answered when the transition ends."""

    key: Key


@dataclass(frozen=True, slots=True)
class Done:
    """An answer without content."""


DONE = Done()

Answer = (
    Deployment
    | DecisionResult
    | CreatedInstance
    | ActivatedJobs
    | PublishedMessage
    | CorrelatedMessage
    | EvaluatedConditionals
    | SignalBroadcast
    | BatchOperationCreated
    | ChangedClusterVariable
    | ChangedGlobalTaskListener
    | TransitionBegun
    | Done
)
