"""JSON Schemas of bodies: of the classes that read requests, and of messages as responses show them.

A schema with a `title` becomes a component of the document.
"""

from collections.abc import Mapping
from typing import cast

import msgspec
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

Schema = dict[str, object]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
BOOLEAN: Schema = {"type": "boolean"}
STRINGS: Schema = {"type": "array", "items": STRING}
OBJECT: Schema = {"type": "object"}
ANY: Schema = {"description": "Any JSON value."}
_REFERENCE = "{name}"
_INTEGERS = frozenset(
    {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_ENUM}
    | {FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64}
)


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def choice(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def an_object(**properties: Schema) -> Schema:
    """Return the schema of an object that has all of these members."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def titled(title: str, schema: Schema) -> Schema:
    return {"title": title, **schema}


def with_any(schema: Schema, **properties: Schema) -> Schema:
    """Return the schema of an object that may have further members."""
    known = schema.get("properties")
    return {**schema, "properties": {**(known if isinstance(known, dict) else {}), **properties}}


def request_of(kind: type[msgspec.Struct]) -> Schema:
    """Return the schema of the JSON object that is read as this class."""
    (found,), components = msgspec.json.schema_components(
        [kind], ref_template=_REFERENCE, schema_hook=lambda _: dict(ANY)
    )
    named = {name: {**schema, "title": _title(name)} for name, schema in components.items()}
    return _resolved(found, named)


def answer_of(kind: type[msgspec.Struct], **replaced: Schema) -> Schema:
    """Return the schema of a response with the members of a request, any of which may be absent."""
    schema = {name: value for name, value in request_of(kind).items() if name in {"type", "properties"}}
    return with_any(schema, **replaced)


def message(kind: type[Message], **replaced: Schema) -> Schema:
    """Return the schema of a message whose members have the names of the contract; `replaced` differ."""
    return _message(_descriptor(kind), replaced)


def part(kind: type[Message], name: str, **replaced: Schema) -> Schema:
    """Return the schema of one field of a message, the list of a repeated one."""
    field = _descriptor(kind).fields_by_name[name]
    found = field.message_type
    single = _single(field) if found is None else _message(found, replaced)
    return array(single) if field.is_repeated else single


def published(kind: type[Message], name: str = "") -> Schema:
    """Return the schema of a standard's document, a message or its field, with the names of the standard."""
    own = _descriptor(kind)
    return _message((name and own.fields_by_name[name].message_type) or own, {}, spelling="json_name")


def _descriptor(kind: type[Message]) -> Descriptor:
    # The C implementation and the stubs have classes of their own.
    return cast("Descriptor", kind.DESCRIPTOR)


def _message(kind: Descriptor, replaced: dict[str, Schema], *, spelling: str = "name") -> Schema:
    always = [getattr(field, spelling) for field in kind.fields if not field.has_presence]
    return {
        "title": kind.name,
        "type": "object",
        "properties": {
            **{getattr(field, spelling): _field(field, spelling) for field in kind.fields},
            **replaced,
        },
        "required": [*always, *(name for name in replaced if name not in always)],
    }


def _field(field: FieldDescriptor, spelling: str) -> Schema:
    single = (
        _single(field) if field.message_type is None else _message(field.message_type, {}, spelling=spelling)
    )
    return array(single) if field.is_repeated else single


def _single(field: FieldDescriptor) -> Schema:
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return BOOLEAN
    return INTEGER if field.cpp_type in _INTEGERS else STRING


def _title(name: str) -> str:
    """Return the name of a class that reads requests, distinct from that of a message."""
    return f"{name.strip('_').removesuffix('Body')}Body"


def _resolved(schema: Mapping[str, object], named: Mapping[str, Schema]) -> Schema:
    reference = schema.get("$ref")
    target = named[reference] if isinstance(reference, str) else {}
    own = {name: value for name, value in schema.items() if name != "$ref"}
    return {name: _without_references(value, named) for name, value in {**target, **own}.items()}


def _without_references(value: object, named: Mapping[str, Schema]) -> object:
    match value:
        case dict():
            return _resolved(value, named)
        case list():
            return [_without_references(each, named) for each in value]
        case _:
            return value
