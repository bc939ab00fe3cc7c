"""Reads the present permissions and tenants of a principal from the store.

Only what the principal holds is read: its roles and groups by name, the rules that its claims meet, and the
authorizations of all these. The cost does not depend on how many others the tenant has.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Protocol

from identity.directory.authorization import AUTHORIZATIONS
from identity.directory.claims import NO_CLAIMS, Claims
from identity.directory.holdings import Givers, Held, Holder, Standing, held_by, owners_of, standing_of
from identity.directory.labels import GROUPS, ROLES
from identity.directory.mapping_rule import MAPPING_RULES, claim_text
from identity.foundation.tenants import Tenants
from server.platform.call import Grant, TenantId
from server.platform.records import RecordStore

# Standings that are computed between two turns of the event loop.
_AT_A_TIME = 20
# Principals whose roles, groups, rules and authorizations are read together.
_READ_TOGETHER = 100


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
        return standing_of(holder, await self._givers(holder.tenant_id, [(holder, claims)]), claims)

    async def of_all(self, holders: Iterable[tuple[TenantHolder, Claims]]) -> Sequence[Standing]:
        """Return the standings of several principals of one tenant, each with its claims."""
        found: list[Standing] = []
        rest = iter(holders)
        while together := list(islice(rest, _READ_TOGETHER)):
            givers = await self._givers(together[0][0].tenant_id, together)
            for holder, claims in together:
                found.append(standing_of(holder, givers, claims))
                if len(found) % _AT_A_TIME == 0:
                    await asyncio.sleep(0)
        return found

    async def held(self, holder: TenantHolder, claims: Claims = NO_CLAIMS) -> Held:
        """Return the roles and groups of the principal, in the same way."""
        return held_by(holder, await self.labels_of(holder.tenant_id, [(holder, claims)]), claims)

    async def granted_to(self, tenant_id: TenantId, owner: str) -> frozenset[Grant]:
        """Return the rights that the authorizations of one owner give."""
        found = await self._authorizations.find_any(tenant_id, "owner", (owner,))
        return frozenset(grant for authorization in found for grant in authorization.grants)

    async def _givers(self, home: TenantId, holders: Sequence[tuple[TenantHolder, Claims]]) -> Givers:
        """Return all that gives something to these principals."""
        givers = await self.labels_of(home, holders)
        owners = frozenset(
            owner
            for holder, claims in holders
            for owner in owners_of(holder, held_by(holder, givers, claims))
        )
        found = await self._authorizations.find_any(home, "owner", owners)
        is_default = home == self._tenants.default.tenant_id
        return Givers(
            roles=givers.roles,
            groups=givers.groups,
            rules=givers.rules,
            authorizations=found,
            tenant_ids=self._tenants.known if is_default else (home,),
        )

    async def labels_of(self, home: TenantId, holders: Sequence[tuple[TenantHolder, Claims]]) -> Givers:
        """Return the rules, groups and roles of these principals."""
        claimed = frozenset(text for _, claims in holders for text in _claim_texts(claims))
        rules = await self._rules.find_any(home, "claim", claimed)
        group_names = chain(
            _each(holder.groups for holder, _ in holders), _each(rule.groups for rule in rules)
        )
        groups = await self._groups.find_any(home, "name", frozenset(group_names))
        role_names = chain(
            _each(holder.roles for holder, _ in holders),
            _each(rule.roles for rule in rules),
            _each(group.roles for group in groups),
        )
        roles = await self._roles.find_any(home, "name", frozenset(role_names))
        return Givers(roles=roles, groups=groups, rules=rules)


def _claim_texts(claims: Claims) -> Iterator[str]:
    return (claim_text(name, value) for name, values in claims.items() for value in values)


_each = chain.from_iterable
