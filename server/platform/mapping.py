"""Maps rows to messages by equal field names: one generic mapper, compiled once per pair of classes.

A message field without a row field, or with another type, raises an error when the mapper is compiled. Fields
of a later release of Camunda's API may lack a row field. Row fields that the message lacks are ignored.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NewType, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.rest.v1 import options_pb2

R_contra = TypeVar("R_contra", contravariant=True)
R = TypeVar("R")
M = TypeVar("M", bound=Message)
M_co = TypeVar("M_co", bound=Message, covariant=True)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


class Mapper(Protocol[R_contra, M_co]):
    """Creates a message from a row; `new` creates the empty message, such as a repeated field's `add`."""

    def __call__(self, row: R_contra, new: Callable[[], Message] = ...) -> M_co: ...


@cache
def spellings(enum: EnumDescriptor) -> Mapping[int, str]:
    """Return the names of an enum's values without their common prefix, by number."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {number: value.name.removeprefix(prefix) for number, value in enum.values_by_number.items()}


def mapper(row: type[R], message: type[M], *, ignored: frozenset[str] = frozenset()) -> Mapper[R, M]:
    """Compile a mapper; raises TypeError for mismatched fields, except ignored fields that the row lacks."""
    classes: tuple[Any, Any] = (row, message)
    convert: Mapper[R, M] = _compiled(*classes, ignored)
    return convert


@cache
def _compiled(row: Any, message: Any, ignored: frozenset[str]) -> Any:
    hints = get_type_hints(row)
    scope: dict[str, Any] = {"Message": message, "EPOCH": _EPOCH, "SECOND": _SECOND}
    wanted = [
        field
        for field in message.DESCRIPTOR.fields
        if field.name in hints or not (field.name in ignored or _is_later(field))
    ]
    lines = [line for field in wanted for line in _assignment(field, _hint(hints, field), scope)]
    source = "\n    ".join(["def convert(row, new=Message):", "message = new()", *lines, "return message"])
    exec(compile(source, f"<{row.__name__} to {message.__name__}>", "exec"), scope)  # noqa: S102  # names of our contract
    return scope["convert"]


def _is_later(field: FieldDescriptor) -> bool:
    """Whether only a later API release has the field; without a row field it stays empty."""
    return field.GetOptions().Extensions[options_pb2.field].since > options_pb2.RELEASE_8_9


def _hint(hints: Mapping[str, Any], field: FieldDescriptor) -> Any:
    if field.name not in hints:
        raise TypeError(f"{field.full_name} has no field of this name in the row")
    return hints[field.name]


def _assignment(field: FieldDescriptor, hint: Any, scope: dict[str, Any]) -> list[str]:
    """Return the statements that copy one field from `row` to `message`, as short as its type allows."""
    name, plain = field.name, _without_none(hint)
    if field.enum_type is not None:
        scope[f"{name}_numbers"] = {text: number for number, text in spellings(field.enum_type).items()}
    if field.is_repeated:
        return [f"if row.{name}:", f"    message.{name}.{_filling(field, plain)}"]
    _agree(field, plain)
    if plain is hint:
        return _setting(field, f"row.{name}")
    return [
        f"value = row.{name}",
        "if value is not None:",
        *(f"    {line}" for line in _setting(field, "value")),
    ]


def _setting(field: FieldDescriptor, value: str) -> list[str]:
    name = field.name
    if field.enum_type is not None:
        return [f"message.{name} = {name}_numbers[{value}]"]
    if field.message_type is not Timestamp.DESCRIPTOR:
        return [f"message.{name} = {value}"]
    return [
        f"instant = message.{name}",
        f"instant.seconds = ({value} - EPOCH) // SECOND",
        f"instant.nanos = {value}.microsecond * 1000",
    ]


def _filling(field: FieldDescriptor, hint: Any) -> str:
    container, arguments, name = get_origin(hint), get_args(hint), field.name
    entry: Any = field.message_type
    is_map = entry is not None and entry.GetOptions().map_entry
    if not isinstance(container, type) or issubclass(container, Mapping) is not is_map or container is str:
        raise _disagreement(field, hint)
    if is_map:
        for part, argument in zip(entry.fields, arguments, strict=True):
            _agree(part, argument)
        return f"update(row.{name})"
    _agree(field, arguments[0])
    return (
        f"extend(map({name}_numbers.__getitem__, row.{name}))" if field.enum_type else f"extend(row.{name})"
    )


def _agree(field: FieldDescriptor, hint: Any) -> None:
    while isinstance(hint, NewType):
        hint = hint.__supertype__
    wanted = datetime if field.message_type is Timestamp.DESCRIPTOR else _PYTHON_TYPES.get(field.type)
    is_like = wanted is not None and isinstance(hint, type) and issubclass(hint, wanted)
    if not is_like or (wanted is int and hint is bool):
        raise _disagreement(field, hint)
    if field.enum_type is not None and issubclass(hint, Enum):
        unknown = {member.value for member in hint} - set(spellings(field.enum_type).values())
        if unknown:
            raise TypeError(
                f"{field.full_name}: {hint.__name__} has {sorted(unknown)}, which the contract has not"
            )


def _disagreement(field: FieldDescriptor, hint: Any) -> TypeError:
    return TypeError(f"{field.full_name}: a row field of type {hint} does not agree")


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in {Union, UnionType}:
        return hint
    present = [option for option in get_args(hint) if option is not NoneType]
    return present[0] if len(present) == 1 else hint


_PYTHON_TYPES: Mapping[int, type] = {
    FieldDescriptor.TYPE_STRING: str,
    FieldDescriptor.TYPE_BYTES: bytes,
    FieldDescriptor.TYPE_ENUM: str,
    FieldDescriptor.TYPE_BOOL: bool,
    FieldDescriptor.TYPE_INT32: int,
    FieldDescriptor.TYPE_INT64: int,
    FieldDescriptor.TYPE_UINT32: int,
    FieldDescriptor.TYPE_UINT64: int,
    FieldDescriptor.TYPE_DOUBLE: float,
    FieldDescriptor.TYPE_FLOAT: float,
}
