"""Evaluates a decision with its requirements for a caller, and deletes stored evaluations."""

from server.engine.answers import DONE, DecisionResult, Done
from server.engine.cluster_variables import CONTEXT_NAME
from server.engine.decision_commands import DeleteDecisionInstance, EvaluateDecision
from server.engine.decision_evaluation import evaluation_of
from server.engine.decision_events import DecisionInstanceDeleted
from server.engine.decisions import Decision
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step
from server.engine.variables import decode
from server.feel import Budget

MAX_DECISION_STEPS = 1_000_000
"""Less than the limit elsewhere, because the partition's loop, which renews its lease, waits meanwhile."""


def evaluate(command: EvaluateDecision, step: Step) -> DecisionResult:
    """Evaluate a decision; a failed evaluation is an answer, too."""
    decision = _decision(command, step)
    key = step.next_key()
    variables = {
        CONTEXT_NAME: step.state.cluster_variables.context(command.tenant_id),
        **{name: decode(text) for name, text in command.variables.items()},
    }
    ports = step.ports(key)._replace(budget=Budget(MAX_DECISION_STEPS))
    event = evaluation_of(decision, variables, ports, key=key)
    step.emit(event)
    return DecisionResult(event)


def delete(command: DeleteDecisionInstance, step: Step) -> Done:
    """Delete a stored evaluation; the caller reads from the store which decisions it has."""
    key = command.decision_evaluation_key
    if not command.last_place:
        raise Rejected(RejectionType.NOT_FOUND, f"there is no decision evaluation with key {key}")
    step.emit(DecisionInstanceDeleted(key, command.tenant_id, command.last_place))
    return DONE


def _decision(command: EvaluateDecision, step: Step) -> Decision:
    known, key = step.state.decisions, command.decision_definition_key
    if key is None:
        decision = known.latest(command.tenant_id, command.decision_definition_id)
        named = f"id '{command.decision_definition_id}'"
    else:
        decision, named = known.get(key), f"key {key}"
    if decision is None or decision.graph.tenant_id != command.tenant_id:
        raise Rejected(
            RejectionType.NOT_FOUND,
            f"Expected to evaluate the decision with {named}, but no such decision was found",
        )
    return decision
