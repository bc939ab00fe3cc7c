"""Functions on numbers: exact if possible, else with the precision of a float."""

import decimal
import math
from decimal import Decimal
from fractions import Fraction

from server.feel.decimals import CONTEXT, Number, divide, is_whole, of_float, settled
from server.feel.errors import InvocationError
from server.feel.signatures import Family
from server.feel.temporal.values import DaysDuration, MonthsDuration
from server.feel.text import shown
from server.feel.values import Value

_MIN_SCALE = -6111
_MAX_SCALE = 6176

ROUNDING_MODES = {
    "UP": decimal.ROUND_UP,
    "DOWN": decimal.ROUND_DOWN,
    "CEILING": decimal.ROUND_CEILING,
    "FLOOR": decimal.ROUND_FLOOR,
    "HALF_UP": decimal.ROUND_HALF_UP,
    "HALF_DOWN": decimal.ROUND_HALF_DOWN,
    "HALF_EVEN": decimal.ROUND_HALF_EVEN,
}
_UNNECESSARY = "UNNECESSARY"


def _rounded(number: Number, scale: Number, rounding: str) -> Number:
    if not _MIN_SCALE <= scale <= _MAX_SCALE:
        raise InvocationError(f"expected a scale from {_MIN_SCALE} to {_MAX_SCALE}")
    digits = int(scale)
    if digits >= (0 if type(number) is int else _digits_behind_the_point(number)):
        return number
    result = Decimal(number).quantize(Decimal(1).scaleb(-digits), rounding, CONTEXT)
    return settled(result) if digits > 0 else settled(int(result))


def _digits_behind_the_point(number: Number) -> int:
    exponent = Decimal(number).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def decimal_(n: Number, scale: Number) -> Number:
    return _rounded(n, scale, decimal.ROUND_HALF_EVEN)


def decimal_by_mode(n: Number, scale: Number, mode: str) -> Number:
    if mode.upper() == _UNNECESSARY:
        result = _rounded(n, scale, decimal.ROUND_DOWN)
        if result != n:
            raise InvocationError(f"rounding of '{shown(n)}' is necessary")
        return result
    if mode.upper() not in ROUNDING_MODES:
        raise InvocationError(f"no rounding mode '{mode}'")
    return _rounded(n, scale, ROUNDING_MODES[mode.upper()])


def floor(n: Number, scale: Number = 0) -> Number:
    return _rounded(n, scale, decimal.ROUND_FLOOR)


def ceiling(n: Number, scale: Number = 0) -> Number:
    return _rounded(n, scale, decimal.ROUND_CEILING)


def round_up(n: Number, scale: Number) -> Number:
    return _rounded(n, scale, decimal.ROUND_UP)


def round_down(n: Number, scale: Number) -> Number:
    return _rounded(n, scale, decimal.ROUND_DOWN)


def round_half_up(n: Number, scale: Number) -> Number:
    return _rounded(n, scale, decimal.ROUND_HALF_UP)


def round_half_down(n: Number, scale: Number) -> Number:
    return _rounded(n, scale, decimal.ROUND_HALF_DOWN)


def absolute(n: Number | DaysDuration | MonthsDuration) -> Value:
    if isinstance(n, DaysDuration):
        return DaysDuration(abs(n.nanoseconds))
    if isinstance(n, MonthsDuration):
        return MonthsDuration(abs(n.months))
    return CONTEXT.abs(n) if isinstance(n, Decimal) else abs(n)


def modulo(dividend: Number, divisor: Number) -> Number:
    """Return the remainder with the sign of the divisor (DMN 1.5 §10.3.4.5)."""
    if not divisor:
        raise InvocationError("the divisor is zero")
    if type(dividend) is int and type(divisor) is int:
        return dividend % divisor
    try:
        remainder = CONTEXT.remainder(dividend, divisor)
    except decimal.InvalidOperation:
        # The quotient exceeds the precision of a number, but the remainder does not.
        exact = Fraction(dividend) % Fraction(divisor)
        return settled(divide(exact.numerator, exact.denominator))
    if remainder and (remainder < 0) is not (divisor < 0):
        remainder = CONTEXT.add(remainder, divisor)
    return settled(remainder)


def sqrt(number: Number) -> Number:
    return of_float(math.sqrt(number))


def log(number: Number) -> Number:
    return of_float(math.log(number))


def exp(number: Number) -> Number:
    return of_float(math.exp(number))


def odd(number: Number) -> Value:
    return is_whole(number) and not even(number)


def even(number: Number) -> Value:
    return CONTEXT.remainder(number, 2) == 0


FUNCTIONS: Family = {
    "decimal": (decimal_, decimal_by_mode),
    "floor": floor,
    "ceiling": ceiling,
    "round up": round_up,
    "round down": round_down,
    "round half up": round_half_up,
    "round half down": round_half_down,
    "abs": absolute,
    "modulo": modulo,
    "sqrt": sqrt,
    "log": log,
    "exp": exp,
    "odd": odd,
    "even": even,
}
