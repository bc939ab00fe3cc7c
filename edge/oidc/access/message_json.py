"""JSON of administration messages: the class that reads a request, and the members of an answer.

Names, types, bounds and defaults come from the descriptor of the message and the options of its fields, so a field is
declared in the contract alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar, cast

import msgspec
import orjson
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from edge.fields import Kind, bounds_of, integer_bounds, kind_of, rule_of
from edge.oidc.access.body import bad_request
from edge.oidc.access.documents import Members
from gnomon.rest.v1 import options_pb2

M = TypeVar("M", bound=Message)
B = TypeVar("B", bound=msgspec.Struct)

_Member = tuple[str, Any, Any]
# A list of texts that may be absent.
_NAMES = "gnomon.identity.v1.Names"


class Empty(Enum):
    """How JSON shows an empty text, list or object.

    With NULL a request may have null only for these. With OMITTED null means an absent member anywhere, as in metadata of
    clients: RFC 7591 §2.
    """

    NULL = auto()
    OMITTED = auto()


class MessageJson(Generic[M, B]):
    """JSON form of one message. `body` reads requests; it has the members of `base`, and one for each field."""

    def __init__(
        self,
        message: type[M],
        base: type[B],
        *,
        name: str,
        empty: Empty,
        fields: Sequence[FieldDescriptor] | None = None,
    ) -> None:
        """Take all fields of the message, unless `fields` names some."""
        self._message = message
        self._omits_empty = empty is Empty.OMITTED
        taken = cast("Descriptor", message.DESCRIPTOR).fields if fields is None else fields
        self._fields = tuple(map(_field, taken))
        self._readers = [(field.member, field.alias, field.reader()) for field in self._fields]
        members = [member for field in self._fields for member in self._members_of(field)]
        # The OpenAPI document has the text of the base.
        named = {"__doc__": base.__doc__}
        made = msgspec.defstruct(name, members, bases=(base,), kw_only=True, module=__name__, namespace=named)
        self.body = cast("type[B]", made)

    def read(self, sent: B) -> M:
        """Return the message of a body; raises Refused when two names of a member have different values."""
        found = self._message()
        for field in self._fields:
            value = field.sent(sent)
            if value is not None:
                field.put(found, value)
        return found

    def members(self, message: M) -> Members:
        found: Members = {}
        for name, alias, read in self._readers:
            value = read(message)
            if value is None and self._omits_empty:
                continue
            found[name] = value
            if alias:
                found[alias] = value
        return found

    def _members_of(self, field: "_Field") -> Iterator[_Member]:
        if field.is_required:
            yield field.member, field.type, msgspec.NODEFAULT
        elif field.may_be_empty or self._omits_empty:
            yield field.member, field.type | None, None
        else:
            yield field.member, field.type, field.type() if field.absent is None else field.absent
        if field.alias:
            yield field.alias, field.type | None, None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """`name` is that of the message, `member` that of JSON. `absent` is the value that an absent member means, `otherwise` the text of an empty one in an answer."""

    name: str
    member: str
    alias: str
    type: Any
    is_required: bool
    is_repeated: bool
    is_object: bool
    is_names: bool
    has_presence: bool
    may_be_empty: bool
    absent: object
    otherwise: str | None

    def sent(self, body: msgspec.Struct) -> object:
        """Return the value of a body, None for one that the message leaves out; raises Refused."""
        value = getattr(body, self.member)
        other = getattr(body, self.alias) if self.alias else None
        if value and other and value != other:
            raise bad_request(f"{self.member} and {self.alias}: expected one value, found two")
        if value is None or value == "":
            value = other or self.absent
        return msgspec.json.encode(value).decode() if self.is_object and value is not None else value

    def put(self, message: Message, value: object) -> None:
        if self.is_repeated:
            getattr(message, self.name).extend(value)
        elif self.is_names:
            # An empty list is another value than none.
            names = getattr(message, self.name)
            names.SetInParent()
            names.names.extend(value)
        else:
            setattr(message, self.name, value)

    def reader(self) -> Callable[[Message], object]:
        """Return what reads an answer: None for an empty value, unless requests must have the member."""
        name, otherwise = self.name, self.otherwise
        read: Callable[[Message], Any] = attrgetter(name)
        if self.has_presence:
            return lambda message: read(message) if message.HasField(name) else None
        if not self.may_be_empty:
            return read
        if self.is_repeated:
            return lambda message: list(read(message)) or ([] if self.is_required else None)
        if self.is_object:
            return lambda message: orjson.Fragment(text) if (text := read(message)) else None
        return read if self.is_required else lambda message: read(message) or otherwise


def _field(field: FieldDescriptor) -> _Field:
    rule = rule_of(field)
    return _Field(
        name=field.name,
        member=rule.member or field.name,
        alias=rule.alias,
        type=_type(field),
        is_required=rule.required,
        is_repeated=field.is_repeated,
        is_object=_is_object(field),
        is_names=_is_names(field),
        has_presence=field.has_presence,
        may_be_empty=_may_be_empty(field),
        absent=orjson.loads(rule.absent) if rule.absent else None,
        otherwise=rule.otherwise or None,
    )


def _is_object(field: FieldDescriptor) -> bool:
    return rule_of(field).form == options_pb2.JSON_FORM_OBJECT_TEXT


def _is_names(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.full_name == _NAMES


def _may_be_empty(field: FieldDescriptor) -> bool:
    return field.is_repeated or field.has_presence or kind_of(field) is Kind.STRING


def _type(field: FieldDescriptor) -> Any:
    if field.is_repeated or _is_names(field):
        return tuple[str, ...]
    if _is_object(field):
        return dict[str, object]
    match kind_of(field):
        case Kind.STRING:
            return str
        case Kind.BOOLEAN:
            return bool
        case Kind.INTEGER:
            return Annotated[int, _bounds(field)]
        case other:
            raise TypeError(f"{field.full_name}: no JSON of administration has a {other}")


def _bounds(field: FieldDescriptor) -> msgspec.Meta:
    least, most = integer_bounds(field)
    rules = bounds_of(field).int32
    return msgspec.Meta(
        ge=rules.gte if rules.HasField("gte") else least, le=rules.lte if rules.HasField("lte") else most
    )
