"""The routes of the HTTP interface, read from the descriptors of the contract.

A route combines an RPC's google.api.http annotation with its MethodRule, so that nothing is declared twice.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any, cast

from google.api import annotations_pb2
from google.api.http_pb2 import HttpRule
from google.protobuf.descriptor import FieldDescriptor, ServiceDescriptor

from edge.fields import rule_of
from gnomon.rest.v1 import options_pb2
from server.platform.policy import Policy, policies_of, services

JSON = "application/json"
_VERBS = frozenset({"get", "put", "post", "delete", "patch"})
_VARIABLE = re.compile(r"\{([^{}]*)\}")


class BodyForm(Enum):
    """Form of the request body."""

    NONE = auto()
    MEMBERS = auto()
    FIELD = auto()
    MULTIPART = auto()


@dataclass(frozen=True, slots=True)
class Route:
    """One method at one path.

    `path` names its variables after their fields, as google.api.http and the router both do. `body_fields` are the
    members of the body, or the one field that is the body. `etag_field` is the field with the entity tag of the
    response, `media_type_field` and `file_name_field` are those with headers of a body of bytes, `failures_field` is
    that with what failed. `may_wait` marks calls that wait for an event.
    """

    policy: Policy
    operation_id: str
    method: str
    path: str
    path_fields: tuple[FieldDescriptor, ...]
    query_fields: tuple[FieldDescriptor, ...]
    body: BodyForm
    body_fields: tuple[FieldDescriptor, ...]
    response_field: FieldDescriptor | None
    etag_field: FieldDescriptor | None
    media_type_field: FieldDescriptor | None
    file_name_field: FieldDescriptor | None
    failures_field: FieldDescriptor | None
    media_type: str
    status: int
    may_wait: bool

    @property
    def empty_status(self) -> int:
        """Status of a response without body; status of every response if the message has no fields."""
        return 204 if self.policy.descriptor.output_type.fields else self.status

    @property
    def download_field(self) -> FieldDescriptor | None:
        """The field whose bytes are the unchanged body of the response."""
        field = self.response_field
        return field if field is not None and self.media_type != JSON and _is_bytes(field) else None


@cache
def routes() -> Sequence[Route]:
    """Every route of the contract, in the order of its files."""
    return tuple(route for service in services() for route in routes_of(service))


def routes_of(service: ServiceDescriptor) -> Iterator[Route]:
    for policy in policies_of(service).values():
        # The stubs of google.api do not type the extension.
        rule: HttpRule = policy.descriptor.GetOptions().Extensions[cast("Any", annotations_pb2.http)]
        if rule.WhichOneof("pattern"):
            for number, binding in enumerate((rule, *rule.additional_bindings), start=1):
                yield _route(policy, binding, number)


def _route(policy: Policy, binding: HttpRule, number: int) -> Route:
    verb, path = _pattern(policy, binding)
    rule = _rule_of(policy)
    fields = policy.descriptor.input_type.fields_by_name
    path_fields = tuple(fields[name] for name in _VARIABLE.findall(path))
    body = _body_form(binding, rule)
    body_fields = _body_fields(policy, binding, path_fields)
    taken = {*path_fields, *body_fields}
    return Route(
        policy=policy,
        operation_id=_operation_id(policy, number),
        method=verb.upper(),
        path=path,
        path_fields=path_fields,
        query_fields=tuple(field for field in policy.descriptor.input_type.fields if field not in taken),
        body=body,
        body_fields=body_fields,
        response_field=_response_field(policy, binding),
        etag_field=_answer_field(policy, lambda rule: rule.etag),
        media_type_field=_answer_field(policy, _is_header(options_pb2.ANSWER_HEADER_CONTENT_TYPE)),
        file_name_field=_answer_field(policy, _is_header(options_pb2.ANSWER_HEADER_ATTACHMENT)),
        failures_field=_answer_field(policy, lambda rule: rule.failures),
        media_type=rule.response_type or JSON,
        status=rule.success_status or (200 if policy.descriptor.output_type.fields else 204),
        may_wait=policy.is_long_polling or "DEADLINE_EXCEEDED" in policy.rejections,
    )


def _rule_of(policy: Policy) -> options_pb2.MethodRule:
    return policy.descriptor.GetOptions().Extensions[options_pb2.method]


def _pattern(policy: Policy, binding: HttpRule) -> tuple[str, str]:
    verb = binding.WhichOneof("pattern")
    if verb not in _VERBS:
        raise TypeError(f"{policy.path} has a binding that is none of {sorted(_VERBS)}")
    return verb, getattr(binding, verb)


def _operation_id(policy: Policy, number: int) -> str:
    name = _rule_of(policy).operation_id or policy.name[:1].lower() + policy.name[1:]
    return name if number == 1 else f"{name}{number}"


def _body_form(binding: HttpRule, rule: options_pb2.MethodRule) -> BodyForm:
    if not binding.body:
        return BodyForm.NONE
    if rule.body_form == options_pb2.BODY_FORM_MULTIPART:
        return BodyForm.MULTIPART
    return BodyForm.MEMBERS if binding.body == "*" else BodyForm.FIELD


def _body_fields(
    policy: Policy, binding: HttpRule, path_fields: tuple[FieldDescriptor, ...]
) -> tuple[FieldDescriptor, ...]:
    request = policy.descriptor.input_type
    match binding.body:
        case "":
            return ()
        case "*":
            return tuple(
                field for field in request.fields if field not in path_fields and not rule_of(field).query
            )
        case name:
            return (request.fields_by_name[name],)


def _response_field(policy: Policy, binding: HttpRule) -> FieldDescriptor | None:
    name = binding.response_body
    return policy.descriptor.output_type.fields_by_name[name] if name else None


def _answer_field(
    policy: Policy, has_role: Callable[[options_pb2.FieldRule], bool]
) -> FieldDescriptor | None:
    return next((field for field in policy.descriptor.output_type.fields if has_role(rule_of(field))), None)


def _is_header(header: options_pb2.AnswerHeader.ValueType) -> Callable[[options_pb2.FieldRule], bool]:
    return lambda rule: rule.header == header


def _is_bytes(field: FieldDescriptor) -> bool:
    return field.type == FieldDescriptor.TYPE_BYTES
