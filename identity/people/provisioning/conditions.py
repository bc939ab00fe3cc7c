"""Filters on users as conditions of the record store, by columns that the database derives from the record.

A negation moves to the comparisons below it, so that every filter is alternatives of conjunctions.
"""

from collections.abc import Mapping
from datetime import datetime

from identity.directory.user import User
from identity.foundation.mail_address import email_key
from identity.foundation.searches import ascii_lower
from identity.people.provisioning.comparison import time_of
from identity.people.provisioning.filters import All, Among, Any, Compare, Comparison, Filter, Not, Value
from identity.people.provisioning.refusals import ScimType, refusal
from server.platform.errors import InvalidArgument
from server.platform.query import AnyOf, Clause, Condition, Field, FieldType, Operator, Searchable, SortKey

Clauses = tuple[Clause, ...]

_ID = Field("id", FieldType.TEXT)
_TEXTS = {
    "id": _ID,
    "username": Field("account_name", FieldType.TEXT),
    "externalid": Field("external_id", FieldType.TEXT),
    "displayname": Field("display_name_key", FieldType.TEXT),
    "emails": Field("email", FieldType.TEXT),
    "emails.value": Field("email", FieldType.TEXT),
}
_EXACT = frozenset({"id", "externalid"})
_ACTIVE = Field("is_enabled", FieldType.BOOLEAN)
_MODIFIED = Field("last_modified_at", FieldType.DATE_TIME)
_GROUPS = Field("groups", FieldType.TEXTS)
_OF_GROUPS = frozenset({"groups", "groups.value"})
# A filter on addresses compares only the account's address.
_CONSTANTS: Mapping[str, Value] = {"emails.type": "work", "emails.primary": True, "meta.resourcetype": "User"}
_FIELDS: Mapping[str, Field] = {**_TEXTS, "active": _ACTIVE, "meta.lastmodified": _MODIFIED}
_SORTED: Mapping[str, Field] = {**_TEXTS, "meta.lastmodified": _MODIFIED}
_FILTERED = "id, userName, externalId, displayName, emails, active, groups, meta.lastModified"

SEARCHABLE = Searchable(User, key=_ID, fields={"id": _ID}, derived={})

_EVERY: Clauses = ()
_NONE: Clauses = (Condition(_ID, Operator.IN, ()),)
_OPPOSITES = {
    Operator.GT: Operator.LTE,
    Operator.GTE: Operator.LT,
    Operator.LT: Operator.GTE,
    Operator.LTE: Operator.GT,
}
_ORDERED = {
    Comparison.GT: Operator.GT,
    Comparison.GE: Operator.GTE,
    Comparison.LT: Operator.LT,
    Comparison.LE: Operator.LTE,
}
_PATTERNS = {Comparison.CO: "*{}*", Comparison.SW: "{}*", Comparison.EW: "*{}"}


def clauses_of(condition: Filter, groups: Mapping[str, str]) -> Clauses:
    """Return clauses that must all be true; `groups` has names by id. Raises InvalidArgument with `invalidFilter`."""
    return _clauses(condition, groups, below="", is_wanted=True)


def sort_key_of(path: str, *, is_descending: bool) -> SortKey:
    """Raises InvalidArgument for an attribute that cannot sort."""
    field = _SORTED.get(path)
    if field is None:
        raise refusal(
            ScimType.INVALID_VALUE,
            "sortBy: expected id, userName, externalId, displayName, emails or meta.lastModified",
        )
    return SortKey(field, is_descending)


def _clauses(condition: Filter, groups: Mapping[str, str], *, below: str, is_wanted: bool) -> Clauses:
    match condition:
        case Compare():
            return _comparison(condition, f"{below}{condition.path}", groups, is_wanted=is_wanted)
        case Among():
            if below or condition.path not in {"emails", "groups"}:
                raise _unknown()
            inner = f"{condition.path}."
            return _clauses(condition.condition, groups, below=inner, is_wanted=is_wanted)
        case Not():
            return _clauses(condition.operand, groups, below=below, is_wanted=not is_wanted)
        case All() | Any():
            found = [_clauses(each, groups, below=below, is_wanted=is_wanted) for each in condition.operands]
            if isinstance(condition, All) is is_wanted:
                return tuple(clause for clauses in found for clause in clauses)
            return (AnyOf(tuple(found)),)


def _comparison(found: Compare, path: str, groups: Mapping[str, str], *, is_wanted: bool) -> Clauses:
    if found.comparison is Comparison.NE:
        equal = Compare(found.path, Comparison.EQ, found.value)
        return _comparison(equal, path, groups, is_wanted=not is_wanted)
    if path in _CONSTANTS:
        return _constant(found, _CONSTANTS[path], is_wanted=is_wanted)
    if path in _OF_GROUPS:
        return _of_groups(found, groups, is_wanted=is_wanted)
    field = _FIELDS.get(path)
    if field is None:
        raise _unknown()
    if found.comparison is Comparison.PR or found.value is None:
        return _of_presence(found, field, is_wanted=is_wanted)
    return _of_value(found, field, path, is_wanted=is_wanted)


def _of_presence(found: Compare, field: Field, *, is_wanted: bool) -> Clauses:
    """RFC 7643 §2.5: null is an attribute without a value."""
    if found.comparison is Comparison.PR:
        return (Condition(field, Operator.EXISTS, is_wanted),)
    if found.comparison is not Comparison.EQ:
        raise _invalid("expected eq or ne for null")
    return (Condition(field, Operator.EXISTS, not is_wanted),)


def _of_value(found: Compare, field: Field, path: str, *, is_wanted: bool) -> Clauses:
    if field is _ACTIVE:
        return _of_active(found, is_wanted=is_wanted)
    if field is _MODIFIED:
        return _of_time(found, is_wanted=is_wanted)
    return _of_text(found, field, path, is_wanted=is_wanted)


def _constant(found: Compare, value: Value, *, is_wanted: bool) -> Clauses:
    if found.comparison not in {Comparison.EQ, Comparison.PR}:
        raise _invalid("expected eq, ne or pr for a part that is the same for all users")
    own = value.lower() if isinstance(value, str) else value
    other = found.value.lower() if isinstance(found.value, str) else found.value
    holds = found.comparison is Comparison.PR or own == other
    return _EVERY if holds is is_wanted else _NONE


def _of_groups(found: Compare, groups: Mapping[str, str], *, is_wanted: bool) -> Clauses:
    if found.comparison is Comparison.PR:
        return (Condition(_GROUPS, Operator.EXISTS, is_wanted),)
    if found.comparison is not Comparison.EQ:
        raise _invalid("groups: expected eq, ne or pr")
    name = groups.get(str(found.value))
    if name is None:
        return _NONE if is_wanted else _EVERY
    return (Condition(_GROUPS, Operator.EQ if is_wanted else Operator.NEQ, name),)


def _of_active(found: Compare, *, is_wanted: bool) -> Clauses:
    value = str(found.value).lower()
    if found.comparison is not Comparison.EQ or value not in {"true", "false"}:
        raise _invalid("active: expected eq or ne, and true or false")
    return (Condition(_ACTIVE, Operator.EQ, (value == "true") is is_wanted),)


def _of_time(found: Compare, *, is_wanted: bool) -> Clauses:
    time = time_of(found.value) if isinstance(found.value, str) else None
    if time is None:
        raise _invalid("meta.lastModified: expected a time like 2030-01-01T12:00:00Z")
    if found.comparison is Comparison.EQ:
        return (Condition(_MODIFIED, Operator.EQ if is_wanted else Operator.NEQ, time),)
    if found.comparison not in _ORDERED:
        raise _invalid("meta.lastModified: expected eq, ne, gt, ge, lt, le or pr")
    return _ordered(_MODIFIED, _ORDERED[found.comparison], time, is_wanted=is_wanted)


def _of_text(found: Compare, field: Field, path: str, *, is_wanted: bool) -> Clauses:
    if not isinstance(found.value, str):
        raise _invalid("expected a text")
    is_address = field.name == "email" and found.comparison is Comparison.EQ
    text = (
        found.value if path in _EXACT else email_key(found.value) if is_address else ascii_lower(found.value)
    )
    if found.comparison is Comparison.EQ:
        return (Condition(field, Operator.EQ if is_wanted else Operator.NEQ, text),)
    if found.comparison in _PATTERNS:
        pattern = _PATTERNS[found.comparison].format(_literal(text))
        return (Condition(field, Operator.LIKE if is_wanted else Operator.NOT_LIKE, pattern),)
    return _ordered(field, _ORDERED[found.comparison], text, is_wanted=is_wanted)


def _ordered(field: Field, operator: Operator, value: str | datetime, *, is_wanted: bool) -> Clauses:
    if is_wanted:
        return (Condition(field, operator, value),)
    missing: Clauses = (Condition(field, Operator.EXISTS, operand=False),)
    return (AnyOf(((Condition(field, _OPPOSITES[operator], value),), missing)),)


def _literal(text: str) -> str:
    """Return the pattern that matches only this text."""
    return "".join(f"\\{letter}" if letter in "*?\\" else letter for letter in text)


def _unknown() -> InvalidArgument:
    return _invalid(f"expected an attribute of {_FILTERED}")


def _invalid(detail: str) -> InvalidArgument:
    return refusal(ScimType.INVALID_FILTER, f"filter: {detail}")
