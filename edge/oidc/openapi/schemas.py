"""JSON Schemas of bodies: of the classes that read requests, and of messages as responses show them.

A schema with a `title` becomes a component of the document.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from edge.fields import Kind, empty_form, kind_of, may_be_empty, message_of, rule_of, texts_of, words_of
from gnomon.rest.v1 import options_pb2

Schema = dict[str, object]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
BOOLEAN: Schema = {"type": "boolean"}
STRINGS: Schema = {"type": "array", "items": STRING}
OBJECT: Schema = {"type": "object"}
ANY: Schema = {"description": "Any JSON value."}
_REFERENCE = "{name}"
_SCHEMAS = {Kind.BOOLEAN: BOOLEAN, Kind.INTEGER: INTEGER, Kind.ENUM: INTEGER, Kind.VALUE: ANY}


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


def message(kind: type[Message]) -> Schema:
    """Return the schema of a message in an answer, whose members have the names of the contract."""
    return _message(_descriptor(kind))


def all_of(kind: type[Message]) -> Schema:
    """Return the schema of an answer with all fields of a message."""
    return {name: value for name, value in message(kind).items() if name != "title"}


def part(kind: type[Message], path: str) -> Schema:
    """Return the schema of a field of a message, the list of a repeated one; `a.b` is field b of field a."""
    return _part(_descriptor(kind), path)


def published(kind: type[Message], name: str = "") -> Schema:
    """Return the schema of a standard's document, a message or its field, with the names of the standard."""
    own = _descriptor(kind)
    return _published((name and own.fields_by_name[name].message_type) or own)


def _descriptor(kind: type[Message]) -> Descriptor:
    # The C implementation and the stubs have classes of their own.
    return cast("Descriptor", kind.DESCRIPTOR)


def _part(kind: Descriptor, path: str) -> Schema:
    name, _, rest = path.partition(".")
    field = kind.fields_by_name[name]
    return _part(message_of(field), rest) if rest else _field(field)


def _published(kind: Descriptor) -> Schema:
    def schema(field: FieldDescriptor) -> Schema:
        single = _single(field) if field.message_type is None else _published(field.message_type)
        return array(single) if field.is_repeated else single

    return {
        "title": kind.name,
        "type": "object",
        "properties": {field.json_name: schema(field) for field in kind.fields},
        "required": [field.json_name for field in kind.fields if not field.has_presence],
    }


def _message(kind: Descriptor) -> Schema:
    groups: dict[str, list[FieldDescriptor]] = {"": []}
    for field in kind.fields:
        if not rule_of(field).hidden:
            groups.setdefault(rule_of(field).group, []).append(field)
    own = _object(groups.pop(""))
    for name, fields in groups.items():
        own["properties"][name] = _object(fields)
        own["required"].append(name)
    return {"title": kind.name, **own}


def _object(fields: Sequence[FieldDescriptor]) -> dict[str, Any]:
    found: Schema = {}
    always: list[str] = []
    for field in fields:
        members, required = _members(field)
        found |= members
        always += required
    return {"type": "object", "properties": found, "required": always}


def _members(field: FieldDescriptor) -> tuple[Schema, Sequence[str]]:
    """Return the members of a field in an answer, and those that every answer has."""
    rule = rule_of(field)
    if rule.flat:
        flat = _message(message_of(field))
        return cast("Schema", flat["properties"]), cast("Sequence[str]", flat["required"])
    if rule.form == options_pb2.JSON_FORM_FLAGS:
        flags = texts_of(field)[1:]
        return dict.fromkeys(flags, BOOLEAN), flags
    names = [name for name in (rule.member or field.name, rule.alias) if name]
    empty, schema = empty_form(field), _field(field)
    if (
        empty == options_pb2.EMPTY_FORM_NULL
        and may_be_empty(field)
        and not rule.required
        and not rule.otherwise
    ):
        return dict.fromkeys(names, nullable(schema)), names
    is_always = rule.required or (not field.has_presence and empty != options_pb2.EMPTY_FORM_OMITTED)
    return dict.fromkeys(names, schema), names if is_always else ()


def _field(field: FieldDescriptor) -> Schema:
    single = _single(field) if field.message_type is None else _message(field.message_type)
    return array(single) if field.is_repeated else single


def _single(field: FieldDescriptor) -> Schema:
    if rule_of(field).form == options_pb2.JSON_FORM_OBJECT_TEXT:
        return OBJECT
    if field.enum_type is not None and (words := words_of(field.enum_type)):
        return choice(*dict.fromkeys((*words, *filter(None, [rule_of(field).otherwise]))))
    return _SCHEMAS.get(kind_of(field), STRING)


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
