"""Evaluates a decision with its requirements, and records the result of each decision."""

from collections.abc import Mapping

from server import dmn
from server.engine.decision_events import (
    DecisionEvaluated,
    EvaluatedDecision,
    EvaluatedInput,
    EvaluatedOutput,
    MatchedRule,
)
from server.engine.decisions import Decision
from server.engine.keys import Key
from server.engine.step import Visit
from server.engine.variables import encode
from server.feel import Ports, Value


def evaluation_of(
    decision: Decision,
    variables: Mapping[str, Value],
    ports: Ports,
    *,
    key: Key,
    visit: Visit | None = None,
) -> DecisionEvaluated:
    """Evaluate a decision for a caller, or for the visited element instance; the evaluation may have failed."""
    return _event(decision, _evaluation(decision, variables, ports), key, visit)


def _evaluation(decision: Decision, variables: Mapping[str, Value], ports: Ports) -> dmn.DecisionEvaluation:
    """Evaluate a decision. A model that this version no longer accepts fails with the reason."""
    decision_id = decision.deployed.decision_definition_id
    try:
        model = decision.model
    except dmn.DmnError as error:
        failure = dmn.DecisionFailure(decision_id, "", f"the model cannot be evaluated: {error}")
        return dmn.DecisionEvaluation(decision_id, decision.deployed.name, None, failure=failure)
    return model.evaluate(decision_id, variables, ports=ports)


def _event(
    decision: Decision, evaluation: dmn.DecisionEvaluation, key: Key, visit: Visit | None
) -> DecisionEvaluated:
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
        instance=visit.process_instance.head if visit else None,
        element_instance_key=visit.instance.key if visit else None,
    )


def _told(
    decision: Decision, evaluation: dmn.DecisionEvaluation, message: str | None, *, key: Key
) -> tuple[EvaluatedDecision, ...]:
    """The evaluated decisions of this graph; a failed decision comes last.

    Decisions of imported models are left out, because they have no definition here.
    """
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
