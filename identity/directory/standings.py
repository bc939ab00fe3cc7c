"""Reads the present permissions and tenants of a principal from the store."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol

from identity.directory.authorization import AUTHORIZATIONS, MOST_AUTHORIZATIONS
from identity.directory.claims import NO_CLAIMS, Claims
from identity.directory.holdings import Givers, Held, Holder, Standing, held_by, standing_of
from identity.directory.labels import GROUPS, MOST_LABELS, ROLES
from identity.directory.mapping_rule import MAPPING_RULES, MOST_RULES
from identity.foundation.tenants import Tenants
from server.platform.call import Grant, TenantId
from server.platform.records import RecordStore

# Standings that are computed between two turns of the event loop.
_AT_A_TIME = 20


class TenantHolder(Holder, Protocol):
    @property
    def tenant_id(self) -> TenantId: ...


class Standings:
    """Labels and rules of a tenant give access to that tenant only; those of the default tenant to any."""

    def __init__(self, store: RecordStore, tenants: Tenants) -> None:
        self._roles = store.of(ROLES)
        self._groups = store.of(GROUPS)
        self._rules = store.of(MAPPING_RULES)
        self._authorizations = store.of(AUTHORIZATIONS)
        self._tenants = tenants

    async def of(self, holder: TenantHolder, claims: Claims = NO_CLAIMS) -> Standing:
        """Return the standing; `claims` are those of the token, for mapping rules. Raises Unavailable."""
        return standing_of(holder, await self._givers(holder, claims), claims)

    async def of_all(self, holders: Iterable[tuple[TenantHolder, Claims]]) -> Sequence[Standing]:
        """Return the standings of several principals of one tenant, each with its claims."""
        found: list[Standing] = []
        givers: Givers | None = None
        for holder, claims in holders:
            givers = givers or await self._givers(holder, claims)
            found.append(standing_of(holder, givers, claims))
            if len(found) % _AT_A_TIME == 0:
                # With a thousand labels each standing takes a fraction of a millisecond.
                await asyncio.sleep(0)
        return found

    async def held(self, holder: TenantHolder, claims: Claims = NO_CLAIMS) -> Held:
        """Return the roles and groups of the principal, in the same way."""
        return held_by(holder, await self._givers(holder, claims), claims)

    async def granted_to(self, tenant_id: TenantId, owner: str) -> frozenset[Grant]:
        """Return the rights that the authorizations of one owner give."""
        found = await self._authorizations.find(tenant_id, "owner", owner, most=MOST_AUTHORIZATIONS)
        return frozenset(grant for authorization in found for grant in authorization.grants)

    async def _givers(self, holder: TenantHolder, claims: Claims) -> Givers:
        home = holder.tenant_id
        return Givers(
            roles=await self._roles.page(home, most=MOST_LABELS),
            groups=await self._groups.page(home, most=MOST_LABELS),
            rules=await self._rules.page(home, most=MOST_RULES) if claims else (),
            authorizations=await self._authorizations.page(home, most=MOST_AUTHORIZATIONS),
            tenant_ids=self._tenants.ids if home == self._tenants.default.tenant_id else (home,),
        )
