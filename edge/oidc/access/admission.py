"""Refuses every request from a network address that an administrator blocked, and users where network rules say so.

The result for an address is cached for a second, so a block takes effect within a second. While the services do not
respond, every address is admitted: endpoints that need them fail by themselves.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

import grpc
from aiohttp import hdrs, web

from edge.oidc.access.browsers import Browsers
from edge.oidc.access.refusal import network_refused, refused
from edge.oidc.access.request_policy import Coverage
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import blacklist_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.clock import Clock
from server.platform.errors import ResourceExhausted

FRESH_FOR = timedelta(seconds=1)

_MAX_ADDRESSES = 4096


@dataclass(frozen=True, slots=True)
class _Known:
    """`block` is the error for a blocked address, `judgement` the result for another one."""

    block: ResourceExhausted | None
    judgement: pb.AdmitAddressResponse
    fresh_until: datetime

    def refuses(self, request: web.Request, coverage: Coverage) -> bool:
        """Whether network rules refuse the request."""
        if coverage is Coverage.NONE or not self.judgement.refuses_users:
            return False
        if self.judgement.refuses_clients or coverage is Coverage.USERS:
            return True
        return coverage is Coverage.SESSIONS and hdrs.AUTHORIZATION not in request.headers


class Admission:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, clock: Clock) -> None:
        self._blacklists = stubs.blacklists
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._clock = clock
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    async def expect(self, request: web.Request, coverage: Coverage) -> None:
        """Raise Refused while the address is blocked, and for requests that network rules refuse there."""
        tenant_id, address = tenant_of(request), self._browsers.peer_address(request)
        known = self._known.get((tenant_id, address))
        if known is None or known.fresh_until <= self._clock.now():
            known = await self._found(tenant_id, address)
        if known.block is not None:
            raise refused(known.block)
        if known.refuses(request, coverage):
            raise network_refused()

    def admits(self, tenant_id: str, request: web.Request) -> bool:
        """Whether the address is known to be admitted; False also when the services have to be asked."""
        known = self._known.get((tenant_id, self._browsers.peer_address(request)))
        return known is not None and known.block is None and self._clock.now() < known.fresh_until

    async def _found(self, tenant_id: str, address: str) -> _Known:
        block, judgement = await self._judged(tenant_id, address)
        known = _Known(block, judgement, self._clock.now() + FRESH_FOR)
        self._known[tenant_id, address] = known
        self._known.move_to_end((tenant_id, address))
        if len(self._known) > _MAX_ADDRESSES:
            self._known.popitem(last=False)
        return known

    async def _judged(
        self, tenant_id: str, address: str
    ) -> tuple[ResourceExhausted | None, pb.AdmitAddressResponse]:
        asked = pb.AdmitAddressRequest(tenant_id=tenant_id, peer_address=address)
        try:
            return None, await self._blacklists.AdmitAddress(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            error = error_of(failure)
            block = error if isinstance(error, ResourceExhausted) and "retry_at" in error.metadata else None
            return block, pb.AdmitAddressResponse()
