"""The key with which a tenant signs SAML messages.

Applications store its certificate, so it does not rotate with the keys of tokens.
"""

import asyncio
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field, replace

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.x509 import Certificate

from identity.authentication.saml.certificates import text_of_certificate
from identity.authentication.saml.keys import SamlKeys, SealedKey
from identity.crypto.keys.master_keys import Place, Sealed
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

_ID = "saml-signing-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlSigningKey(Record):
    """`certificate` is base64 of DER."""

    key: Sealed = field(repr=False)
    certificate: str


SAML_SIGNING_KEYS = Kind(SamlSigningKey, "saml_signing_key")


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
        stored = await self._records.get(tenant.tenant_id, _ID) or await self._made(tenant)
        known = self._opened.get(tenant.tenant_id)
        if known is None or known.certificate_text != stored.certificate:
            sealed = SealedKey(stored.key, stored.certificate)
            known = SigningPair(*self._keys.open_at(_place(tenant.tenant_id), sealed))
            self._opened[tenant.tenant_id] = known
        return known

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt the key under the active master key; raises LostMasterKey."""
        stored = await self._records.get(tenant_id, _ID)
        if stored is None:
            return
        key = self._keys.resealed(_place(tenant_id), stored.key)
        if key is not stored.key:
            with suppress(Changed):
                await self._records.replace(replace(stored, key=key))

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


def _place(tenant_id: TenantId) -> Place:
    return Place("saml_signing_key", tenant_id, _ID)
