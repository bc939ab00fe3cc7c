"""A rule of the catalogue, as data."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Family(StrEnum):
    """The kind of resource that a rule looks at; a deployment is all its files together."""

    BPMN = "bpmn"
    DMN = "dmn"
    FORM = "form"
    RESOURCE = "resource"
    DEPLOYMENT = "deployment"


class EvaluatorKind(StrEnum):
    """The closed set of checks; each has one function in `evaluators`."""

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
    """Inclusive limits of a number, a length or a count; None is no limit."""

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
    """One row.

    `applies_to` names types of the family, supertypes included (`bpmn:Activity`); empty is the whole model.
    `attribute` holds paths (see `paths`), `value` and `bounds` are what the evaluator makes of them.
    `static` rules are decided by the model alone; `refuses` says that the deployment is refused.
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
