"""Consents that a user gave to clients: list and withdraw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from identity.access.callers import Actor
from identity.directory.authorization_details.detail_types import DetailTypes, ShownDetail
from identity.directory.client import Client, ClientId
from identity.directory.consents.consent import Consent
from identity.directory.user import UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import NotFound


class Consents(Protocol):
    async def of_user(self, tenant: Tenant, user_id: UserId) -> Sequence[Consent]: ...

    async def take(self, tenant: Tenant, user_id: UserId, client_id: ClientId) -> Consent | None: ...


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class Codes(Protocol):
    async def remove(self, tenant: Tenant, user_id: UserId, client_id: ClientId) -> None: ...


class TokenSets(Protocol):
    async def remove_of_client_of_user(self, tenant: Tenant, client_id: str, *, user_id: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ListedConsent:
    consent: Consent
    client_name: str
    details: Sequence[ShownDetail]


class ConsentAdministration:
    def __init__(
        self,
        consents: Consents,
        clients: Clients,
        *,
        details: DetailTypes,
        codes: Codes,
        token_sets: TokenSets,
        events: Events,
    ) -> None:
        self._consents = consents
        self._clients = clients
        self._details = details
        self._codes = codes
        self._token_sets = token_sets
        self._events = events

    async def of_user(self, tenant: Tenant, user_id: UserId) -> Sequence[ListedConsent]:
        found = await self._consents.of_user(tenant, user_id)
        return [await self._listed(tenant, consent) for consent in found]

    async def withdraw(self, tenant: Tenant, user_id: UserId, client_id: ClientId, *, actor: Actor) -> None:
        """Withdraw the consent and revoke the client's codes and tokens of this user; raises NotFound."""
        consent = await self._consents.take(tenant, user_id, client_id)
        # Codes first, so that the client cannot redeem one meanwhile. Without a consent as well: an earlier call may
        # have been interrupted after it took the consent.
        await self._codes.remove(tenant, user_id, client_id)
        await self._token_sets.remove_of_client_of_user(tenant, client_id, user_id=user_id)
        if consent is None:
            raise NotFound("there is no consent for this client")
        await self._events.emit(
            tenant.tenant_id,
            EventType.CONSENT_WITHDRAWN,
            text=" ".join(consent.terms.oauth_scopes),
            user_id=user_id,
            client_id=client_id,
            actor=actor,
        )

    async def _listed(self, tenant: Tenant, consent: Consent) -> ListedConsent:
        details = await self._details.shown(tenant, consent.terms.authorization_details)
        return ListedConsent(consent, await self._name(tenant, consent), details)

    async def _name(self, tenant: Tenant, consent: Consent) -> str:
        client = await self._clients.find(tenant, consent.client_id)
        return client.name if client is not None else ""
