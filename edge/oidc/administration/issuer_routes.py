"""Operations of administration that the contract declares: path, query, body, answer and description of each.

A route needs no code of its own. Variables of the path, parameters and members have names of the contract.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

import msgspec
import orjson
from aiohttp import web
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from edge.fields import message_of, rule_of
from edge.oidc.access.administration_calls import AdministrationCalls, named, page_written, written
from edge.oidc.access.body import bad_request, read_json
from edge.oidc.access.documents import Members
from edge.oidc.access.message_json import MessageJson, Rules, members
from edge.oidc.access.refusal import Refused
from edge.oidc.access.tenant import tenant_of
from edge.oidc.administration.query import PAGE_SIZE, Query
from edge.oidc.openapi.operation import Answer, Caller, content, described, done, paged, plain
from edge.oidc.openapi.schemas import STRING, all_of, part
from edge.problem import Handler
from gnomon.rest.v1 import options_pb2
from server.platform.channels import Channel
from server.platform.policy import Policy, policies_of, services

_VARIABLE = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[A-Z][a-z]*")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# Messages of a list that are written between two turns of the event loop.
_AT_A_TIME = 100
_OF_EDGE = frozenset({"tenant_id", "caller", "peer_address"})
_CONFLICTS = frozenset({"ALREADY_EXISTS", "INVALID_STATE"})


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    pass


@dataclass(frozen=True, slots=True)
class IssuerRoute:
    policy: Policy
    rule: options_pb2.IssuerRoute

    @property
    def method(self) -> str:
        return self.rule.address.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.rule.address.partition(" ")[2]

    @property
    def status(self) -> int:
        options = self.policy.descriptor.GetOptions()
        return options.Extensions[options_pb2.method].success_status or 200

    @property
    def tag(self) -> str:
        """Return the records of the service, in words, unless the contract has another group."""
        if self.rule.tag:
            return self.rule.tag
        words = _WORD.findall(self.policy.descriptor.containing_service.name.removesuffix("Service"))
        return f"{' '.join(words).capitalize()}s"

    def fields_of_path(self) -> Mapping[str, FieldDescriptor]:
        """Return the fields by the variables of the path; raises KeyError for a variable without a field."""
        flat = [each for field in self._fields() if rule_of(field).flat for each in message_of(field).fields]
        known = [*flat, *self._fields()]
        fields = {rule_of(field).member: field for field in known} | {field.name: field for field in known}
        return {variable: fields[variable] for variable in _VARIABLE.findall(self.path)}

    def has(self, field: str) -> bool:
        """Whether the request has a field that the edge fills in."""
        return field in self.policy.descriptor.input_type.fields_by_name

    def fields_of_body(self) -> list[FieldDescriptor]:
        return self._others() if self._has_body() else []

    def fields_of_query(self) -> list[FieldDescriptor]:
        return [] if self._has_body() else self._others()

    def _has_body(self) -> bool:
        return self.method in _WITH_BODY or self.rule.HasField("body")

    def _others(self) -> list[FieldDescriptor]:
        taken = [
            field for name, field in self.fields_of_path().items() if name not in self.rule.body.repeated
        ]
        return [field for field in self._fields() if field.name not in _OF_EDGE and field not in taken]

    def _fields(self) -> list[FieldDescriptor]:
        return list(self.policy.descriptor.input_type.fields)


def issuer_routes() -> Iterator[IssuerRoute]:
    for service in services():
        for policy in policies_of(service).values():
            for rule in policy.descriptor.GetOptions().Extensions[options_pb2.method].issuer_routes:
                yield IssuerRoute(policy, rule)


@dataclass(frozen=True, slots=True)
class _Declared:
    """Everything about an operation that its route says; `described` adds its description to a handler."""

    route: IssuerRoute
    variables: Mapping[str, FieldDescriptor]
    query: Query
    body: MessageJson[Message, _Body] | None
    answer: "_Answered"
    described: Callable[[Handler], Handler]


def declared_rows(
    channel: Channel, calls: AdministrationCalls, *, of_deployment: bool = False
) -> Iterator[tuple[str, Mapping[str, Handler]]]:
    """Yield paths and handlers by method, those below each issuer or those below the default one alone."""
    rows: dict[str, dict[str, Handler]] = {}
    for declared in _all_declared():
        route = declared.route
        if route.rule.deployment is of_deployment:
            rows.setdefault(route.path, {})[route.method] = _handler(declared, channel, calls)
    yield from rows.items()


@cache
def _all_declared() -> Sequence[_Declared]:
    return tuple(map(_declared, issuer_routes()))


def _declared(route: IssuerRoute) -> _Declared:
    query = Query(route.fields_of_query(), is_strict=route.rule.strict_query)
    body, answer = _body(route), _Answered(route)
    description = described(
        route.rule.summary,
        *answer.described(),
        caller=Caller.ADMINISTRATOR if route.has("caller") else Caller.ANYBODY,
        body=body.body if body is not None else None,
        has_optional_body=route.rule.body.optional,
        query=query.described(),
        refusals=(409,) if _CONFLICTS.intersection(route.policy.rejections) else (),
        tag=route.tag,
    )
    return _Declared(route, route.fields_of_path(), query, body, answer, description)


def _handler(declared: _Declared, channel: Channel, calls: AdministrationCalls) -> Handler:
    route, policy, body = declared.route, declared.route.policy, declared.body
    has_caller, has_tenant, has_peer = map(route.has, ("caller", "tenant_id", "peer_address"))
    call = channel.unary_unary(policy.path, policy.request.SerializeToString, policy.response.FromString)
    timeout = calls.long_timeout if route.rule.slow else calls.timeout

    @declared.described
    async def handle(request: web.Request) -> web.StreamResponse:
        tenant_id = _tenant(request, route)
        ids = {variable: named(request, variable) for variable in declared.variables}
        caller = calls.caller(request) if has_caller else None
        asked: Any = policy.request() if body is None else await _read(request, route, body, calls)
        declared.query.read(request, asked)
        if has_tenant:
            asked.tenant_id = tenant_id
        for variable, text in ids.items():
            _name(asked, declared.variables[variable], text, is_sent=variable in route.rule.body.repeated)
        if caller is not None:
            asked.caller.CopyFrom(caller)
        if has_peer:
            asked.peer_address = calls.peer_address(request)
        return await declared.answer.written(asked, await call(asked, timeout=timeout))

    return handle


def _tenant(request: web.Request, route: IssuerRoute) -> str:
    """Return the tenant of the address; raises Refused for one whose administrators do not administer the deployment."""
    tenant_id = tenant_of(request)
    if tenant_id and route.rule.deployment:
        raise Refused(403, "Forbidden", "the caller may not do this")
    return tenant_id


def _name(asked: Message, field: FieldDescriptor, text: str, *, is_sent: bool) -> None:
    """Set what the path names; raises Refused for a body that names something else."""
    if is_sent and getattr(asked, field.name) != text:
        raise bad_request(f"{field.name}: expected that of the address")
    if field.containing_type is asked.DESCRIPTOR:
        setattr(asked, field.name, text)
        return
    for flat, value in asked.ListFields():
        if rule_of(flat).flat and getattr(value, field.name) != text:
            raise bad_request(f"{field.name}: expected that of the address")


def _body(route: IssuerRoute) -> MessageJson[Message, _Body] | None:
    fields, rule = route.fields_of_body(), route.rule.body
    if not fields:
        return None
    name = "".join(word.capitalize() for word in route.rule.answer.split("_")) or route.policy.name
    rules = Rules(required=frozenset(rule.required), absent=orjson.loads(rule.absent) if rule.absent else {})
    return MessageJson(
        route.policy.request,
        _Body,
        name=rule.name or name,
        fields=fields,
        text=rule.text or None,
        rules=rules,
    )


async def _read(
    request: web.Request, route: IssuerRoute, body: MessageJson[Message, _Body], calls: AdministrationCalls
) -> Message:
    rule = route.rule.body
    if rule.optional and not request.can_read_body:
        return body.read(body.body())
    max_bytes = rule.max_bytes or calls.max_bytes
    return body.read(await read_json(request, body.body, max_bytes=max_bytes))


async def _all_members(found: Sequence[Message]) -> Sequence[Members]:
    """Return the members of each message; other requests take their turn meanwhile."""
    shown = []
    for number, each in enumerate(found, 1):
        shown.append(members(each))
        if number % _AT_A_TIME == 0:
            await asyncio.sleep(0)
    return shown


class _Answered:
    """The response of a route, and its description."""

    def __init__(self, route: IssuerRoute) -> None:
        self._kind, self._name, self._status = route.policy.response, route.rule.answer, route.status
        self._status_of_list, self._empty_text = route.rule.status_of_list, route.rule.empty_text
        self._fields = route.policy.descriptor.output_type.fields_by_name
        self._is_empty = not self._fields
        self._is_paged = PAGE_SIZE in (field.name for field in route.fields_of_query())

    async def written(self, asked: Any, answer: Any) -> web.Response:
        if self._is_empty:
            return web.Response(status=self._status)
        found = attrgetter(self._name)(answer) if self._name else answer
        match found:
            case str():
                return web.Response(status=self._status, text=found)
            case Message():
                return written(members(found), status=self._status)
            case [] if self._status_of_list:
                return web.Response(status=self._status)
            case _ if self._is_paged:
                return page_written(await _all_members(found), asked.page_size, answer.continuation_token)
            case _:
                return written(await _all_members(found), status=self._status_of_list or self._status)

    def described(self) -> Sequence[Answer]:
        if self._is_empty:
            return (done(self._status),)
        schema = part(self._kind, self._name) if self._name else all_of(self._kind)
        if schema == STRING:
            return (plain(rule_of(self._fields[self._name]).text, status=self._status),)
        if self._status_of_list:
            return (
                done(self._status, text=self._empty_text),
                content(schema, status=self._status_of_list),
            )
        return (content(schema, status=self._status), *((paged(schema),) if self._is_paged else ()))
