"""Servicer for reports of requests that an edge refused while reading them.

The edge knows the credential of a caller, but not its identity. This process authenticates the caller as for
every call, and refuses the report as it would have refused the call, so a caller without permission learns
nothing about its body. Refused commands go to the audit log; unknown callers leave no entry. The rate of
entries is limited for each tenant, so that a flood of malformed requests writes little.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from google.protobuf.message import DecodeError, Message

from gnomon.engine.v1 import refusal_service_pb2 as pb
from server.access.lru import Lru
from server.platform.call import Call, TenantId
from server.platform.dispatch import Interceptor, Refused
from server.platform.errors import ERRORS, InvalidArgument, ModeNotSupported, PermissionDenied, ServiceError
from server.platform.interceptors import (
    ModeGate,
    check_permission_before_body,
    identify_request,
    select_tenant,
)
from server.platform.policy import Mode, Policy, policies_of, services
from server.rpc.refusals import tenant_of

logger = logging.getLogger(__name__)

BURST = 100
PER_SECOND = 10
MOST_TENANTS = 1_000

Seconds = Callable[[], float]


class _Left(NamedTuple):
    """The entries that a tenant may write as of a time; `is_told` is true after a log line about dropped entries."""

    entries: float
    at: float
    is_told: bool


class Allowance:
    """Rate limit of audit entries per tenant: a burst, then a number per second; `seconds` is a monotonic clock."""

    def __init__(self, seconds: Seconds) -> None:
        self._seconds = seconds
        self._left = Lru[TenantId, _Left](MOST_TENANTS)

    def take(self, tenant_id: TenantId) -> bool:
        """Take one entry of the tenant's allowance, and return whether there was one.

        Exhaustion is logged once, until the allowance is full again.
        """
        now = self._seconds()
        before = self._left.get(tenant_id) or _Left(BURST, now, is_told=False)
        count = min(float(BURST), before.entries + (now - before.at) * PER_SECOND)
        is_told = before.is_told and count < BURST
        has_one = count >= 1
        if not has_one and not is_told:
            logger.warning("refused requests are left out of the audit log", extra={"tenant_id": tenant_id})
        self._left.put(tenant_id, _Left(count - has_one, now, is_told or not has_one))
        return has_one


class RefusalServicer:
    """Servicer for refusal reports; `refused` writes the audit entry of a refused call."""

    def __init__(self, authenticate: Interceptor, mode: Mode, refused: Refused, seconds: Seconds) -> None:
        self._authenticate = authenticate
        self._check_mode = ModeGate(mode)
        self._refused = refused
        self._allowance = Allowance(seconds)
        self._policies = {
            policy.path: policy for service in services() for policy in policies_of(service).values()
        }

    async def report_refusal(self, request: pb.ReportRefusalRequest, call: Call) -> pb.ReportRefusalResponse:
        policy, kind = self._policies.get(request.rpc), ERRORS.get(request.reason)
        if policy is None or kind is None:
            raise InvalidArgument(f"expected an RPC and a reason, found {request.rpc} and {request.reason}")
        refused = Call(policy, _parsed(policy, request.request), call.metadata, peer=call.peer)
        await self._identify(refused)
        try:
            self._check(refused)
        except (ModeNotSupported, PermissionDenied) as refusal:
            self._note(refused, refusal)
            raise
        self._note(refused, kind(request.detail))
        return pb.ReportRefusalResponse()

    async def _identify(self, call: Call) -> None:
        """Authenticate the caller; raises Unauthenticated."""
        identify_request(call)
        waiting = self._authenticate(call)
        if waiting is not None:
            await waiting

    def _check(self, call: Call) -> None:
        """Check mode, tenant and permission; raises ModeNotSupported or PermissionDenied."""
        self._check_mode(call)
        try:
            select_tenant(call)
        except InvalidArgument:
            # The request is refused already; the entry goes to the caller's tenant if it has only one.
            call.tenant_id = TenantId("")
        check_permission_before_body(call)

    def _note(self, call: Call, refusal: ServiceError) -> None:
        tenant_id = tenant_of(call) if call.policy.is_audited else None
        if tenant_id is not None and self._allowance.take(tenant_id):
            self._refused(call, refusal)


def _parsed(policy: Policy, content: bytes) -> Message:
    """The parsed request; raises InvalidArgument."""
    request = policy.request()
    try:
        request.ParseFromString(content)
    except DecodeError as error:
        raise InvalidArgument(f"expected a {request.DESCRIPTOR.full_name}") from error
    return request
