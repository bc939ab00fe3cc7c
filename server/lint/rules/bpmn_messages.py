"""Rules about messages."""

from server.lint.rule import Bounds, EvaluatorKind, Rule

RULES = (
    Rule(
        id="message-reference",
        message="The element must refer to a message",
        evaluator=EvaluatorKind.REFERENCE,
        applies_to=(
            "bpmn:MessageEventDefinition[start]",
            "bpmn:MessageEventDefinition[catch]",
            "bpmn:ReceiveTask",
        ),
        attribute=("messageRef",),
        value=("Message",),
        bounds=Bounds(min=1),
    ),
    Rule(
        id="message-throw-reference",
        message="The message is not in the file",
        evaluator=EvaluatorKind.REFERENCE,
        applies_to=("bpmn:MessageEventDefinition[throw]",),
        attribute=("messageRef",),
        value=("Message",),
    ),
    Rule(
        id="message-name",
        message="The message needs a name",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("bpmn:Message",),
        attribute=("name",),
    ),
    Rule(
        id="message-name-expression",
        message="The message name is not a valid expression",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=("bpmn:Message",),
        attribute=("name",),
        value=("static-or-expression",),
    ),
    Rule(
        id="subscription",
        message="A message that a process catches needs one correlation key",
        evaluator=EvaluatorKind.COUNT,
        applies_to=("bpmn:CaughtMessage",),
        attribute=("zeebe:subscription",),
        bounds=Bounds(min=1, max=1),
    ),
    Rule(
        id="correlation-key-required",
        message="The subscription to a message needs a correlation key",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("bpmn:CaughtMessage",),
        attribute=("zeebe:subscription@correlationKey",),
    ),
    Rule(
        id="correlation-key",
        message="The correlation key is a FEEL expression starting with =",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=("bpmn:CaughtMessage",),
        attribute=("zeebe:subscription@correlationKey",),
        value=("expression-only",),
    ),
    Rule(
        id="receive-task-message-unique",
        message="The receive task and its boundary event wait for the same message",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:FlowElementsContainer",),
        value=("another message than its boundary events",),
    ),
)
