"""Rules about user tasks and their forms."""

from server.lint.rule import Bounds, EvaluatorKind, Rule, Severity

_USER_TASK = ("bpmn:UserTask",)
_CANDIDATES = (
    "zeebe:assignmentDefinition@candidateGroups",
    "zeebe:assignmentDefinition@candidateUsers",
)

RULES = (
    Rule(
        id="user-task-form",
        message="A form needs exactly one reference",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=_USER_TASK,
        value=("one form",),
    ),
    Rule(
        id="user-task-form-expression",
        message="The reference of the form is not a valid expression",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=_USER_TASK,
        attribute=(
            "zeebe:formDefinition@formId",
            "zeebe:formDefinition@externalReference",
            "zeebe:formDefinition@formKey",
        ),
        value=("static-or-expression",),
    ),
    Rule(
        id="user-task-form-body",
        message="An embedded form is empty",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("bpmn:Process",),
        attribute=("zeebe:userTaskForm@text()",),
    ),
    Rule(
        id="start-form-embedded",
        message="An embedded start form is outdated; link it",
        evaluator=EvaluatorKind.FORBIDDEN_VALUE,
        applies_to=("bpmn:StartEvent",),
        attribute=("zeebe:formDefinition@formKey",),
        value=("camunda-forms:bpmn:*",),
        severity=Severity.WARNING,
        refuses=False,
    ),
    Rule(
        id="user-task-assignment",
        message="The assignment is not a valid expression",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=_USER_TASK,
        attribute=("zeebe:assignmentDefinition@assignee", *_CANDIDATES),
        value=("static-or-expression",),
    ),
    Rule(
        id="user-task-candidates-csv",
        message="A literal candidate list is comma-separated",
        evaluator=EvaluatorKind.PATTERN,
        applies_to=_USER_TASK,
        attribute=_CANDIDATES,
        value=(r"(?s:=.*)", r"\s*", r"\s*+[^,\s][^,]*+(,\s*+[^,\s][^,]*+)*+"),
    ),
    Rule(
        id="user-task-dates",
        message="A literal due or follow-up date is an ISO date-time with offset",
        evaluator=EvaluatorKind.TIMER,
        applies_to=_USER_TASK,
        attribute=("zeebe:taskSchedule@dueDate", "zeebe:taskSchedule@followUpDate"),
        value=("date", "date"),
    ),
    Rule(
        id="user-task-priority",
        message="A literal priority must be between 0 and 100",
        evaluator=EvaluatorKind.NUMBER_RANGE,
        applies_to=_USER_TASK,
        attribute=("zeebe:priorityDefinition@priority",),
        bounds=Bounds(min=0, max=100),
    ),
    Rule(
        id="task-listener-host",
        message="Task listeners need a native user task",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("bpmn:FlowNode", "bpmn:Process"),
        value=("native user task",),
    ),
    Rule(
        id="task-listener-fields",
        message="A task listener needs event, job type and retries",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=_USER_TASK,
        attribute=("zeebe:taskListener@eventType", "zeebe:taskListener@type", "zeebe:taskListener@retries"),
    ),
    Rule(
        id="task-listener-event",
        message="The event of the task listener is unknown",
        evaluator=EvaluatorKind.PATTERN,
        applies_to=_USER_TASK,
        attribute=("zeebe:taskListener@eventType",),
        value=("creating|assigning|updating|completing|canceling",),
    ),
    Rule(
        id="task-listener-expression",
        message="Job type or retries of the listener is not a valid expression",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=_USER_TASK,
        attribute=("zeebe:taskListener@type", "zeebe:taskListener@retries"),
        value=("static-or-expression",),
    ),
    Rule(
        id="user-task-definition",
        message="The user task has no form",
        evaluator=EvaluatorKind.COUNT,
        applies_to=_USER_TASK,
        attribute=("zeebe:formDefinition",),
        bounds=Bounds(min=1),
        severity=Severity.WARNING,
        refuses=False,
    ),
)
