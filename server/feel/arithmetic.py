"""What `+ - * / **` do, per pair of operand types; a pair without a row is null and a failure."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from server.feel import decimals
from server.feel.failures import FailureType
from server.feel.run import Run, bounded_string, cost
from server.feel.values import Number, Value

_Rows: TypeAlias = Mapping[tuple[type, type], Callable[..., Value]]


@dataclass(frozen=True, slots=True)
class Operator:
    """`on_ints` is the fast path: its result counts if it is a short int."""

    complaint: str
    rows: _Rows
    on_ints: Callable[[int, int], int] | None = None

    def apply(self, run: Run, left: Value, right: Value, position: int) -> Value:
        try:
            result = self.rows[type(left), type(right)](left, right)
        except (KeyError, ArithmeticError, ValueError):
            run.fail(FailureType.INVALID_TYPE, self.complaint, left, right, position=position)
            return None
        run.charge(cost(result))
        return result


def _on_numbers(function: Callable[[Number, Number], Number]) -> _Rows:
    return {(left, right): function for left in (int, Decimal) for right in (int, Decimal)}


def _concatenate(left: str, right: str) -> str:
    return bounded_string(left + right)


OPERATORS: Mapping[str, Operator] = {
    "+": Operator(
        "Can't add '{1}' to '{0}'",
        {**_on_numbers(decimals.add), (str, str): _concatenate},
        operator.add,
    ),
    "-": Operator("Can't subtract '{1}' from '{0}'", _on_numbers(decimals.subtract), operator.sub),
    "*": Operator("Can't multiply '{0}' by '{1}'", _on_numbers(decimals.multiply), operator.mul),
    "/": Operator("Can't divide '{0}' by '{1}'", _on_numbers(decimals.divide)),
    "**": Operator("Can't raise '{0}' to the power of '{1}'", _on_numbers(decimals.power)),
}


def negate(run: Run, value: Value, position: int) -> Value:
    if isinstance(value, Decimal) or type(value) is int:
        return decimals.subtract(0, value) if isinstance(value, Decimal) else -value
    run.fail(FailureType.INVALID_TYPE, "Expected number but found '{}'", value, position=position)
    return None
