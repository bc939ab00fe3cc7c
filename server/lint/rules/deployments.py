"""Rules about all files of a deployment together, and about generic resources, which are not models.

The preparation of a deployment checks them; the rows describe the checks.
"""

from server.lint.rule import Bounds, EvaluatorKind, Family, Rule

MAX_FLOW_ELEMENTS = 20_000
"""Most flow nodes and sequence flows in one deployment: several seconds of linting and compiling."""

MAX_RESOURCE_BYTES = 1024 * 1024
MAX_RESOURCE_ID_LENGTH = 512
"""Longest id or version tag of a generic resource; file names have the same limit."""


def _unique(kind: str, applies_to: str, attribute: str, subject: str) -> Rule:
    return Rule(
        id=f"{kind}-id-unique",
        message=f"Two {subject} of a deployment have the same id",
        evaluator=EvaluatorKind.UNIQUE,
        applies_to=(applies_to,),
        attribute=(attribute,),
        static=False,
        family=Family.DEPLOYMENT,
    )


PROCESS_ID_UNIQUE = _unique("process", "bpmn:Process", "id", "processes")
DRG_ID_UNIQUE = _unique("drg", "dmn:Definitions", "id", "requirements graphs")
DECISION_ID_UNIQUE = _unique("decision", "dmn:Decision", "id", "decisions")
FORM_ID_UNIQUE = _unique("form", "form:Form", "id", "forms")
RESOURCE_ID_UNIQUE = _unique("resource", "resource:Resource", "id", "generic resources")

FLOW_ELEMENT_COUNT = Rule(
    id="flow-element-count",
    message="The files of the deployment have too many flow nodes and sequence flows",
    evaluator=EvaluatorKind.COUNT,
    applies_to=("bpmn:FlowNode", "bpmn:SequenceFlow"),
    attribute=("*",),
    bounds=Bounds(max=MAX_FLOW_ELEMENTS),
    static=False,
    family=Family.DEPLOYMENT,
)

RESOURCE_TEXT = Rule(
    id="resource-text",
    message="The file is not text",
    evaluator=EvaluatorKind.SCHEMA,
    applies_to=("resource:Resource",),
    value=("UTF-8 without NUL",),
    family=Family.RESOURCE,
)
RESOURCE_SIZE = Rule(
    id="resource-size",
    message="The file is too large",
    evaluator=EvaluatorKind.MAX_LENGTH,
    applies_to=("resource:Resource",),
    attribute=("content",),
    value=("bytes",),
    bounds=Bounds(max=MAX_RESOURCE_BYTES),
    family=Family.RESOURCE,
)
RPA_READABLE = Rule(
    id="rpa-readable",
    message="The RPA file is not readable JSON with an id",
    evaluator=EvaluatorKind.SCHEMA,
    applies_to=("resource:Rpa",),
    value=("JSON object",),
    family=Family.RESOURCE,
)
RPA_ID = Rule(
    id="rpa-id",
    message="The RPA file needs an id that is not blank",
    evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
    applies_to=("resource:Rpa",),
    attribute=("id",),
    family=Family.RESOURCE,
)
RPA_ID_LENGTH = Rule(
    id="rpa-id-length",
    message="The id or the version tag of the RPA file is too long",
    evaluator=EvaluatorKind.MAX_LENGTH,
    applies_to=("resource:Rpa",),
    attribute=("id", "versionTag"),
    bounds=Bounds(max=MAX_RESOURCE_ID_LENGTH),
    family=Family.RESOURCE,
)

RULES = (
    PROCESS_ID_UNIQUE,
    DRG_ID_UNIQUE,
    DECISION_ID_UNIQUE,
    FORM_ID_UNIQUE,
    RESOURCE_ID_UNIQUE,
    FLOW_ELEMENT_COUNT,
    RESOURCE_TEXT,
    RESOURCE_SIZE,
    RPA_READABLE,
    RPA_ID,
    RPA_ID_LENGTH,
)
