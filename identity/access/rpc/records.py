"""Messages of records, and records of messages.

A field has the same name in both. Exceptions: `enabled` is `is_enabled` in a record; `created` or `created_at` is a
time, in seconds in the message. Names that differ otherwise are `names`, from those of the message to those of the record;
a message may show a field of a record within the record, `settings.profile`.

A message within a message is a record within the record, with the same `names`. A value of an enum is the word with its
name. An empty word is the default of the record, if it has one; in an optional field it is refused as any other word that
does not exist. A list of texts has each of them once. A time of 0 is None if the record permits that.
The conversions of two classes are computed once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from server.platform.errors import InvalidArgument
from server.platform.mapping import spellings

M = TypeVar("M", bound=Message)
R = TypeVar("R")

Names = Mapping[str, str]
Convert = Callable[[Any], Any]
_SAME: Names = {}
_NAMES_MESSAGE = "gnomon.identity.v1.Names"
_LISTS = frozenset({tuple, frozenset, Sequence, Collection})
_NO_TIMES = frozenset({str, bool, int, bytes, tuple[str, ...]})


def message_of(kind: type[M], record: object, names: Names = _SAME, **others: Any) -> M:
    """Return the message of a record, with `others` for fields with another source; raises AttributeError."""
    classes: tuple[Any, Any] = (kind, type(record))
    shown = {name: show(record) for name, show in _shown(*classes, _key(names), tuple(others))}
    for name, value in others.items():
        shown[name] = _seconds(value)
    return kind(**shown)


def record_of(
    kind: type[R], message: Message, names: Names = _SAME, *, without: Collection[str] = (), **others: Any
) -> R:
    """Return the record of a message, with `others` for fields with another source.

    Raises InvalidArgument for a word that does not exist, and for values that the record refuses by a ValueError.
    """
    values = fields_of(message, kind, names, without=(*without, *others))
    try:
        return kind(**values, **others)
    except ValueError as error:
        raise InvalidArgument(str(error)) from error


def fields_of(
    message: Message, record: type, names: Names = _SAME, *, without: Collection[str] = ()
) -> dict[str, Any]:
    """Return fields of a record by its names; raises InvalidArgument for a word that does not exist.

    An unset field is None if the record permits that, else the empty value. `without` are names of either side.
    """
    classes: tuple[Any, Any] = (type(message), record)
    return {name: read(message) for name, read in _readers(*classes, _key(names), tuple(without))}


def record_reader(
    kind: type[R], message: type[Message], names: Names = _SAME, *, without: Collection[str] = ()
) -> Callable[[Message], R]:
    """Return what makes records of messages; raises TypeError and AttributeError if their fields do not correspond."""
    classes: tuple[Any, Any] = (message, kind)
    _readers(*classes, _key(names), tuple(without))
    return partial(record_of, kind, names=names, without=tuple(without))


def reader_of(field: FieldDescriptor, hint: Any, names: Names = _SAME, default: Any = MISSING) -> Convert:
    """Return what reads a field of a message as a value of a type; raises TypeError for a type of which it is none."""
    kind, get = without_none(hint), attrgetter(field.name)
    is_optional = field.has_presence and kind is not hint
    read = _value(field, getattr(kind, "__supertype__", kind), names, MISSING if is_optional else default)
    if is_optional:
        return lambda message: read(get(message)) if message.HasField(field.name) else None
    if kind is datetime and kind is not hint:
        return lambda message: read(get(message)) if get(message) else None
    return lambda message: read(get(message))


def _key(names: Names) -> Sequence[tuple[str, str]]:
    return tuple(names.items())


@cache
def _shown(
    kind: type[Message], record: type, names: Sequence[tuple[str, str]], others: Sequence[str]
) -> Sequence[tuple[str, Convert]]:
    renamed = dict(names)
    return [
        (field.name, _show(field, record, renamed))
        for field in _descriptor(kind).fields
        if field.name not in others
    ]


def _show(field: FieldDescriptor, record: type, names: Names) -> Convert:
    attribute = _attribute(record, field.name, names.get(field.name, field.name))
    get = attrgetter(attribute)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return get
    if field.message_type is not None:
        one = partial(_nested_message, GetMessageClass(field.message_type), names=names)
    elif field.enum_type is not None:
        one = partial(_number, {word: number for number, word in spellings(field.enum_type).items()})
    elif _hints(record).get(attribute) in _NO_TIMES:
        return get
    elif get_origin(_hints(record).get(attribute)) is frozenset:
        return lambda each: sorted(get(each))
    else:
        return lambda each: _seconds(get(each))
    if field.is_repeated:
        return lambda each: [one(value) for value in get(each)]
    return lambda each: one(get(each))


def _nested_message(kind: type[Message], value: Any, *, names: Names) -> Any:
    return message_of(kind, value, names) if is_dataclass(value) else value


def _number(numbers: Mapping[str, int], word: Any) -> int | None:
    return None if word is None else numbers[word.name if isinstance(word, Enum) else word]


def _seconds(value: Any) -> Any:
    if isinstance(value, datetime):
        return int(value.timestamp())
    return int(value.total_seconds()) if isinstance(value, timedelta) else value


@cache
def _readers(
    message: type[Message], record: type, names: Sequence[tuple[str, str]], without: Sequence[str]
) -> Sequence[tuple[str, Convert]]:
    renamed, defaults = dict(names), {each.name: each.default for each in fields(cast("Any", record))}
    wanted = [field for field in _descriptor(message).fields if field.name not in without]
    names_of = [
        (field, _attribute(record, field.name, renamed.get(field.name, field.name))) for field in wanted
    ]
    return [
        (name, reader_of(field, _hints(record)[name], renamed, defaults[name]))
        for field, name in names_of
        if name not in without
    ]


def _value(field: FieldDescriptor, kind: Any, names: Names, default: Any) -> Convert:
    """Return what converts the value of a field; raises TypeError."""
    is_enum = _is_enum(kind)
    if field.message_type is not None:
        return _record(field, field.message_type, kind, names)
    if field.is_repeated and get_origin(kind) in _LISTS and field.enum_type is None:
        return _list(field, kind)
    if not field.is_repeated and field.enum_type is not None and (is_enum or kind is str):
        return partial(_word_of_number, kind, field.name, spellings(field.enum_type), default)
    if not field.is_repeated and field.cpp_type == FieldDescriptor.CPPTYPE_STRING and is_enum:
        return partial(_word, kind, field.name, default)
    if field.is_repeated or field.enum_type is not None or not _is_of(field, kind):
        raise TypeError(f"{field.name}: no value of a {kind}")
    if kind is datetime:
        return partial(_time, field.name)
    return _duration if kind is timedelta else _itself


def _record(field: FieldDescriptor, message: Descriptor, kind: Any, names: Names) -> Convert:
    is_list = get_origin(kind) in _LISTS
    if is_list and message.full_name == _NAMES_MESSAGE:
        read_list = _list(field, kind)
        return lambda value: read_list(value.names)
    one: Any = get_args(kind)[0] if is_list else kind
    if not is_dataclass(one) or is_list is not field.is_repeated:
        raise TypeError(f"{field.name}: no value of a {kind}")
    read: Convert = record_reader(cast("type", one), GetMessageClass(message), names)
    return (lambda values: tuple(map(read, values))) if is_list else read


def _list(field: FieldDescriptor, kind: Any) -> Convert:
    each, make = get_args(kind)[0], frozenset if get_origin(kind) is frozenset else tuple
    read = partial(_words, each, field.name) if _is_enum(each) else dict.fromkeys
    return lambda texts: make(read(texts))


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _is_of(field: FieldDescriptor, kind: Any) -> bool:
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return kind in {str, bytes}
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return kind is bool
    return kind in {int, datetime, timedelta}


def _itself(value: Any) -> Any:
    return value


def _duration(seconds: int) -> timedelta:
    return timedelta(seconds=seconds)


def _time(member: str, seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidArgument(f"{member}: expected Unix seconds", field=member) from error


def _word(words: type[StrEnum], member: str, default: Any, text: str) -> Any:
    if not text and default is not MISSING:
        return default
    try:
        return words(text)
    except ValueError as error:
        raise InvalidArgument(f"{member}: expected one of {', '.join(words)}", field=member) from error


def _words(words: type[StrEnum], member: str, texts: Sequence[str]) -> Sequence[StrEnum]:
    try:
        return list(map(words, dict.fromkeys(texts)))
    except ValueError as error:
        raise InvalidArgument(f"{member}: expected some of {', '.join(words)}", field=member) from error


def _word_of_number(
    words: type[Enum] | type[str], member: str, names: Mapping[int, str], default: Any, number: int
) -> Any:
    name = names.get(number, "")
    if not issubclass(words, Enum):
        return name
    if name in words.__members__:
        return words[name]
    if default is MISSING:
        raise InvalidArgument(f"{member}: expected one of {', '.join(words.__members__)}", field=member)
    return default


@cache
def _attribute(record: type, name: str, renamed: str) -> str:
    known = {*_hints(record), *dir(record)}
    found = [each for each in (renamed, name, f"is_{name}", f"{name}_at") if each.partition(".")[0] in known]
    if not found:
        raise AttributeError(f"{record.__name__} has no field of the name {renamed}")
    return found[0]


@cache
def _hints(record: type) -> Mapping[str, Any]:
    return get_type_hints(record)


def without_none(hint: Any) -> Any:
    if get_origin(hint) is not UnionType:
        return hint
    present = [each for each in get_args(hint) if each is not NoneType]
    return present[0] if len(present) == 1 else hint


def _descriptor(kind: type[Message]) -> Descriptor:
    # The C implementation and the stubs have classes of their own.
    return cast("Descriptor", kind.DESCRIPTOR)
