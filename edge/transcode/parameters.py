"""Fields as text, in the path, the query string or a form."""

from collections.abc import Callable, Iterable, Mapping

from google.protobuf.descriptor import FieldDescriptor
from multidict import MultiMapping

from edge.fields import Kind, accepted_names, integer_bounds, kind_of, takes_any_case
from edge.transcode import values
from edge.transcode.malformed import Malformed

Value = str | int | bool | object
Read = Callable[[str], Value]
Members = dict[str, Value]


def path_reader(fields: Iterable[FieldDescriptor]) -> Callable[[Mapping[str, str]], Members]:
    readers = tuple((field.name, field.json_name, text_reader(field)) for field in fields)

    def read(variables: Mapping[str, str]) -> Members:
        return {name: _read(convert, json_name, variables[name]) for name, json_name, convert in readers}

    return read


def parameter_reader(fields: Iterable[FieldDescriptor]) -> Callable[[MultiMapping[str]], Members]:
    """Reader of named parameters; refuses unknown names and repeated parameters of single fields."""
    readers = {field.json_name: (field, text_reader(field)) for field in fields}

    def read(parameters: MultiMapping[str]) -> Members:
        members: Members = {}
        for json_name in dict.fromkeys(parameters):
            if json_name not in readers:
                raise Malformed("unknown parameter", json_name)
            field, convert = readers[json_name]
            texts = parameters.getall(json_name)
            members[field.name] = _member(field, [_read(convert, json_name, text) for text in texts])
        return members

    return read


def _member(field: FieldDescriptor, found: list[Value]) -> Value:
    if field.is_repeated:
        return found
    if len(found) > 1:
        raise Malformed("given more than once", field.json_name)
    return found[0]


def _read(convert: Read, json_name: str, text: str) -> Value:
    try:
        return convert(text)
    except Malformed as error:
        raise error.within(json_name) from None


def text_reader(field: FieldDescriptor) -> Read:
    """Reader of the field's text; raises TypeError for a field that has no text form."""
    match kind_of(field):
        case Kind.STRING:
            return str
        case Kind.KEY:
            return values.key
        case Kind.BOOLEAN:
            return values.boolean
        case Kind.TIMESTAMP:
            return values.timestamp
        case Kind.INTEGER:
            return values.integer(*integer_bounds(field))
        case Kind.ENUM:
            return values.enum(accepted_names(field), any_case=takes_any_case(field))
        case kind:
            raise TypeError(f"{field.full_name} is a {kind.name} and cannot stand in a path, query or form")
