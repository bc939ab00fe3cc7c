"""Tenants of one server, and what their clients see of each other."""

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
# Its answer comes when the directory changes.
_WAITS = {"AwaitDirectoryVersion"}
# Embedded mode has one clock for all tenants, and what is due when it moves is a change.
_CLOCK = {"PinClock", "ResetClock"}
_READS = ("Get", "Search", "List")
_NUMBER = re.compile(r"\d+")

# Global cluster variables belong to all tenants.
_SHARED = {"GetGlobalClusterVariable"}

OPERATIONS = [policy for policy in POLICIES.values() if policy.name not in _WAITS | _CLOCK]


def is_read(policy: Policy) -> bool:
    """Whether it shows what a tenant owns."""
    return policy.name.startswith(_READS) and policy.name not in _SHARED


@dataclass(frozen=True)
class Refusal:
    """What a client is told instead of an answer."""

    code: str
    text: str


def outcome(caller: Principal, policy: Policy, request: Any) -> Any:
    """The answer, or the refusal."""
    try:
        return caller.send(policy, request)
    except grpc.RpcError as failure:
        return Refusal(failure.code().name, failure.details())


def compared(outcome: object, value: object) -> object:
    """An outcome without the reference that was sent, and without keys that are new in every answer."""
    if not isinstance(outcome, Refusal):
        return type(outcome)
    return Refusal(outcome.code, _NUMBER.sub("0", outcome.text.replace(str(value), "…")))


@dataclass(frozen=True)
class Tenants:
    """The owner of everything, a stranger with as much of its own, and others that own nothing.

    A visitor may act for the owner and for the stranger, and does for the stranger; the newcomer's tenant is empty.
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
        """What the owner reads before anybody else asks."""
        return self.owners_view()

    def owners_view(self) -> Mapping[str, object]:
        """What the owner reads, of every kind."""
        reads = [policy for policy in OPERATIONS if is_read(policy) and self.mode in policy.modes]
        return {
            policy.path: outcome(self.owner, policy, base_request(policy, self.owned)) for policy in reads
        }

    def batch_operations_are_over(self) -> bool:
        return all(each.end_date.seconds for each in self.stranger("SearchBatchOperations").items)

    def traces_of_owner(self, seen: Any, sent: Any) -> set[object]:
        """What is the owner's in an answer or a refusal, beside what the request itself named."""
        known = {str(value) for value in scalars(sent)}
        keys = {str(value) for name, value in self.owned.items() if name.endswith("_key")} - known
        if isinstance(seen, Refusal):
            rest = _without(seen.text, known)
            return {seen.text for key in keys if key in rest} | _named(seen.text, known)
        texts = set(map(_text, scalars(seen)))
        return (texts & keys).union(*(_named(text, known) for text in texts))


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _named(text: str, known: set[str]) -> set[str]:
    """The text, if it has a name of the owner's that is not known."""
    return {text} if re.search(rf"of[-_]{OWNER}", _without(text, known)) else set()


def _without(text: str, known: set[str]) -> str:
    for each in sorted(known - {""}, key=len, reverse=True):
        text = text.replace(each, " ")
    return text
