"""Rules about signals."""

from server.lint.rule import Bounds, EvaluatorKind, Rule

RULES = (
    Rule(
        id="signal-reference",
        message="The event must refer to a signal",
        evaluator=EvaluatorKind.REFERENCE,
        applies_to=("bpmn:SignalEventDefinition",),
        attribute=("signalRef",),
        value=("Signal",),
        bounds=Bounds(min=1),
    ),
    Rule(
        id="signal-name",
        message="The signal needs a name",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("bpmn:Signal",),
        attribute=("name",),
    ),
    Rule(
        id="signal-name-expression",
        message="The signal name is not a valid expression",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=("bpmn:Signal",),
        attribute=("name",),
        value=("static-or-expression",),
    ),
)
