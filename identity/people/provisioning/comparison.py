"""Filters on documents in memory: value filters of PATCH paths, and searches of groups, which are few."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import assert_never

from identity.foundation.searches import ascii_lower
from identity.people.provisioning.attributes import ENTERPRISE_SCHEMA
from identity.people.provisioning.filters import All, Among, Any, Compare, Comparison, Filter, Not, Value

_EXACT = frozenset({"id", "externalid", "members.value", "groups.value", "meta.version"})
_TIMES = frozenset({"meta.created", "meta.lastmodified"})
_EXTENSION = f"{ENTERPRISE_SCHEMA.lower()}:"
_ORDERED = {
    Comparison.GT: (False, True),
    Comparison.GE: (True, True),
    Comparison.LT: (False, False),
    Comparison.LE: (True, False),
}


def matches(condition: Filter, members: Mapping[str, object], *, below: str = "") -> bool:
    """Whether a document, or the value of the attribute `below`, meets a filter."""
    match condition:
        case Compare():
            return _compares(condition, members, below)
        case Among():
            values = _values(members, condition.path)
            return any(
                matches(condition.condition, value, below=f"{condition.path}.")
                for value in values
                if isinstance(value, dict)
            )
        case Not():
            return not matches(condition.operand, members, below=below)
        case All():
            return all(matches(operand, members, below=below) for operand in condition.operands)
        case Any():
            return any(matches(operand, members, below=below) for operand in condition.operands)
        case _:
            assert_never(condition)


def time_of(text: str) -> datetime | None:
    """Return the time of a text, in UTC without an offset, None when it is no time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _compares(condition: Compare, members: Mapping[str, object], below: str) -> bool:
    values = [_plain(value) for value in _values(members, condition.path)]
    path = f"{below}{condition.path}"
    match condition.comparison:
        case Comparison.PR:
            return bool(values)
        case Comparison.EQ:
            return _has(values, condition.value, path)
        case Comparison.NE:
            return not _has(values, condition.value, path)
        case _:
            return any(_stands(condition, value, path) for value in values)


def _has(values: list[object], wanted: Value, path: str) -> bool:
    if wanted is None:
        return not values
    return any(_key(value, path) == _key(wanted, path) for value in values)


def _stands(condition: Compare, value: object, path: str) -> bool:
    one, other = _key(value, path), _key(condition.value, path)
    if isinstance(one, str) and isinstance(other, str):
        match condition.comparison:
            case Comparison.CO:
                return other in one
            case Comparison.SW:
                return one.startswith(other)
            case Comparison.EW:
                return one.endswith(other)
            case _:
                is_equal, is_greater = _ORDERED[condition.comparison]
                return (is_equal and one == other) or (one > other if is_greater else one < other)
    if isinstance(one, datetime) and isinstance(other, datetime) and condition.comparison in _ORDERED:
        is_equal, is_greater = _ORDERED[condition.comparison]
        return (is_equal and one == other) or (one > other if is_greater else one < other)
    return False


def _key(value: object, path: str) -> object:
    """Return a value in its form for comparison: RFC 7643 §2.2."""
    if isinstance(value, bool):
        return value
    if path in _TIMES and isinstance(value, str):
        return time_of(value)
    text = value if isinstance(value, str) else str(value)
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    return text if path in _EXACT or f"{path}.value" in _EXACT else ascii_lower(text)


def _plain(value: object) -> object:
    """Return the plain value of a complex value: RFC 7644 §3.4.2.2 lets filters omit `.value`."""
    return value.get("value") if isinstance(value, dict) and "value" in value else value


def _values(members: Mapping[str, object], path: str) -> list[object]:
    if path.startswith(_EXTENSION):
        inner = members.get(ENTERPRISE_SCHEMA)
        return _values(inner, path.removeprefix(_EXTENSION)) if isinstance(inner, dict) else []
    name, _, rest = path.partition(".")
    found = next((value for key, value in members.items() if key.lower() == name), None)
    values = found if isinstance(found, list) else [] if found is None else [found]
    if not rest:
        return values
    return [each for value in values if isinstance(value, dict) for each in _values(value, rest)]
