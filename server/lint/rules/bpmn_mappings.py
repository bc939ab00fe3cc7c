"""Rules about input and output mappings."""

from server.lint.rule import EvaluatorKind, Rule

_TARGETS = ("zeebe:input@target", "zeebe:output@target")

RULES = (
    Rule(
        id="input-mapping-source",
        message="The input source is not a valid expression",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=("bpmn:FlowNode",),
        attribute=("zeebe:input@source",),
        value=("static-or-expression",),
    ),
    Rule(
        id="output-mapping-source",
        message="The output source is a FEEL expression starting with =",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=("bpmn:FlowNode",),
        attribute=("zeebe:output@source",),
        value=("expression-only",),
    ),
    Rule(
        id="mapping-target-required",
        message="A mapping needs a target",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("bpmn:FlowNode",),
        attribute=_TARGETS,
    ),
    Rule(
        id="mapping-target",
        message="The target is not a variable path",
        evaluator=EvaluatorKind.PATTERN,
        applies_to=("bpmn:FlowNode",),
        attribute=_TARGETS,
        value=(r"[a-zA-Z_][a-zA-Z0-9_]*(\.[a-zA-Z_][a-zA-Z0-9_]*)*",),
    ),
    Rule(
        id="mapping-target-reserved",
        message="The target is a reserved word",
        evaluator=EvaluatorKind.FORBIDDEN_VALUE,
        applies_to=("bpmn:FlowNode",),
        attribute=_TARGETS,
        value=(
            "null",
            "true",
            "false",
            "function",
            "if",
            "then",
            "else",
            "for",
            "between",
            "instance",
            "of",
        ),
    ),
)
