"""FEEL values as Python values.

null, boolean, number, string, list and context are None, bool, int or Decimal, str, list and dict:
JSON as it is read, floats excepted, which a scope must never hold. Values are never changed in place.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from server.feel.run import Run


@dataclass(frozen=True, slots=True)
class Range:
    start: "Value"
    end: "Value"
    start_included: bool
    end_included: bool


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function that an expression defined, or that the caller puts into its scope.

    `invoke` gets one argument per parameter.
    """

    parameters: tuple[str, ...]
    invoke: "Callable[[Run, Sequence[Value]], Value]"


class Missing(Enum):
    """The absence of a value, where null is one."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

Number: TypeAlias = int | Decimal
Value: TypeAlias = bool | int | Decimal | str | list["Value"] | dict[str, "Value"] | Range | Function | None
Context: TypeAlias = dict[str, Value]

TYPE_NAMES: dict[type, str] = {
    NoneType: "null",
    bool: "boolean",
    int: "number",
    Decimal: "number",
    str: "string",
    list: "list",
    dict: "context",
    Range: "range",
    Function: "function",
}


def type_name(value: Value) -> str:
    return TYPE_NAMES[type(value)]


def is_number(value: object) -> TypeGuard[Number]:
    return type(value) is int or type(value) is Decimal
