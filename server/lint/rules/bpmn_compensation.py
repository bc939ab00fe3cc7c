"""Rules about compensation."""

from server.lint.rule import EvaluatorKind, Rule

RULES = (
    Rule(
        id="boundary-compensation",
        message="A compensation boundary event needs an association to one handler, and no outgoing flow",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:BoundaryEvent",),
        value=("one compensation handler",),
    ),
    Rule(
        id="compensation-handler",
        message="A compensation handler must be outside the sequence flow and have no boundary events",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:Activity",),
        value=("handlers outside the flow",),
    ),
    Rule(
        id="compensation-reference",
        message="The activity cannot be compensated by this event",
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
