"""Maps JSON objects to messages: a msgspec structure per message checks the types, and a function fills the message.

Members of a structure are None when the object lacks them, whatever their type.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from types import GenericAlias
from typing import Annotated, Any

import msgspec
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from edge.fields import (
    Kind,
    accepted_names,
    bounds_of,
    integer_bounds,
    is_nullable,
    kind_of,
    map_value,
    message_of,
    rule_of,
    shorthand_of,
    takes_any_case,
)
from edge.transcode import values
from edge.transcode.malformed import Malformed, mismatch, shown
from server.platform.json_members import RepeatedMember, expect_unique_members

Convert = Callable[[Any], Any]
Members = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """How to read a field: the type that msgspec checks, and the conversion to the field's value."""

    type: Any
    convert: Convert


@dataclass(frozen=True, slots=True)
class ObjectReader:
    """Reads objects of one message type; `members` returns the message's keyword arguments."""

    structure: type[msgspec.Struct]
    members: Callable[[msgspec.Struct], Members]


def text_decoder(fields: Iterable[FieldDescriptor]) -> Callable[[bytes], Members]:
    """Return the function from the text of an object with exactly these fields to keyword arguments."""
    reader = _reader("Body", tuple(fields))
    decoder = msgspec.json.Decoder(reader.structure)

    def decode(text: bytes) -> Members:
        return reader.members(decoded(decoder, text))

    return decode


def decoded(decoder: "msgspec.json.Decoder[Any]", text: bytes) -> Any:
    """Decode a text; raises Malformed and nothing else."""
    try:
        found = decoder.decode(text)
        expect_unique_members(text)
    except RepeatedMember as error:
        raise Malformed(f"expected each member of an object once, found {shown(error.name)} twice") from None
    except msgspec.ValidationError as error:
        raise mismatch(error) from None
    except (msgspec.DecodeError, ValueError) as error:
        raise Malformed(f"expected valid JSON in UTF-8, found {error}") from None
    except RecursionError:
        raise Malformed("expected JSON that is nested less deeply") from None
    return found


@cache
def _reader_of(message: Descriptor) -> ObjectReader:
    return _reader(message.name, tuple(message.fields))


def _reader(name: str, fields: tuple[FieldDescriptor, ...]) -> ObjectReader:
    shapes = {field: shape_of(field) for field in fields}
    # Field names such as `in` are Python keywords, so members are numbered.
    structure = msgspec.defstruct(
        name,
        [(f"member{field.number}", shape.type, None) for field, shape in shapes.items()],
        rename={f"member{field.number}": field.json_name for field in fields},
        forbid_unknown_fields=True,
        gc=False,
    )
    rows = [
        (f"member{field.number}", field.name, field.json_name, shape.convert)
        for field, shape in shapes.items()
    ]

    required = [(f"member{field.number}", field.json_name) for field in fields if rule_of(field).required]

    def members(found: msgspec.Struct) -> Members:
        for member, json_name in required:
            if getattr(found, member) is None:
                raise Malformed("expected a value, found none", json_name)
        arguments = {}
        for member, field_name, json_name, convert in rows:
            value = getattr(found, member)
            if value is not None:
                try:
                    arguments[field_name] = convert(value)
                except Malformed as error:
                    raise error.within(json_name) from None
        return arguments

    return ObjectReader(structure, members)


def shape_of(field: FieldDescriptor) -> Shape:
    value = map_value(field)
    if value is not None:
        return _map(single_shape(value))
    single = single_shape(field)
    if field.is_repeated:
        return _list(single, min_items=bounds_of(field).repeated.min_items)
    if kind_of(field) is Kind.OBJECT and is_nullable(field):
        return Shape(single.type, _unless_null(single.convert))
    # A raw value accepts null as it is: msgspec has no union with it.
    if is_nullable(field) and kind_of(field) is not Kind.VALUE:
        return Shape(single.type | None, single.convert)
    return single


def single_shape(field: FieldDescriptor) -> Shape:
    """Shape of one value of the field, which is never null."""
    match kind_of(field):
        case Kind.INTEGER:
            return _integer(field)
        case Kind.ENUM:
            return Shape(str, values.enum(accepted_names(field), any_case=takes_any_case(field)))
        case Kind.MESSAGE:
            return _message(message_of(field))
        case Kind.KEY if none := rule_of(field).none:
            return Shape(str, lambda text: None if text == none else values.key(text))
        case kind:
            return _SHAPES[kind]


def _same(value: Any) -> Any:
    return value


_SHAPES = {
    Kind.KEY: Shape(str, values.key),
    Kind.NUMBER: Shape(float, _same),
    Kind.BOOLEAN: Shape(bool, _same),
    Kind.STRING: Shape(str, _same),
    Kind.TIMESTAMP: Shape(str, values.timestamp),
    Kind.BYTES: Shape(str, values.binary),
    Kind.OBJECT: Shape(msgspec.Raw, lambda raw: values.json_object(bytes(raw))),
    Kind.VALUE: Shape(msgspec.Raw, lambda raw: values.json_value(bytes(raw))),
}


def _integer(field: FieldDescriptor) -> Shape:
    least, most = integer_bounds(field)
    if most <= values.MAX_INT64:
        return Shape(Annotated[int, msgspec.Meta(ge=least, le=most)], _same)
    # msgspec has no bounds above int64.
    return Shape(Annotated[int, msgspec.Meta(ge=least)], values.at_most(most))


def _message(message: Descriptor) -> Shape:
    reader = _reader_of(message)
    create = GetMessageClass(message)
    short = shorthand_of(message)
    if short is None:
        return Shape(reader.structure, lambda found: create(**reader.members(found)))
    plain = _list(single_shape(short), min_items=0) if short.is_repeated else single_shape(short)

    def convert(found: Any) -> Any:
        if type(found) is reader.structure:
            return create(**reader.members(found))
        return create(**{short.name: plain.convert(found)})

    return Shape(plain.type | reader.structure, convert)


def _list(single: Shape, *, min_items: int) -> Shape:
    def convert(found: list[Any]) -> list[Any]:
        return [_item(single.convert, place, item) for place, item in enumerate(found)]

    items: Any = GenericAlias(list, single.type)
    # A message cannot distinguish an empty list from an absent one, so an empty one is refused here.
    bounded = Annotated[items, msgspec.Meta(min_length=min_items)] if min_items else items
    return Shape(bounded, _same if single.convert is _same else convert)


def _item(convert: Convert, place: int, item: Any) -> Any:
    try:
        return convert(item)
    except Malformed as error:
        raise error.within(f"[{place}]") from None


def _map(single: Shape) -> Shape:
    def convert(found: dict[str, Any]) -> dict[str, Any]:
        return {name: single.convert(value) for name, value in found.items()}

    return Shape(GenericAlias(dict, (str, single.type)), _same if single.convert is _same else convert)


def _unless_null(convert: Convert) -> Convert:
    return lambda raw: None if bytes(raw) == b"null" else convert(raw)
