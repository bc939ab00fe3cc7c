"""The JSON options of a field, read from its descriptor."""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from edge.config import Release
from gnomon.buf.validate import validate_pb2
from gnomon.rest.v1 import options_pb2

UNSPECIFIED = "UNSPECIFIED"
_RELEASES = {
    Release.CAMUNDA_8_9: options_pb2.RELEASE_8_9,
    Release.CAMUNDA_8_10: options_pb2.RELEASE_8_10,
}
_TIMESTAMP = "google.protobuf.Timestamp"


class Kind(Enum):
    """Form of a single value; each has one JSON type."""

    KEY = auto()
    INTEGER = auto()
    NUMBER = auto()
    BOOLEAN = auto()
    STRING = auto()
    ENUM = auto()
    TIMESTAMP = auto()
    BYTES = auto()
    OBJECT = auto()
    VALUE = auto()
    MESSAGE = auto()


_FORMS = {
    options_pb2.JSON_FORM_KEY: Kind.KEY,
    options_pb2.JSON_FORM_OBJECT: Kind.OBJECT,
    options_pb2.JSON_FORM_VALUE: Kind.VALUE,
}
_KINDS = {
    FieldDescriptor.CPPTYPE_INT32: Kind.INTEGER,
    FieldDescriptor.CPPTYPE_INT64: Kind.INTEGER,
    FieldDescriptor.CPPTYPE_UINT32: Kind.INTEGER,
    FieldDescriptor.CPPTYPE_UINT64: Kind.INTEGER,
    FieldDescriptor.CPPTYPE_DOUBLE: Kind.NUMBER,
    FieldDescriptor.CPPTYPE_FLOAT: Kind.NUMBER,
    FieldDescriptor.CPPTYPE_BOOL: Kind.BOOLEAN,
    FieldDescriptor.CPPTYPE_ENUM: Kind.ENUM,
    FieldDescriptor.CPPTYPE_STRING: Kind.STRING,
    FieldDescriptor.CPPTYPE_MESSAGE: Kind.MESSAGE,
}
_INTEGER_BOUNDS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}


def rule_of(field: FieldDescriptor) -> options_pb2.FieldRule:
    return field.GetOptions().Extensions[options_pb2.field]


def message_rule(message: Descriptor) -> options_pb2.MessageRule:
    return message.GetOptions().Extensions[options_pb2.message]


def bounds_of(field: FieldDescriptor) -> validate_pb2.FieldRules:
    return field.GetOptions().Extensions[validate_pb2.field]


def answer_fields(message: Descriptor, release: Release) -> Sequence[FieldDescriptor]:
    """Fields that are members of an answer in this release."""
    return [field for field in message.fields if rule_of(field).since <= _RELEASES[release]]


def kind_of(field: FieldDescriptor) -> Kind:
    """Kind of the field's value, or of each of its values if it is repeated."""
    form = _FORMS.get(rule_of(field).form)
    if form:
        return form
    if field.type == FieldDescriptor.TYPE_BYTES:
        return Kind.BYTES
    if field.message_type is not None and field.message_type.full_name == _TIMESTAMP:
        return Kind.TIMESTAMP
    return _KINDS[field.cpp_type]


def integer_bounds(field: FieldDescriptor) -> tuple[int, int]:
    """Smallest and largest value of the field's integer type."""
    return _INTEGER_BOUNDS[field.cpp_type]


def map_value(field: FieldDescriptor) -> FieldDescriptor | None:
    """Value field of a map, None for all other fields."""
    entry = field.message_type
    if entry is None or not entry.GetOptions().map_entry:
        return None
    return entry.fields_by_name["value"]


def is_nullable(field: FieldDescriptor) -> bool:
    """Whether JSON null stands for the field's absence."""
    return field.has_presence


def is_optional_value(field: FieldDescriptor) -> bool:
    """Whether the field was declared `optional`."""
    return field.containing_oneof is not None


def shorthand_of(message: Descriptor) -> FieldDescriptor | None:
    """Field that a scalar JSON value stands for."""
    name = message_rule(message).shorthand
    return message.fields_by_name[name] if name else None


def message_of(field: FieldDescriptor) -> Descriptor:
    if field.message_type is None:
        raise TypeError(f"{field.full_name} is no message")
    return field.message_type


def enum_of(field: FieldDescriptor) -> EnumDescriptor:
    if field.enum_type is None:
        raise TypeError(f"{field.full_name} is no enum")
    return field.enum_type


def enum_names(enum: EnumDescriptor) -> Mapping[int, str]:
    """Names in JSON, without the common prefix of the enum's values."""
    prefix = enum.values_by_number[0].name.removesuffix(UNSPECIFIED)
    return {value.number: value.name.removeprefix(prefix) for value in enum.values}


def accepted_names(field: FieldDescriptor) -> Mapping[str, int]:
    """Names that a request may use; UNSPECIFIED only where absence has a form of its own."""
    tells_absence = field.has_presence or field.is_repeated
    return {name: number for number, name in enum_names(enum_of(field)).items() if number or tells_absence}


def takes_any_case(field: FieldDescriptor) -> bool:
    """Whether a request may write the names of the field's enum in lower case, too."""
    return enum_of(field).GetOptions().Extensions[options_pb2.enum].any_case


def words_of(enum: EnumDescriptor) -> Mapping[str, int]:
    """Values by their texts in JSON of the provider's administration."""
    words = {value.GetOptions().Extensions[options_pb2.word]: value.number for value in enum.values}
    return {word: number for word, number in words.items() if word}


def texts_of(field: FieldDescriptor) -> Sequence[str]:
    """Texts that the field, or each of its values, may have; empty where it may have any."""
    bounds = bounds_of(field)
    return list(getattr((bounds.repeated.items if field.is_repeated else bounds).string, "in"))


def empty_form(field: FieldDescriptor) -> "options_pb2.EmptyForm.ValueType":
    """Return the form of a field without a value in answers of administration."""
    # Extensions alone have no such type.
    own = cast("Descriptor", field.containing_type)
    return rule_of(field).empty or message_rule(own).empty


def may_be_empty(field: FieldDescriptor) -> bool:
    """Whether a value of the field may be absent or an empty text, list or object."""
    return field.is_repeated or field.has_presence or kind_of(field) is Kind.STRING
