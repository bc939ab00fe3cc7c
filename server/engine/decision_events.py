"""Events of decisions: requirements graphs were deployed, decisions were evaluated.

As in `events`, each struct is in the past tense and can be understood alone.
"""

import msgspec

from server.engine.events import Event, InstanceHead
from server.engine.keys import Key
from server.feel import DialectName


class DeployedDecision(msgspec.Struct, frozen=True, gc=False):
    """A deployed decision of a requirements graph; `previous_key` is the key of the version before it.

    Events of format 1 have no version tag.
    """

    key: Key
    decision_definition_id: str
    name: str
    version: int
    previous_key: Key | None
    version_tag: str | msgspec.UnsetType | None = msgspec.UNSET


class DecisionRequirementsDeployed(Event, frozen=True):
    """A requirements graph was deployed; its decisions have the keys that follow its own.

    `imports` are the contents of the imported models. The stored form has `is_deleted` set after a deletion.
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
    """A requirements graph was deleted with its decisions; `latest_keys` are the decisions that become the latest ones."""

    definition: DecisionRequirementsDeployed
    latest_keys: tuple[Key, ...]


class DecisionRequirementsAdopted(Event, frozen=True):
    """A graph that another partition deployed is now known in this one."""

    definition: DecisionRequirementsDeployed


class EvaluatedInput(msgspec.Struct, frozen=True, gc=False):
    """The value of an input, as JSON text like every `value` and `output` below."""

    id: str
    name: str
    value: str


class EvaluatedOutput(msgspec.Struct, frozen=True, gc=False):
    id: str
    name: str
    value: str


class MatchedRule(msgspec.Struct, frozen=True, gc=False):
    """A rule that matched; `index` counts from one."""

    id: str
    index: int
    outputs: tuple[EvaluatedOutput, ...]


class EvaluatedDecision(msgspec.Struct, frozen=True, gc=False):
    """An evaluated decision; `failure` is the reason why it has no output."""

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
    """A decision was evaluated, with the decisions that it requires.

    The key of each decision is the key of the evaluation plus its place in `decisions`, counted from one.
    `failed_decision_id` and `failure` are set when there is no output. `instance` and `element_instance_key`
    are set when a process instance evaluated the decision.
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
        """The id of the evaluation of one decision, in the spelling of the API."""
        return f"{self.key}-{decision.key - self.key}"


class DecisionInstanceDeleted(Event, frozen=True):
    """The rows of the decisions of an evaluation, up to `last_place`, are deleted."""

    key: Key
    tenant_id: str
    last_place: int
