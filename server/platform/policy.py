"""The policy of each RPC, read once from the descriptors of the contract.

gnomon/rest/v1/options.proto documents the options.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from google.api import annotations_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

import gnomon.directory.v1
import gnomon.engine.v1
import gnomon.identity.v1
from gnomon.rest.v1 import options_pb2

if TYPE_CHECKING:
    from google.api.http_pb2 import HttpRule

# Verbs of read-only RPCs.
_READS = ("Get", "List", "Search")
# Those of them that read many rows.
_SEARCHES = re.compile(
    r"(List|Search)\w+|Get\w*Statistics\w*|GetUsageMetrics|GetConsoleDeployments|GetProcessInstanceSequenceFlows"
)

PACKAGES = (gnomon.directory.v1, gnomon.engine.v1, gnomon.identity.v1)


class Mode(StrEnum):
    """The mode of a deployment."""

    EMBEDDED = "embedded"
    BUNDLED = "bundled"
    CLUSTER = "cluster"


class CallerKind(StrEnum):
    """The way an RPC identifies its caller: `gnomon.rest.v1.CallerKind`, or ANYBODY for public RPCs."""

    PRINCIPAL = "principal"
    ANYBODY = "anybody"
    EDGE = "edge"
    CREDENTIAL = "credential"


@dataclass(frozen=True, slots=True)
class AuditRule:
    """The names of an operation and its entity in the audit log, and the request fields that hold the ids.

    Operations on a single entity have an empty related entity.
    """

    entity_type: str
    operation_type: str
    entity_field: str
    related_entity_type: str
    related_entity_field: str


@dataclass(frozen=True, slots=True)
class AuthorizationRule:
    """Permission types on a resource that open an operation; `resource_field` is the request field with its id.

    The operation checks its `further_permissions` later; the authorization stands in for them too.
    """

    resource_type: str
    permission_types: tuple[str, ...]
    resource_field: str
    further_permissions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """The requirements of one RPC on its caller; `path` is its gRPC path, /package.Service/Method.

    `is_stream` marks server-streaming RPCs. `stands_for` is the path of the RPC whose requirements apply
    instead, usually empty.
    """

    path: str
    descriptor: MethodDescriptor
    request: type[Message]
    response: type[Message]
    permission: str
    caller: CallerKind
    modes: frozenset[Mode]
    is_command: bool
    is_long_polling: bool
    is_stream: bool
    rejections: tuple[str, ...]
    tenant_fields: tuple[FieldDescriptor, ...]
    audit: AuditRule | None = None
    stands_for: str = ""
    authorizations: tuple[AuthorizationRule, ...] = ()

    @property
    def name(self) -> str:
        """Name of the RPC without its service."""
        return self.path.rpartition("/")[2]

    @property
    def needs_principal(self) -> bool:
        """Whether the interceptors determine the principal of a call, its tenant and permissions."""
        return self.caller is CallerKind.PRINCIPAL

    @property
    def is_audited(self) -> bool:
        """Whether the audit log records calls of the operation, because it changes something."""
        return self.is_command or self.audit is not None

    @property
    def is_read(self) -> bool:
        """Whether the operation changes nothing, so that cross-site requests to it are harmless."""
        return not self.is_audited and self.name.startswith(_READS)

    @property
    def is_search(self) -> bool:
        """Whether the operation reads many rows on behalf of a caller."""
        return self.needs_principal and self.is_read and _SEARCHES.fullmatch(self.name) is not None

    @property
    def has_route(self) -> bool:
        """Whether the contract has an HTTP route for the RPC, with the request message as JSON."""
        return self._route.WhichOneof("pattern") is not None

    @property
    def _route(self) -> "HttpRule":
        rule: HttpRule = self.descriptor.GetOptions().Extensions[cast("Any", annotations_pb2.http)]
        return rule

    @property
    def operation(self) -> str:
        """The operation's name for people: its route, or its RPC name if it has no route."""
        rule = self._route
        verb = rule.WhichOneof("pattern")
        if not verb:
            return self.name
        return f"{verb.upper()} {wire_path(getattr(rule, verb), self.descriptor.input_type)}"


def wire_path(path: str, request: Descriptor) -> str:
    """Replace the variables of a path template by the JSON names of the request's fields."""
    names = {field.name: f"{{{field.json_name}}}" for field in request.fields}
    return path.format_map(names)


def services() -> Iterator[ServiceDescriptor]:
    """Yield every service of the contract in the order of its files."""
    for package in PACKAGES:
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda entry: entry.name):
            if module.name.endswith("_service_pb2"):
                file = importlib.import_module(f"{package.__name__}.{module.name}").DESCRIPTOR
                yield from file.services_by_name.values()


@cache
def policies_of(service: ServiceDescriptor) -> Mapping[str, Policy]:
    """Return the policies of one service by gRPC path."""
    return MappingProxyType({policy.path: policy for policy in map(policy_of, service.methods)})


def policy_of(method: MethodDescriptor) -> Policy:
    rule = method.GetOptions().Extensions[options_pb2.method]
    return Policy(
        path=f"/{method.containing_service.full_name}/{method.name}",
        descriptor=method,
        request=GetMessageClass(method.input_type),
        response=GetMessageClass(method.output_type),
        permission=rule.permission,
        caller=_caller_kind(rule),
        modes=frozenset(map(_mode, rule.modes)) or frozenset(Mode),
        is_command=rule.command,
        is_long_polling=rule.long_polling,
        is_stream=method.server_streaming,
        rejections=tuple(rule.rejections),
        tenant_fields=tuple(field for field in method.input_type.fields if _names_tenants(field)),
        audit=_audit_rule(rule),
        stands_for=f"/{rule.stands_for}" if rule.stands_for else "",
        authorizations=tuple(
            AuthorizationRule(
                each.resource_type,
                tuple(each.permission_types),
                each.resource_field,
                tuple(each.further_permissions),
            )
            for each in rule.authorizations
        ),
    )


def _audit_rule(rule: options_pb2.MethodRule) -> AuditRule | None:
    if not rule.HasField("audit"):
        return None
    return AuditRule(
        entity_type=rule.audit.entity_type,
        operation_type=rule.audit.operation_type,
        entity_field=rule.audit.entity_field,
        related_entity_type=rule.audit.related_entity_type,
        related_entity_field=rule.audit.related_entity_field,
    )


def _caller_kind(rule: options_pb2.MethodRule) -> CallerKind:
    if rule.caller == options_pb2.CALLER_KIND_UNSPECIFIED:
        return CallerKind.ANYBODY if rule.public else CallerKind.PRINCIPAL
    return CallerKind(options_pb2.CallerKind.Name(rule.caller).removeprefix("CALLER_KIND_").lower())


def _mode(number: options_pb2.Mode.ValueType) -> Mode:
    return Mode(options_pb2.Mode.Name(number).removeprefix("MODE_").lower())


def _names_tenants(field: FieldDescriptor) -> bool:
    return bool(field.GetOptions().Extensions[options_pb2.field].tenant)
