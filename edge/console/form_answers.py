"""Variables from a user's answers to a form, checked by the rules of the form."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any, Final

import orjson
from multidict import MultiDictProxy

from edge.console.form_fields import Field, Kind, Option
from edge.console.json_text import value_of, written
from server.platform.errors import InvalidArgument

# RFC 8259 §6.
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)


def answered(fields: list[Field], form: MultiDictProxy[str]) -> list[Field]:
    """Return the fields with the answers of a form that was sent."""
    return [
        field if field.is_fixed else replace(field, answers=tuple(form.getall(field.name, ())))
        for field in fields
    ]


def variables_of(fields: list[Field], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables that answers make; raises InvalidArgument.

    Members of an object that have no field keep their values.
    """
    found: dict[str, Any] = {}
    for field in fields:
        if not field.path or field.is_fixed:
            continue
        _put(found, field.path, _value(field), known)
    return found


def _value(field: Field) -> Any:
    """Return the value of an answer; raises InvalidArgument, which names the field."""
    if field.kind is Kind.CHECK:
        if field.is_required and not field.answers:
            raise InvalidArgument(f"{field.label}: this box must be checked")
        return bool(field.answers)
    if field.kind is Kind.MANY:
        values = [written(_option(field, answer).value) for answer in field.answers]
        if field.is_required and not values:
            raise InvalidArgument(f"{field.label}: choose at least one")
        return values
    text = field.answer if field.kind in {Kind.TEXT, Kind.LINES} else field.answer.strip()
    if not text:
        if field.is_required:
            raise InvalidArgument(f"{field.label}: this field must be filled in")
        return "" if field.kind in {Kind.TEXT, Kind.LINES} else None
    return _of_text(field, text)


def _of_text(field: Field, text: str) -> Any:
    value_from = _VALUES.get(field.kind)
    if value_from is not None:
        return value_from(field, text)
    length = len(text)
    if length < float(field.bounds.get("minLength", 0)) or length > float(
        field.bounds.get("maxLength", length)
    ):
        raise InvalidArgument(
            f"{field.label}: {_range(field, 'minLength', 'maxLength')} characters, found {length}"
        )
    # The text of several lines has the line ends of HTTP forms.
    return text.replace("\r\n", "\n")


def _number(field: Field, text: str) -> Any:
    if not _NUMBER.fullmatch(text):
        raise InvalidArgument(f"{field.label}: expected a number, found {text!r}")
    if float(text) < float(field.bounds.get("min", text)) or float(text) > float(
        field.bounds.get("max", text)
    ):
        raise InvalidArgument(f"{field.label}: {_range(field, 'min', 'max')}, found {text}")
    return text if field.is_text else orjson.Fragment(text)


def _time(field: Field, text: str) -> str:
    try:
        _TIMES[field.kind](text)
    except ValueError as error:
        raise InvalidArgument(f"{field.label}: expected a date or a time, found {text!r}") from error
    return f"{text}Z" if field.is_utc and field.kind is not Kind.DATE else text


def _option(field: Field, answer: str) -> Option:
    if not (answer.isascii() and answer.isdecimal() and int(answer) < len(field.options)):
        raise InvalidArgument(f"{field.label}: this is not one of the options")
    return field.options[int(answer)]


def _range(field: Field, least: str, most: str) -> str:
    bounds = (
        f"at least {field.bounds[least]}" if least in field.bounds else "",
        f"at most {field.bounds[most]}" if most in field.bounds else "",
    )
    return f"expected {' and '.join(filter(None, bounds))}"


def _put(found: dict[str, Any], path: tuple[str, ...], value: Any, known: Mapping[str, Any]) -> None:
    inside: Any = known
    for part in path[:-1]:
        inside = inside.get(part) if isinstance(inside, Mapping) else None
        found = found.setdefault(part, written(inside) if isinstance(inside, dict) else {})
    found[path[-1]] = value


_TIMES: Final[Mapping[Kind, Callable[[str], object]]] = {
    Kind.DATE: date.fromisoformat,
    Kind.TIME: time.fromisoformat,
    Kind.MOMENT: datetime.fromisoformat,
}
# A text has no number in the list: it is its own value.
_VALUES: Final[Mapping[Kind, Callable[[Field, str], Any]]] = {
    Kind.ONE: lambda field, text: written(_option(field, text).value),
    Kind.NUMBER: _number,
    **dict.fromkeys(_TIMES, _time),
    Kind.JSON: lambda field, text: value_of(text, field.label),
}
