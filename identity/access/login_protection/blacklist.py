"""Blocked network addresses, as administrators list, set and lift them.

An address that an administrator blocks is refused everything. Login protection blocks only sign-ins; its blocks are
listed beside those of administrators and lifted in the same way. Blocks belong to one tenant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from identity.access.login_protection.addresses import Addresses, is_address
from identity.access.login_protection.failures import BLOCK, AddressFailures, BlockScope
from identity.foundation.events.events import Actor, Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound, Unavailable
from server.platform.records import AlreadyThere, Changed, Records

MOST_LISTED = 10_000
LONGEST_BLOCK = timedelta(days=3660)
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedAddress:
    """`reach` is the widest block of the address, `until` the end of that block."""

    address: str
    until: datetime
    reach: BlockScope


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether users at an address are refused, and clients too."""

    refuses_users: bool = False
    refuses_clients: bool = False


class NetworkRules(Protocol):
    async def judge(self, tenant: Tenant, peer_address: str) -> Judgement: ...


class Blacklist:
    def __init__(
        self,
        records: Records[AddressFailures],
        addresses: Addresses,
        *,
        rules: NetworkRules,
        events: Events,
        clock: Clock,
    ) -> None:
        self._records = records
        self._addresses = addresses
        self._rules = rules
        self._events = events
        self._clock = clock

    async def admit(self, tenant: Tenant, peer_address: str) -> Judgement:
        """Raise ResourceExhausted while an administrator blocks the address, else return what rules say.

        Its metadata `retry_at` is in Unix seconds.
        """
        if self._addresses.is_allowed(peer_address):
            return Judgement()
        kept = await self._records.get(tenant.tenant_id, self._addresses.group(peer_address))
        if kept is not None:
            kept.expect_answered(self._clock.now())
        return await self._rules.judge(tenant, peer_address)

    async def blocked(self, tenant: Tenant) -> Sequence[BlockedAddress]:
        """List the addresses that are blocked now, at most `MOST_LISTED`."""
        now = self._clock.now()
        kept = await self._records.find(tenant.tenant_id, "block", BLOCK, most=MOST_LISTED)
        widest = ((address.id, next(address.blocks(now), None)) for address in kept)
        return [
            BlockedAddress(address=address, until=block[1], reach=block[0])
            for address, block in widest
            if block is not None
        ]

    async def block(self, tenant: Tenant, address: str, *, until: datetime, actor: Actor) -> None:
        """Block an address exactly until this time, whatever blocks it had; raises InvalidArgument."""
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
        """Lift every block of the address and forget its failures; raises NotFound when it is not blocked."""
        group = self._addresses.group(address)
        kept = await self._records.get(tenant.tenant_id, group)
        if kept is None or next(kept.blocks(self._clock.now()), None) is None:
            raise NotFound("the address is not blocked")
        await self._records.take(tenant.tenant_id, group)
        await self._events.emit(tenant.tenant_id, EventType.IP_BLACKLIST_REMOVED, ip=group, actor=actor)

    async def _keep(self, tenant: Tenant, group: str, until: datetime) -> None:
        for _ in range(_ATTEMPTS):
            kept = await self._records.get(tenant.tenant_id, group)
            before = kept or AddressFailures(tenant_id=tenant.tenant_id, id=group, expires_at=until)
            blocked = before.with_everything_blocked(until)
            try:
                await (self._records.insert if kept is None else self._records.replace)(blocked)
            except (AlreadyThere, Changed):
                continue
            return
        raise Unavailable("too many sign-ins from this address fail at the same time; try again")
