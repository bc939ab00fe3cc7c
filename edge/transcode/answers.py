"""Maps response messages to HTTP bodies: one generated function per message.

Every documented member is in every response: null for an unset optional field or message. Functions are generated
because that takes less than two thirds of the time of interpreting the fields, for a response of a hundred items.
"""

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from keyword import iskeyword
from typing import Any

import orjson
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from edge.config import Release
from edge.contract import JSON, Route
from edge.fields import (
    Kind,
    answer_fields,
    enum_names,
    enum_of,
    is_nullable,
    is_optional_value,
    kind_of,
    map_value,
    message_of,
    rule_of,
)
from edge.transcode.values import date_time

Encode = Callable[[Any], bytes | None]
# Expressions for the values of each kind; other kinds are serialized directly.
_EXPRESSIONS = {
    Kind.KEY: "str({found})",
    Kind.ENUM: "names{number}.get({found}, 'UNSPECIFIED')",
    Kind.TIMESTAMP: "date_time({found})",
    Kind.BYTES: "base64({found}).decode()",
    Kind.OBJECT: "Fragment({found} or b'{{}}')",
    Kind.VALUE: "Fragment({found} or b'null')",
    Kind.MESSAGE: "encode{number}({found})",
}


def encoder_of(route: Route, release: Release = Release.CAMUNDA_8_9) -> Encode:
    """Return the function that makes the body; it returns None for a response without a body.

    The body has the members of `release`.
    """
    field = route.response_field
    if field is None:
        response = route.policy.descriptor.output_type
        return _message_encoder(response, release) if response.fields else _no_body
    encode = _text(field) if route.media_type != JSON else _field_encoder(field, release)
    return _unless_unset(field, encode) if is_optional_value(field) else encode


@cache
def members_of(message: Descriptor, release: Release) -> Callable[[Message], Any]:
    """Return the function from a message to serializable data; a message cannot contain its own type."""
    fields = answer_fields(message, release)
    members = ", ".join(f"{field.json_name!r}: {_member(field)}" for field in fields)
    names = {name: value for field in fields for name, value in _names(field, release).items()}
    return _compiled(message.name, f"return {{{members}}}", names)


def _no_body(_: Message) -> None:
    return None


def _unless_unset(field: FieldDescriptor, encode: Encode) -> Encode:
    name = field.name
    return lambda message: encode(message) if message.HasField(name) else None


def _text(field: FieldDescriptor) -> Encode:
    name = field.name
    return lambda message: getattr(message, name).encode()


def _message_encoder(message: Descriptor, release: Release) -> Encode:
    function = members_of(message, release)
    return lambda found: orjson.dumps(function(found))


def _field_encoder(field: FieldDescriptor, release: Release) -> Encode:
    """For a response that consists of one field."""
    function = _compiled("field", f"return {_expression(field)}", _names(field, release))
    return lambda found: orjson.dumps(function(found))


def _compiled(name: str, body: str, names: dict[str, Any]) -> Callable[[Message], Any]:
    namespace = {"Fragment": orjson.Fragment, "base64": b64encode, "date_time": date_time, **names}
    source = f"def {name}(m):\n {body}"
    exec(compile(source, f"<encoder of {name}>", "exec"), namespace)  # noqa: S102  # made from descriptors alone
    function: Callable[[Message], Any] = namespace[name]
    return function


def _names(field: FieldDescriptor, release: Release) -> dict[str, Any]:
    """Names that the expression of the field refers to."""
    value = map_value(field) or field
    match kind_of(value):
        case Kind.ENUM:
            return {f"names{field.number}": enum_names(enum_of(value))}
        case Kind.MESSAGE:
            return {f"encode{field.number}": members_of(message_of(value), release)}
        case _:
            return {}


def _member(field: FieldDescriptor) -> str:
    expression = _expression(field)
    return f"{expression} if m.HasField({field.name!r}) else None" if is_nullable(field) else expression


def _expression(field: FieldDescriptor) -> str:
    found = f"getattr(m, {field.name!r})" if iskeyword(field.name) else f"m.{field.name}"
    value = map_value(field)
    if value is not None:
        return f"{{str(k): {_single(value, field.number, 'v')} for k, v in sorted({found}.items())}}"
    if field.is_repeated:
        return f"[{_single(field, field.number, 'v')} for v in {found}]"
    otherwise = rule_of(field).otherwise
    return f"{found} or {otherwise!r}" if otherwise else _single(field, field.number, found)


def _single(field: FieldDescriptor, number: int, found: str) -> str:
    return _EXPRESSIONS.get(kind_of(field), "{found}").format(found=found, number=number)
