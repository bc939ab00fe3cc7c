"""Addresses that nothing is answered to: those that guessed too often, and those that administrators name.

A block is of one tenant. It stands with the failures of its address, so that both have one end.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from identity.events.events import Actor, Events
from identity.events.kinds import EventType
from identity.sign_in.addresses import Addresses, is_address
from identity.sign_in.failures import BLOCK, AddressFailures
from identity.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound, Unavailable
from server.platform.records import AlreadyThere, Changed, Records

MOST_LISTED = 10_000
LONGEST_BLOCK = timedelta(days=3660)
_ATTEMPTS = 5


class Blacklist:
    def __init__(
        self, records: Records[AddressFailures], addresses: Addresses, *, events: Events, clock: Clock
    ) -> None:
        self._records = records
        self._addresses = addresses
        self._events = events
        self._clock = clock

    async def admit(self, tenant: Tenant, peer_address: str) -> None:
        """Raise ResourceExhausted while the address is blocked; its metadata `retry_at` is in Unix seconds."""
        if self._addresses.is_allowed(peer_address):
            return
        kept = await self._records.get(tenant.tenant_id, self._addresses.group(peer_address))
        if kept is not None:
            kept.expect_admitted(self._clock.now())

    async def blocked(self, tenant: Tenant) -> Sequence[tuple[str, datetime]]:
        """List the addresses that are blocked now, and until when each is."""
        now = self._clock.now()
        kept = await self._records.find(tenant.tenant_id, "block", BLOCK, most=MOST_LISTED)
        return [
            (address.id, address.blocked_until)
            for address in kept
            if address.blocked_until is not None and now < address.blocked_until
        ]

    async def block(self, tenant: Tenant, address: str, *, until: datetime, actor: Actor) -> None:
        """Block it up to then and no longer, whatever was before; raises InvalidArgument."""
        now = self._clock.now()
        if not is_address(address):
            raise InvalidArgument("ip: expected an IP address")
        if self._addresses.is_allowed(address):
            raise InvalidArgument("ip: the address is of a network that is never blocked")
        if not now < until <= now + LONGEST_BLOCK:
            raise InvalidArgument(f"exp: expected a time within the next {LONGEST_BLOCK.days} days")
        group = self._addresses.group(address)
        await self._keep(tenant, group, until)
        await self._events.emit(
            tenant.tenant_id,
            EventType.IP_BLACKLISTED,
            ip=group,
            data=int(until.timestamp()),
            actor=actor,
        )

    async def unblock(self, tenant: Tenant, address: str, *, actor: Actor) -> None:
        """Begin anew with the address, its failures forgotten; raises NotFound when it is not blocked."""
        group = self._addresses.group(address)
        kept = await self._records.get(tenant.tenant_id, group)
        if kept is None or kept.blocked_until is None or kept.blocked_until <= self._clock.now():
            raise NotFound("the address is not blocked")
        await self._records.take(tenant.tenant_id, group)
        await self._events.emit(tenant.tenant_id, EventType.IP_BLACKLIST_REMOVED, ip=group, actor=actor)

    async def _keep(self, tenant: Tenant, group: str, until: datetime) -> None:
        for _ in range(_ATTEMPTS):
            kept = await self._records.get(tenant.tenant_id, group)
            before = kept or AddressFailures(tenant_id=tenant.tenant_id, id=group, expires_at=until)
            blocked = before.blocked_up_to(until).kept_for(until)
            try:
                await (self._records.insert if kept is None else self._records.replace)(blocked)
            except (AlreadyThere, Changed):
                continue
            return
        raise Unavailable("the address fails to sign in all the time")
