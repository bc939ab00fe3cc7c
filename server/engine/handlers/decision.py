"""Evaluate a decision for a caller, with all that it requires."""

from dataclasses import replace

from server import dmn
from server.engine.answers import DecisionResult
from server.engine.commands import EvaluateDecision
from server.engine.decision_events import (
    DecisionEvaluated,
    EvaluatedDecision,
    EvaluatedInput,
    EvaluatedOutput,
    MatchedRule,
)
from server.engine.decisions import Decision
from server.engine.keys import Key
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step
from server.engine.variables import decode, encode
from server.feel import Budget

MAX_DECISION_STEPS = 1_000_000
"""Less than a decision may take elsewhere: the partition's loop, which renews its lease, waits for this one."""


def evaluate(command: EvaluateDecision, step: Step) -> DecisionResult:
    """A decision that fails is an answer like any other."""
    decision = _decision(command, step)
    key = step.next_key()
    variables = {name: decode(text) for name, text in command.variables.items()}
    ports = replace(step.ports(key), budget=Budget(MAX_DECISION_STEPS))
    evaluation = decision.model.evaluate(decision.deployed.decision_definition_id, variables, ports=ports)
    event = _event(decision, evaluation, key)
    step.emit(event)
    return DecisionResult(event)


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


def _event(decision: Decision, evaluation: dmn.DecisionEvaluation, key: Key) -> DecisionEvaluated:
    deployed, graph, failure = decision.deployed, decision.graph, evaluation.failure
    message = (
        f"Expected to evaluate decision '{deployed.decision_definition_id}', but {failure.message}"
        if failure
        else None
    )
    return DecisionEvaluated(
        key=key,
        tenant_id=graph.tenant_id,
        decision_definition_key=deployed.key,
        decision_definition_id=deployed.decision_definition_id,
        name=deployed.name,
        version=deployed.version,
        decision_requirements_key=graph.key,
        decision_requirements_id=graph.decision_requirements_id,
        output=encode(evaluation.value),
        decisions=_told(decision, evaluation, message, key=key),
        failed_decision_id=failure.decision_id if failure else None,
        failure=message,
    )


def _told(
    decision: Decision, evaluation: dmn.DecisionEvaluation, message: str | None, *, key: Key
) -> tuple[EvaluatedDecision, ...]:
    """Decisions of imported models are left out: they have no definition here. What failed is the last."""
    own = {deployed.decision_definition_id: deployed for deployed in decision.graph.decisions}
    told = [evaluated for evaluated in evaluation.evaluated if evaluated.id in own]
    return tuple(
        EvaluatedDecision(
            key=Key(key + place),
            decision_definition_key=own[evaluated.id].key,
            decision_definition_id=evaluated.id,
            name=evaluated.name,
            version=own[evaluated.id].version,
            type=evaluated.type.value,
            output=encode(evaluated.value),
            inputs=tuple(EvaluatedInput(each.id, each.name, encode(each.value)) for each in evaluated.inputs),
            matched_rules=tuple(map(_rule, evaluated.matched_rules)),
            failure=message if place == len(told) else None,
        )
        for place, evaluated in enumerate(told, start=1)
    )


def _rule(rule: dmn.MatchedRule) -> MatchedRule:
    outputs = [EvaluatedOutput(each.id, each.name, encode(each.value)) for each in rule.outputs]
    return MatchedRule(rule.id, rule.index, tuple(outputs))
