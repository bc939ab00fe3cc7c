"""The operators `+ - * / **` per pair of operand types; for any other pair the result is null with a failure."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from server.feel import decimals
from server.feel.decimals import Number
from server.feel.dialects import CAMUNDA, STANDARD, DialectName
from server.feel.failures import FailureType
from server.feel.run import SIZED, Run, bounded_string, cost
from server.feel.temporal import arithmetic as temporal
from server.feel.temporal.values import Date, DateTime, DaysDuration, MonthsDuration, Time
from server.feel.values import Value

_Rows: TypeAlias = Mapping[tuple[type, type], Callable[..., Value]]


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator; `on_ints` is a fast path whose result is valid if it is a short int."""

    complaint: str
    rows: _Rows
    on_ints: Callable[[int, int], int] | None = None

    def apply(self, run: Run, left: Value, right: Value, position: int) -> Value:
        try:
            result = self.rows[type(left), type(right)](left, right)
        except (KeyError, ArithmeticError, ValueError):
            run.fail(FailureType.INVALID_TYPE, self.complaint, left, right, position=position)
            return None
        if type(result) in SIZED:
            run.charge(cost(result))
        return result


def _on_numbers(function: Callable[[Number, Number], Number]) -> _Rows:
    return {(left, right): function for left in (int, Decimal) for right in (int, Decimal)}


def _by_numbers(kind: type, function: Callable[..., Value]) -> _Rows:
    return {(kind, int): function, (kind, Decimal): function}


def _swapped(rows: _Rows) -> _Rows:
    """Return the rows with left and right exchanged, for pairs of different types."""
    return {
        (right, left): lambda one, other, function=function: function(other, one)
        for (left, right), function in rows.items()
        if left is not right
    }


def _concatenate(left: str, right: str) -> str:
    return bounded_string(left + right)


_PLUS: _Rows = {
    (Date, DaysDuration): temporal.date_plus_days,
    (Date, MonthsDuration): temporal.date_plus_months,
    (DateTime, DaysDuration): temporal.date_time_plus_days,
    (DateTime, MonthsDuration): temporal.date_time_plus_months,
    (Time, DaysDuration): temporal.time_plus_days,
    (DaysDuration, DaysDuration): temporal.days_plus_days,
    (MonthsDuration, MonthsDuration): temporal.months_plus_months,
}
_NEGATED: Mapping[type, Callable[..., Value]] = {
    int: operator.neg,
    Decimal: lambda number: decimals.subtract(0, number),
    DaysDuration: temporal.negated_days,
    MonthsDuration: temporal.negated_months,
}


def _minus() -> _Rows:
    return {
        **{
            (left, right): lambda one, other, plus=plus: plus(one, _NEGATED[type(other)](other))
            for (left, right), plus in _PLUS.items()
        },
        (Date, Date): temporal.date_minus_date,
        (DateTime, DateTime): temporal.date_time_minus_date_time,
        (Time, Time): temporal.time_minus_time,
    }


_TIMES: _Rows = {
    **_by_numbers(DaysDuration, temporal.days_times),
    **_by_numbers(MonthsDuration, temporal.months_times),
}
_BY: _Rows = {
    **_by_numbers(DaysDuration, temporal.days_by),
    **_by_numbers(MonthsDuration, temporal.months_by),
    (DaysDuration, DaysDuration): temporal.days_by_days,
    (MonthsDuration, MonthsDuration): temporal.months_by_months,
}


def _operators(*, plus: _Rows, minus: _Rows, times: _Rows, by: _Rows) -> Mapping[str, Operator]:
    return {
        "+": Operator(
            "Can't add '{1}' to '{0}'",
            {**_on_numbers(decimals.add), (str, str): _concatenate, **plus, **_swapped(plus)},
            operator.add,
        ),
        "-": Operator(
            "Can't subtract '{1}' from '{0}'", {**_on_numbers(decimals.subtract), **minus}, operator.sub
        ),
        "*": Operator(
            "Can't multiply '{0}' by '{1}'",
            {**_on_numbers(decimals.multiply), **times, **_swapped(times)},
            operator.mul,
        ),
        "/": Operator("Can't divide '{0}' by '{1}'", {**_on_numbers(decimals.divide), **by}),
        "**": Operator("Can't raise '{0}' to the power of '{1}'", _on_numbers(decimals.power)),
    }


OPERATORS: Mapping[DialectName, Mapping[str, Operator]] = {
    CAMUNDA.name: _operators(
        plus=_PLUS,
        minus={**_minus(), (Time, Time): temporal.time_between},
        times={
            **_by_numbers(DaysDuration, temporal.days_times_whole),
            **_by_numbers(MonthsDuration, temporal.months_times_whole),
        },
        by={
            **_BY,
            (DaysDuration, DaysDuration): temporal.whole_days_by_days,
            (MonthsDuration, MonthsDuration): temporal.whole_months_by_months,
        },
    ),
    STANDARD.name: _operators(
        plus=_PLUS,
        minus={
            **_minus(),
            (Date, DateTime): temporal.date_minus_date_time,
            (DateTime, Date): temporal.date_time_minus_date,
        },
        times=_TIMES,
        by=_BY,
    ),
}


def negate(run: Run, value: Value, position: int) -> Value:
    negated = _NEGATED.get(type(value))
    if negated is not None:
        return negated(value)
    run.fail(FailureType.INVALID_TYPE, "Expected number but found '{}'", value, position=position)
    return None
