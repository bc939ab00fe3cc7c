"""Fields of a deployed form: the schema of form-js, read for a page.

The server renders them as inputs of HTML, so that a form works without script. A component of another kind is a field
of JSON text, if it has a key, and is left out otherwise. Expressions of a form are not evaluated: a field with a
condition is always shown and never required.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import orjson

from edge.console.json_text import written

_MAX_FIELDS: Final = 1000
_MAX_OPTIONS: Final = 1000
_MAX_DEPTH: Final = 16


class Kind(StrEnum):
    TEXT = "text"
    LINES = "lines"
    NUMBER = "number"
    CHECK = "check"
    ONE = "one"
    MANY = "many"
    DATE = "date"
    TIME = "time"
    MOMENT = "datetime-local"
    JSON = "json"
    # Text of the form itself, which has no answer.
    NOTE = "note"


_KINDS: Final[Mapping[str, Kind]] = {
    "textfield": Kind.TEXT,
    "textarea": Kind.LINES,
    "number": Kind.NUMBER,
    "checkbox": Kind.CHECK,
    "select": Kind.ONE,
    "radio": Kind.ONE,
    "checklist": Kind.MANY,
    "taglist": Kind.MANY,
    "text": Kind.NOTE,
}
_TIMES: Final[Mapping[str, Kind]] = {"date": Kind.DATE, "time": Kind.TIME, "datetime": Kind.MOMENT}
_GROUPS: Final = frozenset({"default", "group"})
# They have no value of their own.
_SILENT: Final = frozenset(
    {"button", "spacer", "separator", "image", "html", "iframe", "expression", "table"}
)


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """`path` leads to the value in the variables; `answers` are what its inputs show."""

    name: str
    kind: Kind
    label: str
    path: tuple[str, ...] = ()
    note: str = ""
    is_required: bool = False
    is_fixed: bool = False
    is_utc: bool = False
    is_text: bool = False
    options: tuple[Option, ...] = ()
    bounds: Mapping[str, str]
    answers: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        return self.answers[0] if self.answers else ""


def names_of(schema: str) -> list[str]:
    """Return the names of variables that a form reads."""
    document = _document(schema)
    keys = {each.path[0] for each in _fields(document, {}) if each.path}
    return sorted(
        keys | {str(each["valuesKey"]) for each in _components(document, 0) if each.get("valuesKey")}
    )


def fields_of(schema: str, variables: Mapping[str, Any]) -> list[Field]:
    """Return the fields of a form, filled with the values of variables, which `exact` read."""
    return [
        replace(field, answers=_shown(field, _at(variables, field.path)))
        for field in _fields(_document(schema), variables)
    ]


def _document(schema: str) -> Mapping[str, Any]:
    try:
        document = orjson.loads(schema)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def _components(parent: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
    found = parent.get("components")
    for each in found if isinstance(found, list) and depth < _MAX_DEPTH else ():
        if isinstance(each, dict):
            yield each
            if _text(each.get("type")) in _GROUPS:
                yield from _components(each, depth + 1)


def _fields(document: Mapping[str, Any], variables: Mapping[str, Any]) -> Iterator[Field]:
    for number, (component, path) in enumerate(_placed(document, (), 0)):
        if number >= _MAX_FIELDS:
            return
        field = _field(f"field-{number}", component, path, variables)
        if field is not None:
            yield field


def _placed(
    parent: Mapping[str, Any], path: tuple[str, ...], depth: int
) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """Return the components with the paths of their values; a group may have a path of its own."""
    found = parent.get("components")
    for each in found if isinstance(found, list) and depth < _MAX_DEPTH else ():
        if not isinstance(each, dict):
            continue
        if _text(each.get("type")) in _GROUPS:
            yield {"type": "text", "text": each.get("label")}, ()
            yield from _placed(each, (*path, *_parts(each.get("path"))), depth + 1)
        else:
            key = _parts(each.get("key")) or _parts(each.get("path"))
            yield each, (*path, *key) if key else ()


def _parts(key: object) -> tuple[str, ...]:
    return tuple(part for part in key.split(".") if part) if isinstance(key, str) else ()


def _field(
    name: str, component: Mapping[str, Any], path: tuple[str, ...], variables: Mapping[str, Any]
) -> Field | None:
    kind = _text(component.get("type"))
    if kind in _SILENT:
        return None
    if kind == "text":
        text = _text(component.get("text")).lstrip("# ")
        return Field(name=name, kind=Kind.NOTE, label=text, bounds={}) if text else None
    if not path:
        return None
    own = component.get("validate")
    checks = own if isinstance(own, dict) else {}
    shown = (
        _TIMES.get(_text(component.get("subtype")), Kind.DATE)
        if kind == "datetime"
        else _KINDS.get(kind, Kind.JSON)
    )
    options = _options(component, variables) if shown in {Kind.ONE, Kind.MANY} else ()
    if shown in {Kind.ONE, Kind.MANY} and not options:
        shown = Kind.JSON
    label = (
        component.get("dateLabel") or component.get("timeLabel")
        if kind == "datetime"
        else component.get("label")
    )
    return Field(
        name=name,
        kind=shown,
        label=_text(label) or _text(component.get("label")) or ".".join(path),
        path=path,
        note=_text(component.get("description")),
        is_required=checks.get("required") is True and not component.get("conditional"),
        is_fixed=component.get("disabled") is True or component.get("readonly") is True,
        is_utc=_text(component.get("timeSerializingFormat")) in {"utc_offset", "utc_normalized"},
        is_text=component.get("serializeToString") is True,
        options=options,
        bounds={each: str(checks[each]) for each in _BOUNDS[shown] if _is_bound(checks.get(each))},
    )


_BOUNDS: Final[Mapping[Kind, tuple[str, ...]]] = {
    **dict.fromkeys(Kind, ()),
    Kind.TEXT: ("minLength", "maxLength", "pattern"),
    Kind.LINES: ("minLength", "maxLength"),
    Kind.NUMBER: ("min", "max"),
}


def _is_bound(value: object) -> bool:
    """Whether a bound is a constant and not an expression."""
    return (
        isinstance(value, int | float | str)
        and not isinstance(value, bool)
        and not str(value).startswith("=")
    )


def _text(value: object) -> str:
    """Return a text of the form, empty for an expression."""
    return value if isinstance(value, str) and not value.startswith("=") else ""


def _options(component: Mapping[str, Any], variables: Mapping[str, Any]) -> tuple[Option, ...]:
    found = component.get("values")
    if component.get("valuesKey"):
        found = _at(variables, _parts(component["valuesKey"]))
    options = []
    for each in found[:_MAX_OPTIONS] if isinstance(found, list) else ():
        if isinstance(each, dict) and "value" in each:
            options.append(Option(str(each.get("label") or each["value"]), each["value"]))
        elif isinstance(each, str | int | float):
            options.append(Option(str(each), each))
    return tuple(options)


def _at(variables: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = variables
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if path else None


def _shown(field: Field, value: Any) -> tuple[str, ...]:
    """Return the text that the inputs of a field show for a value; options are shown by their numbers."""
    if value is None:
        return ()
    if field.kind is Kind.ONE or field.kind is Kind.MANY:
        chosen = value if field.kind is Kind.MANY and isinstance(value, list) else [value]
        return tuple(str(number) for number, each in enumerate(field.options) if each.value in chosen)
    if field.kind is Kind.CHECK:
        return ("yes",) if value is True else ()
    if field.kind is Kind.JSON:
        return (orjson.dumps(written(value), option=orjson.OPT_INDENT_2).decode(),)
    text = value if isinstance(value, str) else orjson.dumps(written(value)).decode()
    return (text.removesuffix("Z") if field.is_utc else text,)
