"""Functions that the process engine adds, and functions that use randomness."""

from collections.abc import Callable

from server.feel.decimals import Number, of_float
from server.feel.errors import InvocationError
from server.feel.run import Run
from server.feel.signatures import Family
from server.feel.temporal.formatter import written
from server.feel.temporal.values import DaysDuration, MonthsDuration
from server.feel.text import shown
from server.feel.values import Context, Value

_DIGITS_OF_A_FLOAT = 53
_VERSION_7 = 0x7 << 76
_VARIANT = 0b10 << 62


def uuid(run: Run) -> str:
    """Return a UUID version 7: milliseconds since 1970, then random bits (RFC 9562 §5.7)."""
    bits = _chance(run)
    if run.ports.now is None:
        raise InvocationError("no time is given")
    milliseconds = int(run.ports.now.timestamp() * 1_000) & (1 << 48) - 1
    digits = f"{milliseconds << 80 | _VERSION_7 | bits(12) << 64 | _VARIANT | bits(62):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def random_number(run: Run) -> Number:
    """Return a random number from 0 to below 1."""
    return of_float(_chance(run)(_DIGITS_OF_A_FLOAT) / 2**_DIGITS_OF_A_FLOAT)


def _chance(run: Run) -> Callable[[int], int]:
    if run.ports.bits is None:
        raise InvocationError("no source of chance is given")
    return run.ports.bits


def cycle(interval: DaysDuration | MonthsDuration) -> str:
    return f"R/{written(interval)}"


def cycle_of_times(repetitions: Number | None, interval: DaysDuration | MonthsDuration) -> str:
    """Return a cycle; without a number of repetitions it is endless."""
    return f"R{'' if repetitions is None else shown(repetitions)}/{written(interval)}"


def from_ai(
    value: Value,
    description: str | None = None,
    type_: str | None = None,
    schema: Context | None = None,
    options: Context | None = None,
) -> Value:
    """Return the value unchanged; the other arguments describe it to readers of the expression."""
    del description, type_, schema, options
    return value


FUNCTIONS: Family = {
    "uuid": uuid,
    "random number": random_number,
    "cycle": (cycle, cycle_of_times),
    "fromAi": from_ai,
}
