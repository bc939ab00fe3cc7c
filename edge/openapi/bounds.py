"""buf.validate rules as JSON Schema keywords."""

import re
from collections.abc import Iterator, Mapping

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from edge.fields import Kind, bounds_of, kind_of, rule_of
from gnomon.buf.validate import validate_pb2

Schema = dict[str, object]

_TEXT = {"min_len": "minLength", "max_len": "maxLength", "pattern": "pattern", "const": "const"}
_NUMBER = {
    "gte": "minimum",
    "lte": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "const": "const",
}
_LIST = {"min_items": "minItems", "max_items": "maxItems", "unique": "uniqueItems"}
_MAP = {"min_pairs": "minProperties", "max_pairs": "maxProperties"}


def value_bounds(field: FieldDescriptor) -> Schema:
    """Keywords of the field's value, or of each of its values if it is repeated."""
    rules = bounds_of(field)
    return _value_bounds(kind_of(field), rules.repeated.items if field.is_repeated else rules)


def list_bounds(field: FieldDescriptor) -> Schema:
    return dict(_keywords(bounds_of(field).repeated, _LIST))


def map_bounds(field: FieldDescriptor) -> Schema:
    return dict(_keywords(bounds_of(field).map, _MAP))


def rule_texts(message: Descriptor) -> list[str]:
    """Describe the rules across fields, which no keyword can express."""
    rules = message.GetOptions().Extensions[validate_pb2.message]
    return [rule.message for rule in rules.cel if rule.message]


def is_required(field: FieldDescriptor) -> bool:
    """Whether a request without the field is refused: by rule, or because its zero value violates a bound."""
    return rule_of(field).required or refuses_empty(field)


def refuses_empty(field: FieldDescriptor) -> bool:
    """Whether a value that is empty or absent violates a bound."""
    rules = bounds_of(field)
    if rules.required:
        return True
    if field.has_presence or rules.ignore == validate_pb2.IGNORE_IF_ZERO_VALUE:
        return False
    if field.is_repeated:
        return bool(rules.repeated.min_items or rules.map.min_pairs)
    return _refuses_zero(kind_of(field), rules)


def _value_bounds(kind: Kind, rules: validate_pb2.FieldRules) -> Schema:
    match kind:
        case Kind.STRING:
            return dict(_keywords(rules.string, _TEXT)) | _choice(rules.string)
        case Kind.INTEGER | Kind.NUMBER:
            return _number_bounds(rules)
        case _:
            return {}


def _number_bounds(rules: validate_pb2.FieldRules) -> Schema:
    kind = rules.WhichOneof("type")
    if kind is None:
        return {}
    bounds: Message = getattr(rules, kind)
    return dict(_keywords(bounds, _NUMBER)) | _choice(bounds)


def _keywords(rules: Message, table: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    for name, keyword in table.items():
        if rules.HasField(name):
            yield keyword, getattr(rules, name)


def _choice(rules: Message) -> Schema:
    values = list(getattr(rules, "in"))
    return {"enum": values} if values else {}


def _refuses_zero(kind: Kind, rules: validate_pb2.FieldRules) -> bool:
    match kind:
        case Kind.STRING:
            return _refuses_empty_text(_value_bounds(kind, rules))
        case Kind.KEY | Kind.INTEGER | Kind.NUMBER:
            return _refuses_zero_number(_number_bounds(rules))
        case Kind.BYTES | Kind.OBJECT | Kind.VALUE:
            return rules.bytes.min_len > 0
        case _:
            return False


def _refuses_empty_text(bounds: Schema) -> bool:
    return (
        "minLength" in bounds
        or ("enum" in bounds and "" not in _values(bounds["enum"]))
        or ("pattern" in bounds and not re.search(str(bounds["pattern"]), ""))
    )


def _refuses_zero_number(bounds: Schema) -> bool:
    return (
        _number(bounds.get("minimum", 0)) > 0
        or _number(bounds.get("maximum", 0)) < 0
        or _number(bounds.get("exclusiveMinimum", -1)) >= 0
        or _number(bounds.get("exclusiveMaximum", 1)) <= 0
        or ("enum" in bounds and 0 not in _values(bounds["enum"]))
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _values(value: object) -> list[object]:
    return value if isinstance(value, list) else []
