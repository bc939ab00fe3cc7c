"""Exact numbers: 34 significant digits, rounded half even (DMN 1.5 §10.3.2.3.1).

Integers of up to 34 digits are ints, which are fast. All others are Decimals with the exponent range of IEEE
754 decimal128, so that their texts and ints cannot become large.
"""

import decimal
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import reduce
from typing import Final, TypeAlias

Number: TypeAlias = int | Decimal

_EXACT = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
CONTEXT: Final = decimal.Context(
    prec=34, rounding=decimal.ROUND_HALF_EVEN, Emin=-6143, Emax=6144, traps=_EXACT
)
INT_BOUND: Final = 10**34
_NUMBER = re.compile(r"[+-]?(?:\d+(?P<rest>(?:\.\d*)?(?:[eE][+-]?\d+)?)|\.\d+(?:[eE][+-]?\d+)?)", re.ASCII)
_MAX_DIGITS = 34
_MAX_EXACT_EXPONENT = 64


def parse_number(text: str) -> Number:
    """Parse `1`, `01`, `-3.5`, `.5` or `1e3`; raises decimal.InvalidOperation for other texts."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise decimal.InvalidOperation(text)
    if match["rest"] == "" and len(text) <= _MAX_DIGITS:
        return int(text)
    return _plain(CONTEXT.create_decimal(text))


def _plain(number: Decimal) -> Number:
    """Expand trailing zeros if the number fits: 1E+3 becomes 1000."""
    if not is_whole(number):
        return number
    exponent = number.as_tuple().exponent
    is_short = isinstance(exponent, int) and exponent > 0 and -INT_BOUND < number < INT_BOUND
    return int(number) if is_short else number


def settled(number: Number) -> Number:
    """Round an int of too many digits, and remove Decimal's negative zero."""
    if isinstance(number, int):
        return number if -INT_BOUND < number < INT_BOUND else CONTEXT.create_decimal(number)
    return number or CONTEXT.abs(number)


def of_float(number: float) -> Number:
    """Raises decimal.Overflow for an infinite float, and decimal.InvalidOperation for one that is no number."""
    if not math.isfinite(number):
        raise decimal.InvalidOperation if math.isnan(number) else decimal.Overflow
    return settled(CONTEXT.create_decimal(repr(number)))


def add(left: Number, right: Number) -> Number:
    if type(left) is int and type(right) is int:
        return settled(left + right)
    return settled(CONTEXT.add(left, right))


def total(numbers: Sequence[Number]) -> Number:
    """Return the sum of at least one number, rounded at each step; small integers need no rounding."""
    if {*map(type, numbers)} == {int}:
        bound = INT_BOUND // len(numbers)
        if -bound < min(numbers) and max(numbers) < bound:
            return sum(numbers)
    return reduce(add, numbers)


def subtract(left: Number, right: Number) -> Number:
    if type(left) is int and type(right) is int:
        return settled(left - right)
    return settled(CONTEXT.subtract(left, right))


def multiply(left: Number, right: Number) -> Number:
    if type(left) is int and type(right) is int:
        return settled(left * right)
    return settled(CONTEXT.multiply(left, right))


def divide(dividend: Number, divisor: Number) -> Number:
    """Divide; raises decimal.DivisionByZero and, for zero by zero, decimal.InvalidOperation."""
    if type(dividend) is type(divisor) is int and divisor and dividend % divisor == 0:
        return dividend // divisor
    return settled(_plain(CONTEXT.divide(dividend, divisor)))


def power(number: Number, exponent: Number) -> Number:
    """Return a power: exact for an integer exponent, else with the precision of a float, as in the reference."""
    if type(number) is type(exponent) is int and 0 <= exponent <= _MAX_EXACT_EXPONENT:
        return settled(number**exponent)
    if is_whole(exponent):
        return settled(CONTEXT.power(number, exponent)) if number else _power_of_zero(exponent)
    return of_float(math.pow(number, exponent))


def _power_of_zero(exponent: Number) -> Number:
    if exponent < 0:
        raise decimal.DivisionByZero
    return 0 if exponent else 1


def is_whole(number: Number) -> bool:
    return type(number) is int or number == CONTEXT.to_integral_value(number)


def truncated(number: Number, bound: int) -> int:
    """Truncate to an integer within ±bound, because an int with a huge exponent would exhaust the memory."""
    return int(max(-bound, min(bound, number)))
