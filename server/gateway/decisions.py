"""Evaluation of decisions."""

from gnomon.engine.v1 import decision_definition_service_pb2 as own_pb
from gnomon.engine.v1 import evaluated_decision_pb2 as own_evaluated_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import key_of, tenant_of


def evaluation(request: pb.EvaluateDecisionRequest) -> own_pb.EvaluateDecisionRequest:
    return own_pb.EvaluateDecisionRequest(
        decision_definition_key=key_of(request.decisionKey),
        decision_definition_id=request.decisionId or None,
        variables=request.variables.encode(),
        tenant_id=tenant_of(request.tenantId),
    )


def evaluated(answer: own_pb.EvaluateDecisionResponse) -> pb.EvaluateDecisionResponse:
    return pb.EvaluateDecisionResponse(
        decisionKey=answer.decision_definition_key,
        decisionId=answer.decision_definition_id,
        decisionName=answer.decision_definition_name,
        decisionVersion=answer.decision_definition_version,
        decisionRequirementsId=answer.decision_requirements_id,
        decisionRequirementsKey=answer.decision_requirements_key,
        decisionOutput=answer.output,
        evaluatedDecisions=map(_decision, answer.evaluated_decisions),
        failedDecisionId=answer.failed_decision_definition_id,
        failureMessage=answer.failure_message,
        tenantId=answer.tenant_id,
        decisionInstanceKey=answer.decision_instance_key,
        decisionEvaluationKey=answer.decision_evaluation_key,
    )


def _decision(decision: own_evaluated_pb.EvaluatedDecision) -> pb.EvaluatedDecision:
    return pb.EvaluatedDecision(
        decisionKey=decision.decision_definition_key,
        decisionId=decision.decision_definition_id,
        decisionName=decision.decision_definition_name,
        decisionVersion=decision.decision_definition_version,
        decisionType=decision.decision_definition_type,
        decisionOutput=decision.output,
        matchedRules=map(_rule, decision.matched_rules),
        evaluatedInputs=map(_input, decision.evaluated_inputs),
        tenantId=decision.tenant_id,
        decisionEvaluationInstanceKey=decision.decision_evaluation_instance_key,
    )


def _rule(rule: own_evaluated_pb.MatchedDecisionRule) -> pb.MatchedDecisionRule:
    return pb.MatchedDecisionRule(
        ruleId=rule.rule_id,
        ruleIndex=rule.rule_index,
        evaluatedOutputs=[
            pb.EvaluatedDecisionOutput(
                outputId=each.output_id, outputName=each.output_name, outputValue=each.output_value
            )
            for each in rule.evaluated_outputs
        ],
    )


def _input(evaluated_input: own_evaluated_pb.EvaluatedDecisionInput) -> pb.EvaluatedDecisionInput:
    return pb.EvaluatedDecisionInput(
        inputId=evaluated_input.input_id,
        inputName=evaluated_input.input_name,
        inputValue=evaluated_input.input_value,
    )
