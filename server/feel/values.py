"""FEEL values as Python values.

null, boolean, number, string, list and context are None, bool, int or Decimal, str, list and dict: parsed
JSON, except that a scope must never contain floats. Temporal values are defined in `temporal`. Values are
immutable by convention.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

from server.feel.decimals import Number
from server.feel.temporal.values import Date, DateTime, DaysDuration, MonthsDuration, Temporal, Time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from server.feel.run import Run
    from server.feel.types import Type


@dataclass(frozen=True, slots=True)
class Range:
    """A range; an unbounded side, as in `(> 5)`, is null and not included.

    `(= 5)` and `(!= 5)` keep their sign, because they equal no interval (DMN 1.5 §10.3.2.7). `(!= 5)`
    contains everything except its end, which is the same on both sides and not included.
    """

    start: "Value"
    end: "Value"
    start_included: bool
    end_included: bool
    sign: str = ""

    @property
    def is_interval(self) -> bool:
        return self.sign != "!="


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function that an expression defined or the caller put into the scope.

    `invoke` takes one argument per parameter. `types` are the declared parameter types, one for each, or none
    at all.
    """

    parameters: tuple[str, ...]
    invoke: "Callable[[Run, Sequence[Value]], Value]"
    types: "tuple[Type | None, ...]" = ()


class Missing(Enum):
    """The absence of a value, as opposed to null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

Value: TypeAlias = (
    bool | int | Decimal | str | list["Value"] | dict[str, "Value"] | Temporal | Range | Function | None
)
Context: TypeAlias = dict[str, Value]

TYPE_NAMES: dict[type, str] = {
    NoneType: "null",
    bool: "boolean",
    int: "number",
    Decimal: "number",
    str: "string",
    list: "list",
    dict: "context",
    Date: "date",
    Time: "time",
    DateTime: "date and time",
    DaysDuration: "days and time duration",
    MonthsDuration: "years and months duration",
    Range: "range",
    Function: "function",
}


def type_name(value: Value) -> str:
    return TYPE_NAMES[type(value)]


def is_number(value: object) -> TypeGuard[Number]:
    return type(value) is int or type(value) is Decimal


TEMPORAL_TYPES: Final = frozenset({Date, Time, DateTime, DaysDuration, MonthsDuration})


def is_temporal(value: object) -> TypeGuard[Temporal]:
    return type(value) in TEMPORAL_TYPES
