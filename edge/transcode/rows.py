"""Maps rows of a search to JSON without a message for each of them: one generated function per entity and message.

The edge does this when the servicer is in its process. The members are those of the message that the servicer would
have made of the row.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from keyword import iskeyword
from types import NoneType
from typing import Any, get_args, get_type_hints

import msgspec
import orjson
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from edge.config import Release
from edge.contract import JSON, Route
from edge.fields import Kind, answer_fields, enum_names, enum_of, kind_of, map_value, message_of, rule_of
from edge.transcode.answers import members_of

_ITEMS, _PAGE = "items", "page"
_encode = msgspec.json.Encoder().encode
# Places in `"2026-01-01T00:00:00.000000Z"`, the form of msgspec.
_SECOND, _MILLISECOND = 20, 24
# Expressions for the values of each kind; other kinds are serialized directly.
_EXPRESSIONS = {
    Kind.KEY: "str({found})",
    Kind.ENUM: "names{number}[{found}]",
    Kind.TIMESTAMP: "instant({found})",
    Kind.BYTES: "base64({found}).decode()",
    Kind.OBJECT: "Fragment({found} or b'{{}}')",
    Kind.VALUE: "Fragment({found} or b'null')",
}


class ItemRows:
    """Receives the rows of one response. `items` is None if the servicer made messages instead."""

    __slots__ = ("_item", "_release", "items")

    def __init__(self, item: Descriptor, release: Release) -> None:
        self._item, self._release = item, release
        self.items: list[Any] | None = None

    def receive(self, kind: type, rows: Iterable[object]) -> None:
        self.items = list(map(_function_of(kind, self._item, self._release), rows))


def item_of(route: Route) -> Descriptor | None:
    """Return the message of the items if the response is a page of them, else None."""
    fields = route.policy.descriptor.output_type.fields_by_name
    is_page = _ITEMS in fields and _PAGE in fields and route.response_field is None
    if not is_page or route.media_type != JSON or route.etag_field or route.failures_field:
        return None
    return message_of(fields[_ITEMS])


def page_encoder_of(route: Route, release: Release) -> Callable[[Message, ItemRows], bytes]:
    """Return the function that makes the body of a page."""
    function = members_of(route.policy.descriptor.output_type, release)

    def encode(response: Message, rows: ItemRows) -> bytes:
        members = function(response)
        if rows.items is not None:
            members[_ITEMS] = rows.items
        return orjson.dumps(members)

    return encode


def instant(moment: datetime) -> orjson.Fragment:
    """Write a text in the form of RFC 3339 in UTC with milliseconds; `isoformat` takes several times as long."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    text = _encode(moment)
    return orjson.Fragment(text[:_MILLISECOND] + b'Z"' if moment.microsecond else text[:_SECOND] + b'.000Z"')


@cache
def _function_of(entity: type, item: Descriptor, release: Release) -> Callable[[object], Any]:
    """Return the function from a row to serializable data. Fields that the row lacks are unset, as in its message."""
    hints, fields = get_type_hints(entity), answer_fields(item, release)
    unset = members_of(item, release)(GetMessageClass(item)())
    names: dict[str, Any] = {f"unset{field.number}": unset[field.json_name] for field in fields}
    for field in fields:
        value = map_value(field) or field
        if kind_of(value) is Kind.ENUM:
            names[f"names{field.number}"] = {name: name for name in enum_names(enum_of(value)).values()}
    members = ", ".join(f"{field.json_name!r}: {_member(field, hints.get(field.name))}" for field in fields)
    namespace = {"Fragment": orjson.Fragment, "base64": b64encode, "instant": instant, **names}
    source = f"def {item.name}(r):\n return {{{members}}}"
    exec(compile(source, f"<{entity.__name__} to JSON of {item.name}>", "exec"), namespace)  # noqa: S102  # made from descriptors alone
    function: Callable[[object], Any] = namespace[item.name]
    return function


def _member(field: FieldDescriptor, hint: Any) -> str:
    if hint is None:
        return f"unset{field.number}"
    found = f"getattr(r, {field.name!r})" if iskeyword(field.name) else f"r.{field.name}"
    if NoneType not in get_args(hint):
        return _expression(field, found)
    return f"unset{field.number} if (v := {found}) is None else {_expression(field, 'v')}"


def _expression(field: FieldDescriptor, found: str) -> str:
    value = map_value(field)
    if value is not None:
        return f"{{k: {_single(value, field.number, 'w')} for k, w in sorted({found}.items())}}"
    if field.is_repeated and kind_of(field) in _EXPRESSIONS:
        return f"[{_single(field, field.number, 'w')} for w in {found}]"
    otherwise = rule_of(field).otherwise
    return f"{found} or {otherwise!r}" if otherwise else _single(field, field.number, found)


def _single(field: FieldDescriptor, number: int, found: str) -> str:
    kind = kind_of(field)
    if kind is Kind.MESSAGE:
        raise TypeError(f"{field.full_name} is a message, which no field of a row is")
    return _EXPRESSIONS.get(kind, "{found}").format(found=found, number=number)
