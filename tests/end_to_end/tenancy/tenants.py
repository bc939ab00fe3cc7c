"""Clients of several tenants at one server, and the comparison of their answers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import grpc

from server.platform.policy import Mode, Policy
from tests.end_to_end.tenancy.probes import base_request, scalars
from tests.end_to_end.tenancy.world import POLICIES, Facts, Principal

OWNER, STRANGER, NEWCOMER = "default", "other", "third"
# The server answers when the directory changes.
_WAITS = {"AwaitDirectoryVersion"}
# Embedded mode has one clock for all tenants; moving it fires timers, which changes what the owner reads.
_CLOCK = {"PinClock", "ResetClock"}
_READS = ("Get", "Search", "List")
_AUDIT_ENTRIES = {"AuditEntry", "AuditLog"}
_NUMBER = re.compile(r"\d+")

# Global cluster variables belong to all tenants.
_SHARED = {"GetGlobalClusterVariable"}

OPERATIONS = [policy for policy in POLICIES.values() if policy.name not in _WAITS | _CLOCK]


def is_read(policy: Policy) -> bool:
    """Whether the operation reads entities of a tenant."""
    return policy.name.startswith(_READS) and policy.name not in _SHARED


@dataclass(frozen=True)
class Refusal:
    """Status and message of a failed call."""

    code: str
    text: str


def outcome(caller: Principal, policy: Policy, request: Any) -> Any:
    """Send the request and return the answer or the refusal."""
    try:
        return caller.send(policy, request)
    except grpc.RpcError as failure:
        return Refusal(failure.code().name, failure.details())


def compared(outcome: object, value: object) -> object:
    """Return an outcome that can be compared: without the sent reference and without keys, which differ in every answer."""
    if not isinstance(outcome, Refusal):
        return type(outcome)
    return Refusal(outcome.code, _NUMBER.sub("0", outcome.text.replace(str(value), "…")))


@dataclass(frozen=True)
class Tenants:
    """The owner has one entity of each kind, the stranger has the same in a tenant of its own.

    The visitor may act in both tenants and names the stranger's; the newcomer's tenant is empty.
    """

    mode: Mode
    owner: Principal
    owned: Facts
    stranger: Principal
    own: Facts
    visitor: Principal
    newcomer: Principal

    @cached_property
    def before(self) -> Mapping[str, object]:
        """Answers to the owner before other clients send anything."""
        return self.owners_view()

    def owners_view(self) -> Mapping[str, object]:
        """Send every read as the owner, and return the outcomes by path."""
        reads = [policy for policy in OPERATIONS if is_read(policy) and self.mode in policy.modes]
        return {
            policy.path: outcome(self.owner, policy, base_request(policy, self.owned)) for policy in reads
        }

    def batch_operations_are_over(self) -> bool:
        return all(each.end_date.seconds for each in self.stranger("SearchBatchOperations").items)

    def traces_of_owner(self, seen: Any, sent: Any) -> set[object]:
        """Return keys and names of the owner in an outcome that the request did not contain."""
        known = {str(value) for value in scalars(sent)}
        keys = {str(value) for name, value in self.owned.items() if name.endswith("_key")} - known
        if isinstance(seen, Refusal):
            rest = _without(seen.text, known)
            return {seen.text for key in keys if key in rest} | _named(seen.text, known)
        texts = set(map(_text, scalars(_without_own_requests(seen))))
        return (texts & keys).union(*(_named(text, known) for text in texts))


def _without_own_requests(seen: Any) -> Any:
    """Leave out audit entries of other tenants than the owner's: they contain references that these tenants sent."""
    items = seen.DESCRIPTOR.fields_by_name.get("items")
    if items is None or items.message_type is None or items.message_type.name not in _AUDIT_ENTRIES:
        return seen
    return type(seen)(items=[item for item in seen.items if item.tenant_id == OWNER])


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _named(text: str, known: set[str]) -> set[str]:
    """Return the text if it contains a name of the owner that is not in `known`."""
    return {text} if re.search(rf"of[-_]{OWNER}", _without(text, known)) else set()


def _without(text: str, known: set[str]) -> str:
    for each in sorted(known - {""}, key=len, reverse=True):
        text = text.replace(each, " ")
    return text
