"""Our answers in the form of feel-scala's, and values written as FEEL for it to read."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from server.feel import (
    Date,
    DateTime,
    DaysDuration,
    FeelError,
    FeelSyntaxError,
    Function,
    MonthsDuration,
    Ports,
    Range,
    Time,
    Value,
    Zone,
    compile_expression,
    compile_unary_tests,
)
from server.feel.temporal import formatter
from server.feel.temporal.values import SECOND
from server.feel.values import is_number
from tests.feel_scala.engine import Answer

PORTS = Ports(now=datetime(2026, 1, 1, tzinfo=UTC), bits=lambda count: 1 << count - 1)


def our_answer(
    text: str, variables: Mapping[str, Value], input_value: Value = None, *, is_test: bool = False
) -> Answer:
    try:
        if is_test:
            tests = compile_unary_tests.__wrapped__(text)
            return {"value": form(tests.evaluate(input_value, variables, ports=PORTS).value)}
        return {"value": form(compile_expression.__wrapped__(text).evaluate(variables, PORTS).value)}
    except FeelSyntaxError:
        return {"error": "parse"}
    except FeelError:
        return {"error": "evaluation"}


def our_value(text: str, variables: Mapping[str, Value]) -> Value:
    """Null where there is no value."""
    try:
        return compile_expression.__wrapped__(text).evaluate(variables, PORTS).value
    except FeelError:
        return None


def is_same(ours: Answer, theirs: Answer) -> bool:
    return json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def form(value: Value) -> object:
    """As Asked.java writes it."""
    match value:
        case None | bool() | str():
            return value
        case list():
            return [*map(form, value)]
        case dict():
            # Of a context feel-scala tells values and no functions.
            entries = {key: form(each) for key, each in value.items() if not isinstance(each, Function)}
            return {"$": "context", "entries": entries}
        case Range():
            start, end = [form(value.start), value.start_included], [form(value.end), value.end_included]
            return {"$": "range", "start": start, "end": end}
        case _:
            return {"$": _KINDS[type(value)], "text": _text(value)}


_LAST_YEAR_WITHOUT_SIGN = 9999
_KINDS: Mapping[type, str] = {
    int: "number",
    Decimal: "number",
    Date: "date",
    Time: "time",
    DateTime: "date and time",
    DaysDuration: "days",
    MonthsDuration: "months",
    Function: "function",
}


def _text(value: Value) -> str:  # noqa: PLR0911 - one row for each kind
    match value:
        case int() | Decimal():
            return _plain(Decimal(value))
        case Date():
            return f"{'+' * (value.year > _LAST_YEAR_WITHOUT_SIGN)}{formatter.written(value)}"
        case Time():
            return _clock(value) + _zone(value.zone)
        case DateTime():
            return f"{_text(value.date)}T{_clock(value.time)}{_zone(value.zone)}"
        case DaysDuration():
            return str(value.nanoseconds)
        case MonthsDuration():
            return str(value.months)
        case _:
            return ""


def _plain(number: Decimal) -> str:
    """As Java's BigDecimal writes a number without trailing zeros."""
    if not number:
        return "0"
    sign, digits, exponent = number.as_tuple()
    stripped = "".join(map(str, digits)).rstrip("0")
    shifted = int(exponent) + len(digits) - len(stripped)
    return str(Decimal((sign, tuple(map(int, stripped)), shifted)))


def _clock(time: Time) -> str:
    return f"{time.nanoseconds // SECOND} {time.nanoseconds % SECOND}"


def _zone(zone: Zone | None) -> str:
    if zone is None:
        return ""
    return f" {zone.offset} {zone.name}" if zone.name else f" {zone.offset}"


def written(value: Value) -> str:  # noqa: PLR0911 - one row for each kind
    """A value as the text of an expression that makes it; functions are null."""
    match value:
        case None | Function():
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case list():
            return f"[{', '.join(map(written, value))}]"
        case dict():
            return f"{{{', '.join(f'{_quoted(key)}: {written(each)}' for key, each in value.items())}}}"
        case Range():
            opening, closing = "[" if value.start_included else "(", "]" if value.end_included else ")"
            return f"{opening}{written(value.start)}..{written(value.end)}{closing}"
        case _ if is_number(value):
            return f"{Decimal(value):f}"
        case _:
            return f'@"{formatter.written(value)}"'  # type: ignore[arg-type]  # only temporal values are left


def _quoted(text: str) -> str:
    for character, escape in _ESCAPES:
        text = text.replace(character, escape)
    return f'"{text}"'


_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))
