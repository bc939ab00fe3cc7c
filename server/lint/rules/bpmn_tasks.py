"""Rules about tasks and the jobs that they make."""

from server.lint.rule import Bounds, EvaluatorKind, Rule

_JOB_HOSTS = (
    "bpmn:ServiceTask",
    "bpmn:SendTask",
    "bpmn:ScriptTask",
    "bpmn:BusinessRuleTask",
    "bpmn:UserTask",
)

RULES = (
    Rule(
        id="task-definition",
        message="A service task names its job type",
        evaluator=EvaluatorKind.COUNT,
        applies_to=("bpmn:ServiceTask",),
        attribute=("zeebe:taskDefinition",),
        bounds=Bounds(min=1, max=1),
    ),
    Rule(
        id="message-throw-implementation",
        message="A message is sent either by the engine or by a job worker",
        evaluator=EvaluatorKind.EXACTLY_ONE_OF,
        applies_to=("bpmn:SendTask",),
        attribute=("zeebe:publishMessage", "zeebe:taskDefinition"),
    ),
    Rule(
        id="business-rule-implementation",
        message="A business rule task calls a decision or a job worker",
        evaluator=EvaluatorKind.EXACTLY_ONE_OF,
        applies_to=("bpmn:BusinessRuleTask",),
        attribute=("zeebe:calledDecision", "zeebe:taskDefinition"),
    ),
    Rule(
        id="script-implementation",
        message="A script task holds a FEEL script or names a job type",
        evaluator=EvaluatorKind.EXACTLY_ONE_OF,
        applies_to=("bpmn:ScriptTask",),
        attribute=("zeebe:script", "zeebe:taskDefinition"),
    ),
    Rule(
        id="job-type",
        message="The job type is empty",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=_JOB_HOSTS,
        attribute=("zeebe:taskDefinition@type",),
    ),
    Rule(
        id="job-type-expression",
        message="Job type or retries is not a valid expression",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=_JOB_HOSTS,
        attribute=("zeebe:taskDefinition@type", "zeebe:taskDefinition@retries"),
        value=("static-or-expression",),
    ),
    Rule(
        id="job-type-length",
        message="The job type is too long",
        evaluator=EvaluatorKind.MAX_LENGTH,
        applies_to=_JOB_HOSTS,
        attribute=("zeebe:taskDefinition@type",),
        bounds=Bounds(max=255),
    ),
    Rule(
        id="job-retries",
        message="Retries is empty",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=_JOB_HOSTS,
        attribute=("zeebe:taskDefinition@retries",),
    ),
    Rule(
        id="task-headers-reserved",
        message="This header prefix belongs to the engine",
        evaluator=EvaluatorKind.FORBIDDEN_VALUE,
        applies_to=("bpmn:FlowNode",),
        attribute=("zeebe:header@key",),
        value=("io.camunda.zeebe:*",),
    ),
    Rule(
        id="task-headers-unique",
        message="A header key appears twice",
        evaluator=EvaluatorKind.UNIQUE,
        applies_to=("bpmn:FlowNode",),
        attribute=("zeebe:header@key",),
        value=("element",),
    ),
    Rule(
        id="execution-listener-fields",
        message="An execution listener needs event, job type and retries",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("bpmn:FlowNode", "bpmn:Process"),
        attribute=(
            "zeebe:executionListener@eventType",
            "zeebe:executionListener@type",
            "zeebe:executionListener@retries",
        ),
    ),
    Rule(
        id="execution-listener-unique",
        message="The same listener is registered twice",
        evaluator=EvaluatorKind.UNIQUE,
        applies_to=("bpmn:FlowNode", "bpmn:Process"),
        attribute=("zeebe:executionListener@eventType+type",),
        value=("element",),
    ),
)
