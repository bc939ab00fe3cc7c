"""Rules about where a process starts and ends."""

from server.lint.rule import Bounds, EvaluatorKind, Rule, Severity

RULES = (
    Rule(
        id="start-event-required",
        message="The process has no start event",
        evaluator=EvaluatorKind.COUNT,
        applies_to=("bpmn:Process",),
        attribute=("startEvent",),
        bounds=Bounds(min=1),
    ),
    Rule(
        id="single-none-start-event",
        message="Only one start event without trigger is allowed at process level",
        evaluator=EvaluatorKind.COUNT,
        applies_to=("bpmn:Process",),
        attribute=("startEvent[none]",),
        bounds=Bounds(max=1),
    ),
    Rule(
        id="start-event-no-incoming",
        message="A start event has no incoming flow",
        evaluator=EvaluatorKind.FLOW_COUNT,
        applies_to=("bpmn:StartEvent",),
        attribute=("incoming",),
        bounds=Bounds(max=0),
    ),
    Rule(
        id="end-event-no-outgoing",
        message="An end event has no outgoing flow",
        evaluator=EvaluatorKind.FLOW_COUNT,
        applies_to=("bpmn:EndEvent",),
        attribute=("outgoing",),
        bounds=Bounds(max=0),
    ),
    Rule(
        id="end-event-required",
        message="No end event",
        evaluator=EvaluatorKind.COUNT,
        applies_to=("bpmn:Process",),
        attribute=("endEvent",),
        bounds=Bounds(min=1),
        severity=Severity.WARNING,
        refuses=False,
    ),
)
