"""Bearer tokens of SCIM applications, encrypted under the master keys."""

from contextlib import suppress
from dataclasses import replace

from identity.clients.scim_applications.application import (
    SCIM_APPLICATIONS,
    ScimApplication,
)
from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from server.platform.call import TenantId
from server.platform.records import Changed, RecordStore, every


class ScimTokens:
    def __init__(self, store: RecordStore, master_keys: MasterKeys) -> None:
        self._records = store.of(SCIM_APPLICATIONS)
        self._master_keys = master_keys

    def seal(self, token: str, tenant_id: TenantId, client_id: str) -> Sealed:
        return self._master_keys.seal(token.encode(), _place(tenant_id, client_id))

    def open(self, application: ScimApplication) -> str:
        """Raises LostMasterKey."""
        place = _place(application.tenant_id, application.id)
        return self._master_keys.open(application.bearer_token, place).decode()

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt tokens of inactive master keys under the active one; raises LostMasterKey."""
        async for application in every(self._records, tenant_id):
            place = _place(tenant_id, application.id)
            token = self._master_keys.resealed(application.bearer_token, place)
            if token is not application.bearer_token:
                with suppress(Changed):
                    await self._records.replace(replace(application, bearer_token=token))


def _place(tenant_id: TenantId, client_id: str) -> Place:
    return Place("scim_application", tenant_id, client_id)
