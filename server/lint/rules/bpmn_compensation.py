"""Rules about compensation."""

from server.lint.rule import EvaluatorKind, Rule

RULES = (
    Rule(
        id="boundary-compensation",
        message="A compensation boundary event leads to one handler by an association, and has no outgoing flow",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:BoundaryEvent",),
        value=("one compensation handler",),
    ),
    Rule(
        id="compensation-handler",
        message="A compensation handler stands outside the flow and has no boundary events",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:Activity",),
        value=("handlers outside the flow",),
    ),
    Rule(
        id="compensation-reference",
        message="The activity to compensate is not compensable from here",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:FlowElementsContainer",),
        value=("activities to compensate",),
    ),
    Rule(
        id="compensation-wait",
        message="Compensation always waits for completion",
        evaluator=EvaluatorKind.FORBIDDEN_VALUE,
        applies_to=("bpmn:CompensateEventDefinition",),
        attribute=("waitForCompletion",),
        value=("false", "0"),
    ),
    Rule(
        id="compensation-count",
        message="The process has too many activities that can be compensated",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:Process",),
        value=("few compensable activities",),
    ),
)
