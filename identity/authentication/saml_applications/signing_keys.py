"""The key with which a tenant signs SAML messages.

Applications store its certificate, so it does not rotate with the keys of tokens: an administrator creates the next key,
gives its certificate to the applications, and then activates it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.x509 import Certificate

from identity.authentication.saml.certificates import text_of_certificate
from identity.authentication.saml.keys import SamlKeys, SealedKey
from identity.crypto.keys.master_keys import Place, Sealed
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.errors import InvalidState, Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

_ID = "saml-signing-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlSigningKey(Record):
    """Certificates are base64 of DER; without a next key its fields are empty."""

    key: Sealed = field(repr=False)
    certificate: str
    next_key: Sealed | None = field(default=None, repr=False)
    next_certificate: str = ""

    @property
    def certificates(self) -> tuple[str, ...]:
        """Return the certificates of the metadata, the active one first."""
        return (self.certificate, self.next_certificate) if self.next_key else (self.certificate,)


SAML_SIGNING_KEYS = Kind(SamlSigningKey, "saml_signing_key", owners=())


@dataclass(frozen=True, slots=True)
class SigningPair:
    key: RSAPrivateKey = field(repr=False)
    certificate: Certificate

    @property
    def certificate_text(self) -> str:
        return text_of_certificate(self.certificate)


class SamlSigningKeys:
    def __init__(self, store: RecordStore, keys: SamlKeys) -> None:
        self._records = store.of(SAML_SIGNING_KEYS)
        self._keys = keys
        self._opened: dict[TenantId, SigningPair] = {}
        self._making: defaultdict[TenantId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def of(self, tenant: Tenant) -> SigningPair:
        """Return the key, which is made at the first call of a tenant; raises Unavailable, LostMasterKey."""
        stored = await self._stored(tenant)
        known = self._opened.get(tenant.tenant_id)
        if known is None or known.certificate_text != stored.certificate:
            sealed = SealedKey(stored.key, stored.certificate)
            known = SigningPair(*self._keys.open_at(_place(tenant.tenant_id), sealed))
            self._opened[tenant.tenant_id] = known
        return known

    async def certificates(self, tenant: Tenant) -> Sequence[str]:
        """Return the certificates of the metadata, the active one first; raises Unavailable."""
        return (await self._stored(tenant)).certificates

    async def create_next(self, tenant: Tenant) -> SamlSigningKey:
        """Create the next key, which does not sign yet.

        Raises InvalidState if there is a next key or another caller changed the keys, Unavailable.
        """
        stored = await self._stored(tenant)
        if stored.next_key:
            raise InvalidState("there is a next key: activate or delete it first")
        made = await self._keys.make_at(_place(tenant.tenant_id), tenant.tenant_id)
        return await self._replaced(replace(stored, next_key=made.key, next_certificate=made.certificate))

    async def activate_next(self, tenant: Tenant) -> SamlSigningKey:
        """Make the next key sign; raises InvalidState without one, or if another caller changed the keys."""
        stored = await self._stored(tenant)
        if stored.next_key is None:
            raise _no_next_key()
        activated = replace(stored, key=stored.next_key, certificate=stored.next_certificate)
        return await self._replaced(replace(activated, next_key=None, next_certificate=""))

    async def delete_next(self, tenant: Tenant) -> None:
        """Raises InvalidState without a next key, or if another caller changed the keys."""
        stored = await self._stored(tenant)
        if stored.next_key is None:
            raise _no_next_key()
        await self._replaced(replace(stored, next_key=None, next_certificate=""))

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt the keys under the active master key; raises LostMasterKey."""
        stored = await self._records.get(tenant_id, _ID)
        if stored is None:
            return
        place = _place(tenant_id)
        key = self._keys.resealed(place, stored.key)
        next_key = stored.next_key and self._keys.resealed(place, stored.next_key)
        if key is not stored.key or next_key is not stored.next_key:
            with suppress(Changed):
                await self._records.replace(replace(stored, key=key, next_key=next_key))

    async def _stored(self, tenant: Tenant) -> SamlSigningKey:
        return await self._records.get(tenant.tenant_id, _ID) or await self._made(tenant)

    async def _replaced(self, record: SamlSigningKey) -> SamlSigningKey:
        try:
            return await self._records.replace(record)
        except Changed as error:
            raise InvalidState("another caller changed the keys in the meantime") from error

    async def _made(self, tenant: Tenant) -> SamlSigningKey:
        async with self._making[tenant.tenant_id]:
            stored = await self._records.get(tenant.tenant_id, _ID)
            if stored is not None:
                return stored
            made = await self._keys.make_at(_place(tenant.tenant_id), tenant.tenant_id)
            record = SamlSigningKey(
                tenant_id=tenant.tenant_id, id=_ID, key=made.key, certificate=made.certificate
            )
            try:
                return await self._records.insert(record)
            except AlreadyThere as error:
                stored = await self._records.get(tenant.tenant_id, _ID)
                if stored is None:
                    raise Unavailable.untouched("the SAML key is being made by another process") from error
                return stored


def _no_next_key() -> InvalidState:
    return InvalidState("there is no next key: create one first")


def _place(tenant_id: TenantId) -> Place:
    return Place("saml_signing_key", tenant_id, _ID)
