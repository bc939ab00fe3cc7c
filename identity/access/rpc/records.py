"""Messages of records, and values of messages for records.

A field has the same name in both. Exceptions: `enabled` is `is_enabled` in a record; `created` or `created_at` is a
time, in seconds in the message. Names that differ otherwise are `names`, from those of the message to those of the record.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from server.platform.errors import InvalidArgument

M = TypeVar("M", bound=Message)

Names = Mapping[str, str]
_SAME: Names = {}
_NAMES_MESSAGE = "gnomon.identity.v1.Names"
_NO_TIMES = frozenset({str, bool, int, bytes, tuple[str, ...]})


def message_of(kind: type[M], record: object, names: Names = _SAME, **others: Any) -> M:
    """Return the message of a record, with `others` for fields with another source; raises AttributeError."""
    classes: tuple[Any, Any] = (kind, type(record))
    values, times = _plan(*classes, tuple(names.items()), tuple(others))
    found = {name: getattr(record, attribute) for name, attribute in values} | others
    for name in times:
        found[name] = _seconds(found[name])
    return kind(**found)


@cache
def _plan(
    kind: type[Message], record: type, names: Sequence[tuple[str, str]], others: Sequence[str]
) -> tuple[Sequence[tuple[str, str]], Sequence[str]]:
    """Return the fields of a message with their attributes of the record, and the fields that may be times."""
    renamed = dict(names)
    wanted = [field.name for field in _descriptor(kind).fields if field.name not in others]
    values = [(name, _attribute(record, renamed.get(name, name))) for name in wanted]
    times = [name for name, attribute in values if _hints(record).get(attribute) not in _NO_TIMES]
    return values, [*times, *others]


def fields_of(
    message: Message, record: type, names: Names = _SAME, *, without: Collection[str] = ()
) -> dict[str, Any]:
    """Return fields of a record by its names; raises InvalidArgument for a word that does not exist.

    An unset field is None if the record permits that, else the empty value. The caller sets the fields in `without`.
    """
    found = {}
    for field in _descriptor(type(message)).fields:
        if field.name not in without:
            name = _attribute(record, names.get(field.name, field.name))
            found[name] = _read(message, field, _hints(record)[name])
    return found


def reader_of(field: FieldDescriptor, hint: Any) -> Callable[[Any], Any]:
    """Return what reads a field as a value of a type; raises TypeError for a type of which the field is none."""
    kind = _without_none(hint)
    if not _is_of(field, kind):
        raise TypeError(f"{field.name}: no value of a {hint}")
    return partial(_read, field=field, hint=hint)


def _is_of(field: FieldDescriptor, kind: Any) -> bool:
    kind = getattr(kind, "__supertype__", kind)
    if field.message_type is not None:
        return field.message_type.full_name == _NAMES_MESSAGE and get_origin(kind) is tuple
    if field.is_repeated:
        return get_origin(kind) in {tuple, Sequence, Collection}
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return kind in {str, bytes} or (isinstance(kind, type) and issubclass(kind, StrEnum))
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return kind is bool
    return kind in {int, datetime, timedelta}


def _seconds(value: Any) -> Any:
    if isinstance(value, datetime):
        return int(value.timestamp())
    return int(value.total_seconds()) if isinstance(value, timedelta) else value


def _read(message: Message, field: FieldDescriptor, hint: Any) -> Any:
    kind = _without_none(hint)
    if field.has_presence and kind is not hint and not message.HasField(field.name):
        return None
    value = getattr(message, field.name)
    if field.message_type is not None:
        return tuple(value.names)
    if field.is_repeated:
        return tuple(value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _word(kind, field.name, value)
    if kind is datetime:
        return _time(field.name, value)
    return timedelta(seconds=value) if kind is timedelta else value


def _time(member: str, seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidArgument(f"{member}: expected Unix seconds", field=member) from error


def _word(words: type[StrEnum], member: str, text: str) -> Any:
    try:
        return words(text)
    except ValueError as error:
        raise InvalidArgument(f"{member}: expected {' or '.join(words)}", field=member) from error


@cache
def _attribute(record: type, name: str) -> str:
    known = {*_hints(record), *dir(record)}
    found = [each for each in (name, f"is_{name}", f"{name}_at") if each in known]
    if not found:
        raise AttributeError(f"{record.__name__} has no field of the name {name}")
    return found[0]


@cache
def _hints(record: type) -> Mapping[str, Any]:
    return get_type_hints(record)


def _without_none(hint: Any) -> Any:
    if get_origin(hint) is not UnionType:
        return hint
    present = [each for each in get_args(hint) if each is not NoneType]
    return present[0] if len(present) == 1 else hint


def _descriptor(kind: type[Message]) -> Descriptor:
    # The C implementation and the stubs have classes of their own.
    return cast("Descriptor", kind.DESCRIPTOR)
