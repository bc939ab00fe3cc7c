"""Consents of a tenant's users: one per client. It grows with each grant and is withdrawn as a whole."""

from collections.abc import Sequence
from dataclasses import replace

from identity.directory.client import ClientId
from identity.directory.consents.consent import CONSENTS, Consent, Terms, pair_of
from identity.directory.user import UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, RecordStore

MOST_OF_A_USER = 1000
_ID_LENGTH = 24
_ATTEMPTS = 20


class Consents:
    def __init__(self, store: RecordStore, *, clock: Clock, randomness: Randomness) -> None:
        self._records = store.of(CONSENTS)
        self._clock = clock
        self._randomness = randomness

    async def find(self, tenant: Tenant, user_id: UserId, client_id: ClientId) -> Consent | None:
        found = await self._records.find(tenant.tenant_id, "pair", pair_of(user_id, client_id), most=1)
        return found[0] if found else None

    async def of_user(self, tenant: Tenant, user_id: UserId) -> Sequence[Consent]:
        return await self._records.find(tenant.tenant_id, "user_id", user_id, most=MOST_OF_A_USER)

    async def remember(
        self, tenant: Tenant, user_id: UserId, client_id: ClientId, *, terms: Terms
    ) -> Consent:
        """Add the granted terms to those of earlier grants."""
        for _ in range(_ATTEMPTS):
            before = await self.find(tenant, user_id, client_id)
            try:
                if before is None:
                    return await self._records.insert(self._new(tenant, user_id, client_id, terms=terms))
                widened = before.terms.widened(terms)
                return await self._records.replace(
                    replace(before, terms=widened, granted_at=self._clock.now())
                )
            except (AlreadyThere, Changed):
                continue
        raise Unavailable.untouched("too many requests give the consent at the same time")

    async def take(self, tenant: Tenant, user_id: UserId, client_id: ClientId) -> Consent | None:
        """Remove and return the consent; None when there was none."""
        consent = await self.find(tenant, user_id, client_id)
        return None if consent is None else await self._records.take(tenant.tenant_id, consent.id)

    def _new(self, tenant: Tenant, user_id: UserId, client_id: ClientId, *, terms: Terms) -> Consent:
        return Consent(
            tenant_id=tenant.tenant_id,
            id=self._randomness.alphanumeric(_ID_LENGTH),
            user_id=user_id,
            client_id=client_id,
            pair=pair_of(user_id, client_id),
            terms=terms,
            granted_at=self._clock.now(),
        )
