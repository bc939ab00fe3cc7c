"""Messages as JSON Schema, for requests and for responses.

Objects of requests are closed and list required members; objects of responses have every member.
"""

from collections.abc import Callable, Iterable, Iterator

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from edge.config import Release
from edge.fields import (
    Kind,
    accepted_names,
    answer_fields,
    enum_names,
    enum_of,
    is_nullable,
    kind_of,
    map_value,
    message_of,
    rule_of,
    shorthand_of,
)
from edge.openapi.bounds import Schema, is_required, list_bounds, map_bounds, rule_texts, value_bounds
from edge.openapi.comments import Comments
from edge.transcode.values import MAX_INT64

KEY: Schema = {"type": "string", "pattern": "^[1-9][0-9]*$", "maxLength": len(str(MAX_INT64))}
_NULL: Schema = {"type": "null"}
_VALUES: dict[Kind, Schema] = {
    Kind.KEY: KEY,
    Kind.NUMBER: {"type": "number", "format": "double"},
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.STRING: {"type": "string"},
    Kind.TIMESTAMP: {"type": "string", "format": "date-time"},
    Kind.BYTES: {"type": "string", "contentEncoding": "base64"},
    Kind.OBJECT: {"type": "object"},
    Kind.VALUE: {},
}

Single = Callable[[FieldDescriptor], Schema]


class Schemas:
    """Builds schemas; `components` are the referenced ones."""

    def __init__(self, comments: Comments, answers: Iterable[Descriptor], release: Release) -> None:
        self.components: dict[str, Schema] = {}
        self._comments = comments
        self._release = release
        self._answered = {found.full_name for message in answers for found in _reachable(message)}
        self._owners: dict[str, str] = {}

    def request(self, message: Descriptor, fields: Iterable[FieldDescriptor]) -> Schema:
        """Describe the object with these fields of a message."""
        # A message that also occurs in responses has a separate schema for requests.
        name = f"{message.name}Input" if message.full_name in self._answered else message.name
        return self._component(message, name, lambda: self._request_object(message, tuple(fields)))

    def answer(self, message: Descriptor) -> Schema:
        return self._component(message, message.name, lambda: self._answer_object(message))

    def request_property(self, field: FieldDescriptor) -> Schema:
        return self._shaped(
            field, self._request_value, has_null=is_nullable(field) and not is_required(field)
        )

    def answer_property(self, field: FieldDescriptor) -> Schema:
        return self._shaped(field, self._answer_value, has_null=is_nullable(field))

    def parameter(self, field: FieldDescriptor) -> Schema:
        """Describe a field in the path or the query string, where there is no null."""
        single = self._request_value(field)
        return {"type": "array", "items": single, **list_bounds(field)} if field.is_repeated else single

    def description(self, name: str) -> Schema:
        text = self._comments.get(name)
        return {"description": text} if text else {}

    def _component(self, message: Descriptor, name: str, make: Callable[[], Schema]) -> Schema:
        owner = self._owners.setdefault(name, message.full_name)
        if owner != message.full_name:
            raise TypeError(f"{owner} and {message.full_name} would both be the schema {name}")
        if name not in self.components:
            self.components[name] = {}
            self.components[name] = make()
        return {"$ref": f"#/components/schemas/{name}"}

    def _request_object(self, message: Descriptor, fields: tuple[FieldDescriptor, ...]) -> Schema:
        required = [field.json_name for field in fields if is_required(field)]
        return {
            **self._object(message, rule_texts(message)),
            "properties": {field.json_name: self.request_property(field) for field in fields},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def _answer_object(self, message: Descriptor) -> Schema:
        fields = answer_fields(message, self._release)
        return {
            **self._object(message),
            "properties": {field.json_name: self.answer_property(field) for field in fields},
            "required": [field.json_name for field in fields],
        }

    def _object(self, message: Descriptor, rules: Iterable[str] = ()) -> Schema:
        texts = [*self.description(message.full_name).values(), *(f"Rule: {rule}." for rule in rules)]
        return {"type": "object", **({"description": "\n".join(map(str, texts))} if texts else {})}

    def _shaped(self, field: FieldDescriptor, single: Single, *, has_null: bool) -> Schema:
        shaped = _list_or_map(field, single) or single(field)
        return (_nullable(shaped) if has_null else shaped) | self.description(field.full_name)

    def _request_value(self, field: FieldDescriptor) -> Schema:
        match kind_of(field):
            case Kind.MESSAGE:
                return self._request_message(message_of(field))
            case Kind.ENUM:
                return {"type": "string", "enum": list(accepted_names(field))}
            case _:
                present = _plain(field) | value_bounds(field)
                none = rule_of(field).none
                return {"anyOf": [present, {"const": none}]} if none else present

    def _request_message(self, message: Descriptor) -> Schema:
        reference = self.request(message, message.fields)
        short = shorthand_of(message)
        if short is None:
            return reference
        return {"oneOf": [_list_or_map(short, self._request_value) or self._request_value(short), reference]}

    def _answer_value(self, field: FieldDescriptor) -> Schema:
        match kind_of(field):
            case Kind.MESSAGE:
                return self.answer(message_of(field))
            case Kind.ENUM:
                return {"type": "string", "enum": _names(enum_of(field))}
            case _:
                return _plain(field)


def _reachable(message: Descriptor) -> Iterator[Descriptor]:
    yield message
    for field in message.fields:
        value = map_value(field) or field
        if kind_of(value) is Kind.MESSAGE:
            yield from _reachable(message_of(value))


def _names(enum: EnumDescriptor) -> list[str]:
    return list(enum_names(enum).values())


def _plain(field: FieldDescriptor) -> Schema:
    if kind_of(field) is Kind.INTEGER:
        is_long = field.cpp_type in {FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64}
        return {"type": "integer", "format": "int64" if is_long else "int32"}
    return dict(_VALUES[kind_of(field)])


def _list_or_map(field: FieldDescriptor, single: Single) -> Schema:
    """Describe a repeated or map field; nothing for any other."""
    value = map_value(field)
    if value is not None:
        return {"type": "object", "additionalProperties": single(value), **map_bounds(field)}
    return {"type": "array", "items": single(field), **list_bounds(field)} if field.is_repeated else {}


def _nullable(schema: Schema) -> Schema:
    if "type" in schema:
        choice = schema.get("enum")
        return {
            **schema,
            "type": [schema["type"], "null"],
            **({"enum": [*choice, None]} if isinstance(choice, list) else {}),
        }
    if "$ref" in schema:
        return {"oneOf": [schema, _NULL]}
    alternatives = schema.get("oneOf")
    return {"oneOf": [*alternatives, _NULL]} if isinstance(alternatives, list) else schema
