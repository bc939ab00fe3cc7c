"""Operations of administration that the contract declares: path, body, answer and description of each.

A route needs no code of its own. The path and the members of the body have names of the contract.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from edge.fields import rule_of
from edge.oidc.access.administration_calls import AdministrationCalls, members, named, written
from edge.oidc.access.body import read_json
from edge.oidc.access.message_json import Empty, MessageJson
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import Answer, content, described, done
from edge.oidc.openapi.schemas import an_object, part
from edge.problem import Handler
from gnomon.rest.v1 import options_pb2
from server.platform.channels import Channel
from server.platform.policy import Policy, policies_of, services

_VARIABLE = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[A-Z][a-z]*")
_OF_EDGE = frozenset({"tenant_id", "caller"})
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
        fields = {rule_of(field).member: field for field in self._fields()}
        fields |= {field.name: field for field in self._fields()}
        return {variable: fields[variable] for variable in _VARIABLE.findall(self.path)}

    def fields_of_body(self) -> list[FieldDescriptor]:
        taken = {*_OF_EDGE, *(field.name for field in self.fields_of_path().values())}
        return [field for field in self._fields() if field.name not in taken]

    def _fields(self) -> list[FieldDescriptor]:
        return list(self.policy.descriptor.input_type.fields)


def issuer_routes() -> Iterator[IssuerRoute]:
    for service in services():
        for policy in policies_of(service).values():
            for rule in policy.descriptor.GetOptions().Extensions[options_pb2.method].issuer_routes:
                yield IssuerRoute(policy, rule)


def declared_rows(
    channel: Channel, calls: AdministrationCalls
) -> Iterator[tuple[str, Mapping[str, Handler]]]:
    """Yield paths and handlers by method."""
    rows: dict[str, dict[str, Handler]] = {}
    for route in issuer_routes():
        rows.setdefault(route.path, {})[route.method] = _handler(route, channel, calls)
    yield from rows.items()


def _handler(route: IssuerRoute, channel: Channel, calls: AdministrationCalls) -> Handler:
    policy, status, variables = route.policy, route.status, route.fields_of_path()
    call = channel.unary_unary(policy.path, policy.request.SerializeToString, policy.response.FromString)
    timeout = calls.long_timeout if route.rule.slow else calls.timeout
    body, shown = _body(route), _shown(route)

    @described(
        route.rule.summary,
        _answer(route),
        body=body.body if body is not None else None,
        refusals=(409,) if _CONFLICTS.intersection(policy.rejections) else (),
        tag=route.tag,
    )
    async def handle(request: web.Request) -> web.StreamResponse:
        tenant_id = tenant_of(request)
        ids = {field.name: named(request, variable) for variable, field in variables.items()}
        caller = calls.caller(request)
        asked: Any = policy.request() if body is None else await _read(request, body, calls)
        for name, value in {"tenant_id": tenant_id, **ids}.items():
            setattr(asked, name, value)
        asked.caller.CopyFrom(caller)
        answer = await call(asked, timeout=timeout)
        return web.Response(status=status) if shown is None else written(shown(answer), status=status)

    return handle


def _body(route: IssuerRoute) -> MessageJson[Message, _Body] | None:
    fields = route.fields_of_body()
    name = "".join(word.capitalize() for word in route.rule.answer.split("_")) or route.policy.name
    return (
        MessageJson(route.policy.request, _Body, name=name, empty=Empty.NULL, fields=fields)
        if fields
        else None
    )


async def _read(
    request: web.Request, body: MessageJson[Message, _Body], calls: AdministrationCalls
) -> Message:
    return body.read(await read_json(request, body.body, max_bytes=calls.max_bytes))


def _shown(route: IssuerRoute) -> Callable[[Message], object] | None:
    """Return what makes the body of a response, None where it has none."""
    name, fields = route.rule.answer, route.policy.descriptor.output_type.fields_by_name
    if not name:
        return members if fields else None
    if fields[name].is_repeated:
        return lambda answer: list(map(members, getattr(answer, name)))
    return lambda answer: members(getattr(answer, name))


def _answer(route: IssuerRoute) -> Answer:
    response, name = route.policy.response, route.rule.answer
    if name:
        return content(part(response, name), status=route.status)
    names = [field.name for field in route.policy.descriptor.output_type.fields]
    if names:
        return content(an_object(**{each: part(response, each) for each in names}), status=route.status)
    return done(route.status)
