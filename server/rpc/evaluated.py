"""Converts inputs and matched rules of a decision to messages."""

from collections.abc import Iterable, Iterator

from gnomon.engine.v1 import evaluated_decision_pb2 as pb
from server.engine.decision_events import EvaluatedInput, MatchedRule


def inputs_of(inputs: Iterable[EvaluatedInput]) -> Iterator[pb.EvaluatedDecisionInput]:
    for given in inputs:
        yield pb.EvaluatedDecisionInput(input_id=given.id, input_name=given.name, input_value=given.value)


def rules_of(rules: Iterable[MatchedRule]) -> Iterator[pb.MatchedDecisionRule]:
    for rule in rules:
        yield pb.MatchedDecisionRule(rule_id=rule.id, rule_index=rule.index, evaluated_outputs=_outputs(rule))


def _outputs(rule: MatchedRule) -> Iterator[pb.EvaluatedDecisionOutput]:
    for output in rule.outputs:
        yield pb.EvaluatedDecisionOutput(
            output_id=output.id,
            output_name=output.name,
            output_value=output.value,
            rule_id=rule.id,
            rule_index=rule.index,
        )
