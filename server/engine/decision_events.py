"""Events of decisions: requirements graphs were deployed, decisions were evaluated.

Beside `events`, and like those: structs in the past tense that can be understood alone.
"""

import msgspec

from server.engine.events import Event, InstanceHead
from server.engine.keys import Key
from server.feel import DialectName


class DeployedDecision(msgspec.Struct, frozen=True, gc=False):
    """A decision of a requirements graph; `previous_key` is the version that was the latest until now.

    Releases of format 1 left the version tag out.
    """

    key: Key
    decision_definition_id: str
    name: str
    version: int
    previous_key: Key | None
    version_tag: str | msgspec.UnsetType | None = msgspec.UNSET


class DecisionRequirementsDeployed(Event, frozen=True):
    """A requirements graph with its decisions, whose keys are those that follow its own.

    `imports` are the contents of the models that it imports. As it is stored, `is_deleted` says what became of it.
    """

    key: Key
    deployment_key: Key
    tenant_id: str
    decision_requirements_id: str
    name: str
    version: int
    resource_name: str
    checksum: str
    content: bytes
    imports: tuple[bytes, ...]
    dialect: DialectName
    decisions: tuple[DeployedDecision, ...]
    is_deleted: bool = False


class DecisionRequirementsDeleted(Event, frozen=True):
    """A requirements graph with its decisions; `latest_keys` are the decisions that take the place of the latest ones."""

    definition: DecisionRequirementsDeployed
    latest_keys: tuple[Key, ...]


class DecisionRequirementsAdopted(Event, frozen=True):
    """A graph that another partition deployed is known here from now on."""

    definition: DecisionRequirementsDeployed


class EvaluatedInput(msgspec.Struct, frozen=True, gc=False):
    """`value` is JSON text, here and below."""

    id: str
    name: str
    value: str


class EvaluatedOutput(msgspec.Struct, frozen=True, gc=False):
    id: str
    name: str
    value: str


class MatchedRule(msgspec.Struct, frozen=True, gc=False):
    """`index` counts from one."""

    id: str
    index: int
    outputs: tuple[EvaluatedOutput, ...]


class EvaluatedDecision(msgspec.Struct, frozen=True, gc=False):
    """One decision on the way; `failure` says why it has no output."""

    key: Key
    decision_definition_key: Key
    decision_definition_id: str
    name: str
    version: int
    type: str
    output: str
    inputs: tuple[EvaluatedInput, ...]
    matched_rules: tuple[MatchedRule, ...]
    failure: str | None


class DecisionEvaluated(Event, frozen=True):
    """The key of each decision is that of the evaluation plus its place in `decisions`, counted from one.

    `failed_decision_id` and `failure` say that there is no output. `instance` and `element_instance_key` are given when
    a process instance evaluated it.
    """

    key: Key
    tenant_id: str
    decision_definition_key: Key
    decision_definition_id: str
    name: str
    version: int
    decision_requirements_key: Key
    decision_requirements_id: str
    output: str
    decisions: tuple[EvaluatedDecision, ...]
    failed_decision_id: str | None
    failure: str | None
    instance: InstanceHead | None = None
    element_instance_key: Key | None = None

    def instance_key(self, decision: EvaluatedDecision) -> str:
        """The id of the evaluation of one decision, as the API spells it."""
        return f"{self.key}-{decision.key - self.key}"


class DecisionInstanceDeleted(Event, frozen=True):
    """The rows of the decisions of an evaluation, up to the `last_place`, are not wanted any more."""

    key: Key
    tenant_id: str
    last_place: int
