"""Administration of the keys with which a tenant signs SAML messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cryptography.hazmat.primitives.hashes import SHA256

from identity.access.callers import Actor
from identity.authentication.saml.certificates import certificate_of
from identity.authentication.saml_applications.signing_keys import SamlSigningKeys
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant


@dataclass(frozen=True, slots=True)
class ListedSamlKey:
    """`certificate` is base64 of DER, `fingerprint` its SHA-256 in hexadecimal digits."""

    is_active: bool
    certificate: str
    fingerprint: str
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class SamlKeyAdministration:
    keys: SamlSigningKeys
    events: Events

    async def all(self, tenant: Tenant) -> Sequence[ListedSamlKey]:
        """Return the active key and the next one; raises Unavailable."""
        return _listed(await self.keys.certificates(tenant))

    async def create_next(self, tenant: Tenant, *, actor: Actor) -> Sequence[ListedSamlKey]:
        """Raises InvalidState if there is a next key, Unavailable."""
        kept = await self.keys.create_next(tenant)
        await self._tell(tenant, EventType.CREATED, "Next SAML key", actor)
        return _listed(kept.certificates)

    async def activate_next(self, tenant: Tenant, *, actor: Actor) -> Sequence[ListedSamlKey]:
        """Raises InvalidState without a next key."""
        kept = await self.keys.activate_next(tenant)
        await self._tell(tenant, EventType.CHANGED, "Active SAML key", actor)
        return _listed(kept.certificates)

    async def delete_next(self, tenant: Tenant, *, actor: Actor) -> None:
        """Raises InvalidState without a next key."""
        await self.keys.delete_next(tenant)
        await self._tell(tenant, EventType.DELETED, "Next SAML key", actor)

    async def _tell(self, tenant: Tenant, event_type: EventType, text: str, actor: Actor) -> None:
        await self.events.emit(
            tenant.tenant_id, event_type, ip=actor.peer_address or None, text=text, actor=actor
        )


def _listed(certificates: Sequence[str]) -> Sequence[ListedSamlKey]:
    active, *others = certificates
    return [_key(active, is_active=True), *(_key(text, is_active=False) for text in others)]


def _key(text: str, *, is_active: bool) -> ListedSamlKey:
    certificate = certificate_of(text)
    return ListedSamlKey(
        is_active,
        text,
        certificate.fingerprint(SHA256()).hex(),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
    )
