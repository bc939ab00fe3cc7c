"""Maps the host of a request to its tenant.

The host only selects among tenants with a hostname; an unknown host counts as the deployment's own. The result for a
host is cached for a second.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiohttp import hdrs, web

from edge.oidc.access.peers import Peers
from edge.oidc.config import OidcConfig
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import tenant_service_pb2 as pb
from server.platform.clock import Clock

FRESH_FOR = timedelta(seconds=1)

_MAX_LENGTH = 253
_MAX_HOSTS = 1024


@dataclass(frozen=True, slots=True)
class _Known:
    tenant_id: str
    fresh_until: datetime


class Hosts:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, peers: Peers, clock: Clock) -> None:
        self._tenants = stubs.tenants
        self._timeout = config.call_timeout_seconds
        self._peers = peers
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def tenant_at(self, request: web.Request) -> str:
        """Return the tenant's id, empty for a host of no tenant."""
        known = self.known_tenant(request)
        return await self._found(normalised(self._asked_host(request))) if known is None else known

    def known_tenant(self, request: web.Request) -> str | None:
        """Return the tenant's id like `tenant_at`, None when the services have to be asked."""
        host = normalised(self._asked_host(request))
        if not host:
            return ""
        known = self._known.get(host)
        return None if known is None or known.fresh_until <= self._clock.now() else known.tenant_id

    async def _found(self, host: str) -> str:
        asked = pb.FindTenantOfHostRequest(host=host)
        found = await self._tenants.FindTenantOfHost(asked, timeout=self._timeout)
        known = _Known(found.tenant_id, self._clock.now() + FRESH_FOR)
        self._known[host] = known
        self._known.move_to_end(host)
        if len(self._known) > _MAX_HOSTS:
            self._known.popitem(last=False)
        return found.tenant_id

    def _asked_host(self, request: web.Request) -> str:
        """Return the requested host; of several values, the last one is from the trusted proxy."""
        forwarded = request.headers.getall(hdrs.X_FORWARDED_HOST, ())
        if forwarded and self._peers.is_trusted(request):
            return forwarded[-1].rpartition(",")[2]
        return request.headers.get(hdrs.HOST, "")


def normalised(host: str) -> str:
    """Return a host in lower case without port and final dot, empty for an impossible one."""
    name = host.strip().partition(":")[0].lower().removesuffix(".")
    return name if name.isascii() and name.isprintable() and len(name) <= _MAX_LENGTH else ""
