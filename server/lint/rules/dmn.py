"""Rules about decisions.

The decision compiler checks the rules named in `ProblemKind`. No evaluator checks those in `COMPILED_ALONE`,
so their rows only describe the checks.
"""

from server.dmn import ProblemKind
from server.dmn.boxed import HitPolicy
from server.lint.rule import Bounds, EvaluatorKind, Family, Rule, Severity

MAX_NAME_LENGTH = 32_768

COMPILED_ALONE = frozenset(ProblemKind) - {
    ProblemKind.DECISION_LOGIC,
    ProblemKind.EXPRESSION_EMPTY,
    ProblemKind.OUTPUT_NAME,
    ProblemKind.COLLECT_SINGLE_OUTPUT,
}

READABLE = Rule(
    id="dmn-readable",
    message="The file is not a readable DMN document",
    evaluator=EvaluatorKind.SCHEMA,
    value=("DMN 1.1-1.6",),
    family=Family.DMN,
)

RULES = (
    READABLE,
    Rule(
        id="dmn-ids",
        message="The graph and its decisions need names",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("dmn:Definitions", "dmn:Decision"),
        attribute=("name",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-name-length",
        message="The id or name is too long",
        evaluator=EvaluatorKind.MAX_LENGTH,
        applies_to=("dmn:Definitions", "dmn:Decision", "dmn:Input", "dmn:Output", "dmn:Rule"),
        attribute=("id", "name"),
        bounds=Bounds(max=MAX_NAME_LENGTH),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-decision-logic",
        message=(
            "A decision needs one logic that can be evaluated (add a decision table, a literal expression or"
            " another boxed expression, or remove the decision)"
        ),
        evaluator=EvaluatorKind.COUNT,
        applies_to=("dmn:Decision",),
        attribute=("expression",),
        bounds=Bounds(min=1, max=1),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-requirement-cycle",
        message="Decisions or knowledge models depend on themselves",
        evaluator=EvaluatorKind.GRAPH,
        applies_to=("dmn:Definitions",),
        value=("no cycle of requirements",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-requirement-resolves",
        message="A required decision, input or knowledge model is missing",
        evaluator=EvaluatorKind.REFERENCE,
        applies_to=("dmn:InformationRequirement", "dmn:KnowledgeRequirement"),
        attribute=("href",),
        value=("element of the file or of its imports",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-import",
        message="An imported model is not in the deployment, or imports itself",
        evaluator=EvaluatorKind.REFERENCE,
        applies_to=("dmn:Import",),
        attribute=("namespace",),
        value=("file of the same deployment",),
        static=False,
        family=Family.DMN,
    ),
    Rule(
        id="dmn-expression",
        message="The text is not a valid FEEL expression",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=("dmn:LiteralExpression", "dmn:InputExpression", "dmn:OutputEntry"),
        attribute=("text",),
        value=("expression",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-expression-empty",
        message="An expression is empty",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=(
            "dmn:LiteralExpression",
            "dmn:InputExpression",
            "dmn:OutputEntry",
            "dmn:DefaultOutputEntry",
        ),
        attribute=("text",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-unary-tests",
        message="The text is not a valid FEEL unary test",
        evaluator=EvaluatorKind.FEEL_EXPRESSION,
        applies_to=("dmn:InputEntry", "dmn:InputValues", "dmn:OutputValues"),
        attribute=("text",),
        value=("unary-tests",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-expression-language",
        message="The expression language must be FEEL",
        evaluator=EvaluatorKind.PATTERN,
        applies_to=("dmn:LiteralExpression", "dmn:UnaryTests"),
        attribute=("expressionLanguage",),
        value=("feel", "https?://www.omg.org/spec/.*"),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-type",
        message="A type is not defined, or is defined by itself",
        evaluator=EvaluatorKind.REFERENCE,
        applies_to=("dmn:InformationItem", "dmn:ItemDefinition", "dmn:Expression"),
        attribute=("typeRef",),
        value=("type of FEEL", "item definition of the file or of its imports"),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-hit-policy",
        message="The hit policy is unknown",
        evaluator=EvaluatorKind.PATTERN,
        applies_to=("dmn:DecisionTable",),
        attribute=("hitPolicy",),
        value=tuple(HitPolicy),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-collect-single-output",
        message="An aggregated table has one output only",
        evaluator=EvaluatorKind.COUNT,
        applies_to=("dmn:DecisionTable[aggregation]",),
        attribute=("output",),
        bounds=Bounds(max=1),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-output-name",
        message="With several outputs every output needs a name",
        evaluator=EvaluatorKind.REQUIRED_ATTRIBUTE,
        applies_to=("dmn:DecisionTable[outputs]",),
        attribute=("output@name",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-rule-arity",
        message="A rule has as many entries as the table has columns",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("dmn:DecisionTable",),
        attribute=("inputEntry", "outputEntry"),
        value=("an entry for each column",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-relation-arity",
        message="A relation row has as many cells as there are columns",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("dmn:Relation",),
        attribute=("row",),
        value=("a cell for each column",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-invocation-target",
        message="The invoked knowledge model is missing or not required",
        evaluator=EvaluatorKind.REFERENCE,
        applies_to=("dmn:Invocation",),
        attribute=("literalExpression",),
        value=("required knowledge model",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-too-large",
        message="The model is too large to be evaluated",
        evaluator=EvaluatorKind.COUNT,
        applies_to=("dmn:Definitions", "dmn:Context"),
        attribute=("*",),
        family=Family.DMN,
    ),
    Rule(
        id="dmn-priority-values",
        message="Without output values the order of priority is undefined",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("dmn:DecisionTable",),
        attribute=("output",),
        value=("output values where they order",),
        severity=Severity.WARNING,
        family=Family.DMN,
        refuses=False,
    ),
    Rule(
        id="dmn-unique-overlap",
        message="Two rules can match the same input under a unique hit policy",
        evaluator=EvaluatorKind.CUSTOM,
        applies_to=("dmn:DecisionTable",),
        attribute=("inputEntry",),
        value=("no two rules for the same input",),
        severity=Severity.WARNING,
        family=Family.DMN,
        refuses=False,
    ),
)
