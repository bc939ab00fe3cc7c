"""Refuses users from some countries and autonomous systems.

Events are bounded, because anybody can send requests from many addresses: one for an address in an hour, and
`MOST_EVENTS` in an hour for a process.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Protocol

from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.blacklist import Judgement
from identity.access.networks.config import NetworksConfig
from identity.access.networks.networks import Network
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

MOST_EVENTS = 1000
_REPORTED_FOR = timedelta(hours=1)


class Networks(Protocol):
    def of(self, address: str) -> Network: ...


class NetworkRules:
    def __init__(
        self,
        config: NetworksConfig,
        networks: Networks,
        addresses: Addresses,
        *,
        events: Events,
        clock: Clock,
        most_events: int = MOST_EVENTS,
    ) -> None:
        self._config = config
        self._networks = networks
        self._addresses = addresses
        self._events = events
        self._clock = clock
        self._most_events = most_events
        self._reported: OrderedDict[tuple[str, str], datetime] = OrderedDict()

    async def judge(self, tenant: Tenant, peer_address: str) -> Judgement:
        """Judge an address, and report a refusal."""
        if not peer_address or self._addresses.is_allowed(peer_address):
            return Judgement()
        network = self._networks.of(peer_address)
        reason = self._reason(network)
        if not reason:
            return Judgement()
        await self._report(tenant, peer_address, reason)
        return Judgement(refuses_users=True, refuses_clients=self._config.covers_clients)

    def _reason(self, network: Network) -> str:
        if self._config.refuses_country(network.country):
            return f"country {network.country or 'unknown'}"
        return f"AS{network.asn}" if network.asn in self._config.denied_asns else ""

    async def _report(self, tenant: Tenant, peer_address: str, reason: str) -> None:
        now, about = self._clock.now(), (tenant.tenant_id, self._addresses.group(peer_address))
        while self._reported and next(iter(self._reported.values())) <= now:
            self._reported.popitem(last=False)
        if about in self._reported or len(self._reported) >= self._most_events:
            return
        self._reported[about] = now + _REPORTED_FOR
        await self._events.emit(tenant.tenant_id, EventType.NETWORK_REFUSED, ip=peer_address, text=reason)
