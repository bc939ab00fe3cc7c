"""Refuses every request from a network address that an administrator blocked.

The result for an address is cached for a second, so a block takes effect within a second. While the services do not
respond, every address is admitted: endpoints that need them fail by themselves.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

import grpc
from aiohttp import web

from edge.oidc.access.browsers import Browsers
from edge.oidc.access.refusal import refused
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
    """`block` is the error for a blocked address."""

    block: ResourceExhausted | None
    fresh_until: datetime


class Admission:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, clock: Clock) -> None:
        self._blacklists = stubs.blacklists
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._clock = clock
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    async def expect(self, request: web.Request) -> None:
        """Raise Refused while the address is blocked."""
        tenant_id, address = tenant_of(request), self._browsers.peer_address(request)
        known = self._known.get((tenant_id, address))
        if known is None or known.fresh_until <= self._clock.now():
            known = await self._found(tenant_id, address)
        if known.block is not None:
            raise refused(known.block)

    def admits(self, tenant_id: str, request: web.Request) -> bool:
        """Whether the address is known to be admitted; False also when the services have to be asked."""
        known = self._known.get((tenant_id, self._browsers.peer_address(request)))
        return known is not None and known.block is None and self._clock.now() < known.fresh_until

    async def _found(self, tenant_id: str, address: str) -> _Known:
        known = _Known(await self._block(tenant_id, address), self._clock.now() + FRESH_FOR)
        self._known[tenant_id, address] = known
        self._known.move_to_end((tenant_id, address))
        if len(self._known) > _MAX_ADDRESSES:
            self._known.popitem(last=False)
        return known

    async def _block(self, tenant_id: str, address: str) -> ResourceExhausted | None:
        asked = pb.AdmitAddressRequest(tenant_id=tenant_id, peer_address=address)
        try:
            await self._blacklists.AdmitAddress(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            error = error_of(failure)
            return error if isinstance(error, ResourceExhausted) and "retry_at" in error.metadata else None
        return None
