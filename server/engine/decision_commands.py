"""Commands about evaluations of decisions."""

from dataclasses import dataclass, field

from server.engine.addresses import ANYWHERE, Address, OwnersOf
from server.engine.keys import Key
from server.engine.variables import Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateDecision:
    """Evaluate a decision, named by key, or by id for its latest version."""

    tenant_id: str
    decision_definition_key: Key | None = None
    decision_definition_id: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class DeleteDecisionInstance:
    """Delete the stored decisions of an evaluation, up to `last_place`, which is 0 when none are stored."""

    tenant_id: str
    decision_evaluation_key: Key
    last_place: int

    @property
    def address(self) -> Address:
        return OwnersOf((self.decision_evaluation_key,))
