"""Rules about conditional events."""

from server.lint.rule import EvaluatorKind, Rule

RULES = (
    Rule(
        id="conditional-start-unique",
        message="Two start events have the same condition",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:Process",),
        value=("one start event for a condition",),
    ),
    Rule(
        id="conditional-condition",
        message="A conditional event needs a condition",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("bpmn:ConditionalEventDefinition",),
        attribute=("condition",),
    ),
    Rule(
        id="conditional-expression",
        message="The condition of an event is a FEEL expression starting with =",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=("bpmn:ConditionalEventDefinition",),
        attribute=("condition",),
        value=("expression-only",),
    ),
    Rule(
        id="conditional-variables",
        message="The condition refers to too many variables",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:ConditionalEventDefinition",),
        value=("few variables",),
    ),
    Rule(
        id="conditional-filter-events",
        message="Variable events are create and update",
        evaluator=EvaluatorKind.PATTERN,
        applies_to=("bpmn:ConditionalEventDefinition",),
        attribute=("zeebe:conditionalFilter@variableEvents",),
        value=(r"\s*(create|update)\s*(,\s*(create|update)\s*)*",),
    ),
    Rule(
        id="conditional-filter-names",
        message="Variable names are a plain comma-separated list",
        evaluator=EvaluatorKind.PATTERN,
        applies_to=("bpmn:ConditionalEventDefinition",),
        attribute=("zeebe:conditionalFilter@variableNames",),
        value=(r"\s*[^\s,=][^,=]*(,\s*[^\s,=][^,=]*)*",),
    ),
)
