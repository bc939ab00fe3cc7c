"""Operations that are calls of the domain: their parameters are the fields of the request, by name.

The contract declares the right of an operation, and its request and response. The domain does the work. A row names both:

    pb.DeleteWebhookRequest: webhooks.delete

The servicer first admits the caller, which gives parameters such as `tenant` and `actor`. The parameter `request` is the
whole request, and `response` the class of the response. Every other parameter is a field of the request. The result is
the only field of the response, a tuple of its fields, or a record with them. The constructor checks the rows: each
parameter has a source, and each field of the request is used.

A parameter that is a record takes its fields from the message in the field of its name. Without such a field it takes
those fields of the request that no other parameter does. `records.py` says how records and messages correspond.
"""

from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from dataclasses import MISSING, dataclass, is_dataclass
from functools import cache
from inspect import Parameter, isawaitable, signature
from typing import Any, Protocol, cast
from weakref import WeakKeyDictionary

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from identity.access.rpc.records import message_of, reader_of, record_reader, without_none
from server.platform.call import Call
from server.platform.dispatch import snake_case
from server.platform.policy import Policy, policies_of, services

Domain = Callable[..., Any]
Readers = Mapping[Any, Callable[[Any], Any]]
Messages = Mapping[type, Callable[[Any], Message]]
Names = Collection[str]

_REQUEST, _RESPONSE = "request", "response"
_NONE: Mapping[Any, Any] = {}


@dataclass(frozen=True, slots=True)
class Admitted:
    """How the callers of an operation are admitted: `admit` gives parameters, and uses `fields` of the request."""

    given: Names
    fields: Names
    admit: Callable[[Any, Call], Awaitable[Mapping[str, Any]]]


class Admitting(Protocol):
    """Admits the callers of one kind of operations."""

    def admitted(self, policy: Policy, wanted: Names) -> Admitted:
        """Return the admission to an operation with the parameters `wanted`.

        Raises TypeError for an operation whose callers it cannot check.
        """


@dataclass(frozen=True, slots=True)
class Named:
    """A call with parameters that have other names in the request."""

    call: Domain
    fields: Mapping[str, str]


def named(call: Domain, **fields: str) -> Named:
    """Return a call whose parameters are read from `fields` of other names."""
    return Named(call, fields)


class Operations:
    """Serves the RPCs whose requests `calls` name; a servicer has all others as methods.

    `names` are those of messages and their records that differ. Where names do not suffice, `reads` makes parameters of a
    type, from the field with the name of the parameter, else from the whole request, and `shows` makes messages of records.
    """

    def __init__(
        self,
        admitting: Admitting,
        calls: Mapping[type[Message], Domain | Named],
        *,
        names: Mapping[str, str] = _NONE,
        reads: Readers = _NONE,
        shows: Messages = _NONE,
    ) -> None:
        for request, call in calls.items():
            policy = _policies()[request]
            operation = _Operation(policy, admitting, call, _Meanings(names, reads, shows))
            setattr(self, snake_case(policy.name), operation.serve)


@dataclass(frozen=True, slots=True)
class _Meanings:
    """How parameters and results of a servicer correspond to messages."""

    names: Mapping[str, str]
    reads: Readers
    shows: Messages


@cache
def _policies() -> Mapping[type[Message], Policy]:
    return {policy.request: policy for service in services() for policy in policies_of(service).values()}


def _parameters(call: Domain) -> Mapping[str, Parameter]:
    function = getattr(call, "__func__", None)
    if function is None:
        return signature(call, eval_str=True).parameters
    _, *others = _parameters_of_function(function).items()
    return dict(others)


@cache
def _parameters_of_function(function: Domain) -> Mapping[str, Parameter]:
    """Return the parameters, `self` included: methods of a class have the same for each object."""
    return signature(function, eval_str=True).parameters


class _Operation:
    """Raises TypeError for a call that does not fit its request."""

    def __init__(
        self, policy: Policy, admitting: Admitting, call: Domain | Named, meanings: _Meanings
    ) -> None:
        fields = call.fields if isinstance(call, Named) else _NONE
        self._call = call.call if isinstance(call, Named) else call
        parameters = _parameters(self._call)
        admitted = admitting.admitted(policy, parameters)
        self._admit = admitted.admit
        self._given = tuple(name for name in parameters if name in admitted.given)
        self._arguments = _arguments(self._call, parameters, _Sources(policy, admitted, fields, meanings))
        self._answer = _Answer(policy, meanings)

    async def serve(self, request: Message, call: Call) -> Message:
        admitted = await self._admit(request, call)
        result = self._call(**{name: admitted[name] for name in self._given}, **self._arguments.of(request))
        return self._answer.of(await result if isawaitable(result) else result)


# Arguments of methods do not depend on their objects, of which tests make thousands.
_KNOWN: WeakKeyDictionary[Domain, dict[Hashable, "_Arguments"]] = WeakKeyDictionary()


def _arguments(call: Domain, parameters: Mapping[str, Parameter], sources: "_Sources") -> "_Arguments":
    known = _KNOWN.setdefault(getattr(call, "__func__", call), {})
    key = sources.key()
    if key not in known:
        known[key] = _Arguments(parameters, sources)
    return known[key]


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where the arguments of an operation come from; `names` are fields by parameters, where their names differ."""

    policy: Policy
    admitted: Admitted
    names: Mapping[str, str]
    meanings: _Meanings

    def key(self) -> Hashable:
        names = (*self.names.items(), *self.meanings.names.items())
        given = (tuple(self.admitted.given), tuple(self.admitted.fields))
        return self.policy.path, given, len(self.names), names, tuple(self.meanings.reads.items())


class _Arguments:
    """Arguments of a call, from the fields of its request."""

    def __init__(self, parameters: Mapping[str, Parameter], sources: _Sources) -> None:
        policy, admitted, names, meanings = sources.policy, sources.admitted, sources.names, sources.meanings
        fields = policy.descriptor.input_type.fields_by_name
        free = {name: field for name, field in fields.items() if name not in admitted.fields}
        own = {name: free.get(names.get(name, name)) for name in parameters if name not in admitted.given}
        unused = free.keys() - {field.name for field in own.values() if field is not None}
        self._readers: list[tuple[str, Callable[[Any], Any]]] = []
        for name, field in own.items():
            parameter = parameters[name]
            if field is not None:
                self._readers.append((name, _of_field(policy, field, parameter, meanings)))
            elif name == _RESPONSE:
                self._readers.append((name, _always(policy.response)))
            elif name == _REQUEST or _is_record(parameter, meanings):
                without = {*fields} - unused
                self._readers.append((name, _of_request(policy, parameter, meanings, without)))
                unused = set()
            elif parameter.default is Parameter.empty:
                raise TypeError(f"{policy.name}: the request has no field for the parameter {name}")
        if unused:
            raise TypeError(f"{policy.name}: no parameter takes {', '.join(sorted(unused))}")

    def of(self, request: Message) -> Mapping[str, Any]:
        return {name: read(request) for name, read in self._readers}


def _itself(request: Any) -> Any:
    return request


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _request: value


def _is_record(parameter: Parameter, meanings: _Meanings) -> bool:
    return parameter.annotation in meanings.reads or is_dataclass(parameter.annotation)


def _of_request(
    policy: Policy, parameter: Parameter, meanings: _Meanings, without: Collection[str]
) -> Callable[[Any], Any]:
    read = meanings.reads.get(parameter.annotation)
    if read is not None or parameter.name == _REQUEST:
        return read or _itself
    try:
        return record_reader(parameter.annotation, policy.request, meanings.names, without=without)
    except (TypeError, AttributeError) as error:
        raise TypeError(f"{policy.name}: {error}") from error


def _of_field(
    policy: Policy, field: FieldDescriptor, parameter: Parameter, meanings: _Meanings
) -> Callable[[Any], Any]:
    hint = parameter.annotation
    read = meanings.reads.get(hint, meanings.reads.get(without_none(hint)))
    if read is not None and hint not in meanings.reads:
        return lambda request: read(getattr(request, field.name)) if request.HasField(field.name) else None
    if read is not None:
        return lambda request: read(getattr(request, field.name))
    default = MISSING if parameter.default is Parameter.empty else parameter.default
    try:
        return reader_of(field, hint, meanings.names, default)
    except (TypeError, AttributeError) as error:
        raise TypeError(f"{policy.name}: {error}") from error


class _Answer:
    """The response of an operation, from the result of its call."""

    def __init__(self, policy: Policy, meanings: _Meanings) -> None:
        self._response: Any = policy.response
        # No container of the C implementation matches a pattern of sequences.
        self._fields = tuple(policy.descriptor.output_type.fields)
        self._kinds = _kinds(policy)
        self._names, self._shows = meanings.names, meanings.shows

    def of(self, result: Any) -> Message:
        values: Mapping[str, Any]
        match self._fields:
            case []:
                values = {}
            case [field]:
                values = {field.name: self._value(field, result)}
            case fields if isinstance(result, tuple):
                values = {
                    field.name: self._value(field, each) for field, each in zip(fields, result, strict=True)
                }
            case _:
                return cast("Message", self._shown(self._response, result))
        return cast("Message", self._response(**values))

    def _value(self, field: FieldDescriptor, value: Any) -> Any:
        kind = self._kinds[field.name]
        if kind is None:
            return value
        return [self._shown(kind, each) for each in value] if field.is_repeated else self._shown(kind, value)

    def _shown(self, kind: type[Message], value: Any) -> Any:
        show = self._shows.get(type(value))
        if show is not None:
            return show(value)
        return message_of(kind, value, self._names) if is_dataclass(value) else value


@cache
def _kinds(policy: Policy) -> Mapping[str, type[Message] | None]:
    """Return the classes of messages in the fields of a response."""
    fields = policy.descriptor.output_type.fields
    return {each.name: GetMessageClass(each.message_type) if each.message_type else None for each in fields}
