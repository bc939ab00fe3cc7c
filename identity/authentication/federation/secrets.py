"""Client secrets and SAML keys at upstream providers, encrypted at rest under a master key."""

from contextlib import suppress
from dataclasses import replace

from identity.authentication.saml.keys import place_of
from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from identity.directory.provider import PROVIDERS, Provider
from identity.directory.providers import MOST
from server.platform.call import TenantId
from server.platform.records import Changed, RecordStore


class ProviderSecrets:
    def __init__(self, store: RecordStore, master_keys: MasterKeys) -> None:
        self._records = store.of(PROVIDERS)
        self._master_keys = master_keys

    def seal(self, secret: str, tenant_id: TenantId, provider_id: str) -> Sealed:
        return self._master_keys.seal(secret.encode(), _place(tenant_id, provider_id))

    def open(self, provider: Provider) -> str:
        """Return the client secret, empty without one; raises LostMasterKey."""
        if provider.client_secret is None:
            return ""
        place = _place(provider.tenant_id, provider.id)
        return self._master_keys.open(provider.client_secret, place).decode()

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt secrets of inactive master keys under the active one; raises LostMasterKey."""
        for provider in await self._records.page(tenant_id, most=MOST):
            resealed = self._resealed(provider)
            if resealed is not provider:
                with suppress(Changed):
                    await self._records.replace(resealed)

    def _resealed(self, provider: Provider) -> Provider:
        secret, key = provider.client_secret, provider.saml_key
        if secret is not None:
            secret = self._master_keys.resealed(secret, _place(provider.tenant_id, provider.id))
        if key is not None:
            key = self._master_keys.resealed(key, place_of(provider.tenant_id, provider.id))
        is_same = secret is provider.client_secret and key is provider.saml_key
        return provider if is_same else replace(provider, client_secret=secret, saml_key=key)


def _place(tenant_id: TenantId, provider_id: str) -> Place:
    return Place("provider", tenant_id, provider_id)
