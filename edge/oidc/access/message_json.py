"""JSON of administration messages: the class that reads a request, and the members of an answer.

Names, types, bounds, defaults and forms of empty values come from the descriptor of the message and the options of its
fields, so a field is declared in the contract alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar, cast

import msgspec
import orjson
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from edge.fields import (
    Kind,
    bounds_of,
    empty_form,
    enum_of,
    integer_bounds,
    kind_of,
    may_be_empty,
    message_of,
    message_rule,
    rule_of,
    texts_of,
    words_of,
)
from edge.oidc.access.body import bad_request
from edge.oidc.access.documents import Members
from gnomon.rest.v1 import options_pb2

M = TypeVar("M", bound=Message)
B = TypeVar("B", bound=msgspec.Struct)

_Member = tuple[str, Any, Any]
# A list of texts that may be absent.
_NAMES = "gnomon.identity.v1.Names"
_SINGLE = {Kind.STRING: str, Kind.BOOLEAN: bool, Kind.INTEGER: int, Kind.VALUE: bytes}
_TEXTS = tuple[str, ...]
_AS_IT_IS = frozenset({options_pb2.EMPTY_FORM_UNSPECIFIED, options_pb2.EMPTY_FORM_SHOWN})


class _Nested(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules of a body beside those of its fields: members that it needs, members that are not null, and what absent ones mean."""

    required: frozenset[str] = frozenset()
    not_null: frozenset[str] = frozenset()
    absent: Mapping[str, Any] = field(default_factory=dict)


class MessageJson(Generic[M, B]):
    """JSON form of one message. `body` reads requests; it has the members of `base`, and one for each field."""

    def __init__(
        self,
        message: type[M],
        base: type[B],
        *,
        name: str,
        fields: Sequence[FieldDescriptor] | None = None,
        text: str | None = None,
        rules: Rules | None = None,
    ) -> None:
        """Take all fields of the message, unless `fields` names some; `text` is for the OpenAPI document."""
        self._message = message
        taken = _descriptor(message).fields if fields is None else fields
        self._object = _object(taken, rules or Rules())
        self.body = self._object.reader(name, base, text=text or base.__doc__)

    def read(self, sent: B) -> M:
        """Return the message of a body; raises Refused for members that contradict each other."""
        found = self._message()
        self._object.put(found, sent)
        return found


def members(message: Message) -> Members:
    """Return the members of an answer."""
    return _answer(_descriptor(type(message))).members(message)


@cache
def _answer(kind: Descriptor) -> "_Object":
    return _object(kind.fields, Rules())


class _Part(Protocol):
    """Members that a field has in an object, mostly a single one."""

    def struct_members(self) -> Iterable[_Member]: ...

    def put(self, message: Message, body: msgspec.Struct) -> None: ...

    def show(self, message: Message, found: Members) -> None: ...


class _Object:
    """A JSON object: its parts are fields of one message."""

    def __init__(self, parts: Iterable[_Part]) -> None:
        self._parts = list(parts)

    def reader(self, name: str, base: type[B], *, text: str | None) -> type[B]:
        """Return the class that reads the object."""
        # The OpenAPI document has the text.
        made = msgspec.defstruct(
            name,
            self.struct_members(),
            bases=(base,),
            kw_only=True,
            module=__name__,
            namespace={"__doc__": text},
        )
        return cast("type[B]", made)

    def struct_members(self) -> list[_Member]:
        return [member for part in self._parts for member in part.struct_members()]

    def put(self, message: Message, body: msgspec.Struct) -> None:
        for part in self._parts:
            part.put(message, body)

    def members(self, message: Message) -> Members:
        found: Members = {}
        for part in self._parts:
            part.show(message, found)
        return found


def _object(fields: Sequence[FieldDescriptor], rules: Rules) -> _Object:
    groups: dict[str, list[_Part]] = {}
    for each in fields:
        groups.setdefault(rule_of(each).group, []).append(_part(each, rules))
    own = groups.pop("", [])
    return _Object([*own, *(_Group(name, _Object(parts)) for name, parts in groups.items())])


def _part(of: FieldDescriptor, rules: Rules) -> _Part:
    rule = rule_of(of)
    if rule.flat:
        return _Flat(of.name, _object(message_of(of).fields, rules))
    if rule.form == options_pb2.JSON_FORM_FLAGS:
        return _Flags(of.name, texts_of(of), is_repeated=of.is_repeated)
    return _field(of, rules)


@dataclass(frozen=True, slots=True)
class _Flat:
    """A message whose members stand beside those of the message that it is a field of."""

    name: str
    object: _Object

    def struct_members(self) -> Iterable[_Member]:
        return self.object.struct_members()

    def put(self, message: Message, body: msgspec.Struct) -> None:
        part = getattr(message, self.name)
        part.SetInParent()
        self.object.put(part, body)

    def show(self, message: Message, found: Members) -> None:
        found |= self.object.members(getattr(message, self.name))


@dataclass(frozen=True, slots=True)
class _Group:
    """An object with members for some fields of the message."""

    name: str
    object: _Object

    def struct_members(self) -> Iterable[_Member]:
        title = "".join(word.capitalize() for word in self.name.split("_"))
        reader = self.object.reader(title, _Nested, text=None)
        return [(self.name, reader, reader())]

    def put(self, message: Message, body: msgspec.Struct) -> None:
        self.object.put(message, getattr(body, self.name))

    def show(self, message: Message, found: Members) -> None:
        found[self.name] = self.object.members(message)


@dataclass(frozen=True, slots=True)
class _Flags:
    """A text of a closed set as booleans; without any it is the first text."""

    name: str
    texts: Sequence[str]
    is_repeated: bool

    def struct_members(self) -> Iterable[_Member]:
        return [(text, bool, False) for text in self.texts[1:]]

    def put(self, message: Message, body: msgspec.Struct) -> None:
        said = [text for text in self.texts[1:] if getattr(body, text)]
        if len(said) > 1:
            raise bad_request(f"expected one of {' and '.join(said)}")
        setattr(message, self.name, next(iter(said), self.texts[0]))

    def show(self, message: Message, found: Members) -> None:
        value = getattr(message, self.name)
        said = next(iter(value), "") if self.is_repeated else value
        found |= {text: said == text for text in self.texts[1:]}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """A field with one member. `type` has the value, `write` sets it, and `shown` makes JSON of it.

    `name` is that of the message, `member` that of JSON. `absent` is the value that an absent member means, `otherwise`
    what an answer has for an empty value. A request may have null with `is_null`, and no answer has the member with
    `is_hidden`.
    """

    name: str
    member: str
    alias: str
    type: Callable[[], Any]
    is_required: bool
    is_null: bool
    is_hidden: bool
    has_presence: bool
    may_be_empty: bool
    empty: "options_pb2.EmptyForm.ValueType"
    absent: object
    otherwise: str
    write: Callable[[Message, Any], None]
    shown: Callable[[Any], object]

    def struct_members(self) -> Iterator[_Member]:
        kind = self.type()
        if self.is_required:
            yield self.member, kind, msgspec.NODEFAULT
        elif self.is_null:
            yield self.member, kind | None, None
        else:
            yield self.member, kind, kind() if self.absent is None else self.absent
        if self.alias:
            yield self.alias, kind | None, None

    def put(self, message: Message, body: msgspec.Struct) -> None:
        """Raises Refused."""
        value = getattr(body, self.member)
        other = getattr(body, self.alias) if self.alias else None
        if value and other and value != other:
            raise bad_request(f"{self.member} and {self.alias}: expected one value, found two")
        if value is None or (value == "" and self.is_null and not self.has_presence):
            value = other or self.absent
        if value is not None:
            self.write(message, value)

    def show(self, message: Message, found: Members) -> None:
        if self.is_hidden:
            return
        value = getattr(message, self.name)
        if self._has_value(message, value):
            found[self.member] = shown = self.shown(value)
            if self.alias:
                found[self.alias] = shown
        elif self.otherwise:
            found[self.member] = self.otherwise
        elif self.empty == options_pb2.EMPTY_FORM_NULL:
            found[self.member] = None
            if self.alias:
                found[self.alias] = None

    def _has_value(self, message: Message, value: object) -> bool:
        if self.has_presence:
            return message.HasField(self.name)
        if value or self.is_required or not self.may_be_empty:
            return True
        return self.empty in _AS_IT_IS and not self.otherwise


def _field(of: FieldDescriptor, rules: Rules) -> _Field:
    rule = rule_of(of)
    member = rule.member or of.name
    absent = rules.absent.get(member, orjson.loads(rule.absent) if rule.absent else None)
    empty = empty_form(of)
    is_never_null = empty == options_pb2.EMPTY_FORM_SHOWN or member in rules.not_null
    form = _form(of, absent, otherwise=rule.otherwise)
    return _Field(
        name=of.name,
        member=member,
        alias=rule.alias,
        type=form.type,
        is_required=rule.required or member in rules.required,
        is_null=not is_never_null and (may_be_empty(of) or empty == options_pb2.EMPTY_FORM_OMITTED),
        is_hidden=rule.hidden,
        has_presence=of.has_presence,
        may_be_empty=may_be_empty(of),
        empty=empty,
        absent=form.absent(absent),
        otherwise=rule.otherwise,
        write=form.write,
        shown=form.shown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How values of a field are typed, written into a message and shown. `absent` makes a value of JSON."""

    type: Callable[[], Any]
    write: Callable[[Message, Any], None]
    shown: Callable[[Any], object]
    absent: Callable[[Any], object] = lambda value: value


def _form(of: FieldDescriptor, absent: Any, *, otherwise: str) -> _Form:
    """Return the form of a field; raises TypeError for one that JSON of administration does not have."""
    match kind_of(of):
        case Kind.MESSAGE if message_of(of).full_name == _NAMES:
            return _Form(type=lambda: _TEXTS, write=partial(_write_names, of.name), shown=_names)
        case Kind.MESSAGE:
            return _nested(of, absent)
        case Kind.ENUM:
            return _word(of, otherwise)
        case Kind.STRING if of.is_repeated:
            return _Form(type=lambda: _TEXTS, write=partial(_extend, of.name), shown=list)
        case kind if kind in _SINGLE and not of.is_repeated:
            return _single(of)
        case kind:
            raise TypeError(f"{of.full_name}: no JSON of administration has such a {kind}")


def _single(of: FieldDescriptor) -> _Form:
    name, kind, rule = of.name, kind_of(of), rule_of(of)
    if rule.form == options_pb2.JSON_FORM_OBJECT_TEXT:
        write = partial(_write_object, name, none=rule.none)
        return _Form(type=lambda: dict[str, object], write=write, shown=partial(_fragment, none=rule.none))
    if kind is Kind.VALUE:
        return _Form(type=lambda: msgspec.Raw, write=partial(_write_raw, name), shown=orjson.Fragment)
    if rule.words:
        false, true = rule.words
        write = partial(_write_truth, name, said=frozenset({True, true}))
        return _Form(type=lambda: bool | Literal[false, true], write=write, shown=_as_it_is)
    typed = Annotated[int, _bounds(of)] if kind is Kind.INTEGER else _SINGLE[kind]
    return _Form(type=lambda: typed, write=partial(_write, name), shown=_as_it_is)


def _word(of: FieldDescriptor, otherwise: str) -> _Form:
    numbers = words_of(enum_of(of))
    words = {number: word for word, number in numbers.items()}
    return _Form(
        type=lambda: Literal[tuple(numbers)],
        write=lambda message, word: setattr(message, of.name, numbers[word]),
        shown=lambda number: words.get(number, otherwise),
    )


def _nested(of: FieldDescriptor, absent: Any) -> _Form:
    name, title = of.name, message_rule(message_of(of)).title or message_of(of).name
    nested = _object(message_of(of).fields, Rules(absent=absent if isinstance(absent, dict) else {}))

    def reader() -> type[msgspec.Struct]:
        return nested.reader(title, _Nested, text=None)

    def write(message: Message, value: msgspec.Struct) -> None:
        part = getattr(message, name)
        part.SetInParent()
        nested.put(part, value)

    def extend(message: Message, values: Iterable[msgspec.Struct]) -> None:
        for value in values:
            nested.put(getattr(message, name).add(), value)

    if of.is_repeated:
        return _Form(
            type=lambda: tuple[reader(), ...],  # type: ignore[misc]  # a class that is made here
            write=extend,
            shown=lambda values: list(map(nested.members, values)),
        )
    # An absent object is one whose members are absent.
    return _Form(type=reader, write=write, shown=nested.members, absent=lambda _: None)


def _as_it_is(value: object) -> object:
    return value


def _names(value: Any) -> object:
    return list(value.names)


def _write(name: str, message: Message, value: object) -> None:
    setattr(message, name, value)


def _write_raw(name: str, message: Message, value: msgspec.Raw) -> None:
    setattr(message, name, bytes(value))


def _write_truth(name: str, message: Message, value: object, *, said: frozenset[object]) -> None:
    setattr(message, name, value in said)


def _write_names(name: str, message: Message, texts: Iterable[str]) -> None:
    # An empty list is another value than none.
    names = getattr(message, name)
    names.SetInParent()
    names.names.extend(texts)


def _write_object(name: str, message: Message, value: object, *, none: str) -> None:
    text = msgspec.json.encode(value).decode()
    setattr(message, name, "" if text == none else text)


def _extend(name: str, message: Message, texts: Iterable[str]) -> None:
    getattr(message, name).extend(texts)


def _fragment(text: str, *, none: str) -> object:
    return orjson.Fragment(text or none) if text or none else None


def _bounds(of: FieldDescriptor) -> msgspec.Meta:
    least, most = integer_bounds(of)
    kind = bounds_of(of).WhichOneof("type")
    rules = getattr(bounds_of(of), kind) if kind else bounds_of(of).int32
    return msgspec.Meta(
        ge=rules.gte if rules.HasField("gte") else least, le=rules.lte if rules.HasField("lte") else most
    )


def _descriptor(kind: type[Message]) -> Descriptor:
    # The C implementation and the stubs have classes of their own.
    return cast("Descriptor", kind.DESCRIPTOR)
