"""A rule of the catalogue, as data."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Family(StrEnum):
    """The kind of resource that a rule applies to; a deployment is all of its files together."""

    BPMN = "bpmn"
    DMN = "dmn"
    FORM = "form"
    RESOURCE = "resource"
    DEPLOYMENT = "deployment"


class EvaluatorKind(StrEnum):
    """The kinds of check, each with one function in `evaluators`."""

    SCHEMA = "schema"
    REQUIRED_ATTRIBUTE = "required-attribute"
    FORBIDDEN_VALUE = "forbidden-value"
    SUPPORTED_TYPE = "supported-type"
    MAX_LENGTH = "max-length"
    PATTERN = "pattern"
    NUMBER_RANGE = "number-range"
    COUNT = "count"
    FLOW_COUNT = "flow-count"
    EXACTLY_ONE_OF = "exactly-one-of"
    UNIQUE = "unique"
    REFERENCE = "reference"
    FEEL_EXPRESSION = "feel-expression"
    CONSTANT_EXPRESSION = "constant-expression"
    TIMER = "timer"
    GRAPH = "graph"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Inclusive bounds of a number, length or count; None is no limit."""

    min: int | None = None
    max: int | None = None

    def hold(self, number: int) -> bool:
        return (self.min is None or self.min <= number) and (self.max is None or number <= self.max)

    def __str__(self) -> str:
        if self.min == self.max:
            return f"exactly {self.min}"
        limits = (("at least", self.min), ("at most", self.max))
        return " and ".join(f"{word} {limit}" for word, limit in limits if limit is not None)


NO_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    `applies_to` lists types of the family, including supertypes (`bpmn:Activity`); empty means the whole
    model. `attribute` lists paths (see `paths`), and `value` and `bounds` are options of the evaluator.
    `static` rules depend only on the model. `refuses` rules make the deployment fail.
    """

    id: str
    message: str
    evaluator: EvaluatorKind
    applies_to: tuple[str, ...] = ()
    attribute: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    bounds: Bounds = NO_BOUNDS
    severity: Severity = Severity.ERROR
    family: Family = Family.BPMN
    static: bool = True
    refuses: bool = True
