"""Passwords with which the provider binds at directories, encrypted at rest under a master key."""

from contextlib import suppress
from dataclasses import replace

from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from identity.directory.tenants.ldap_directory import LDAP_DIRECTORIES, MOST, LdapDirectory
from server.platform.call import TenantId
from server.platform.records import Changed, RecordStore


class LdapSecrets:
    def __init__(self, store: RecordStore, master_keys: MasterKeys) -> None:
        self._records = store.of(LDAP_DIRECTORIES)
        self._master_keys = master_keys

    def seal(self, password: str, tenant_id: TenantId, directory_id: str) -> Sealed:
        return self._master_keys.seal(password.encode(), _place(tenant_id, directory_id))

    def open(self, directory: LdapDirectory) -> str:
        """Return the password, empty without one; raises LostMasterKey."""
        if directory.bind_password is None:
            return ""
        place = _place(directory.tenant_id, directory.id)
        return self._master_keys.open(directory.bind_password, place).decode()

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt passwords of inactive master keys under the active one; raises LostMasterKey."""
        for directory in await self._records.page(tenant_id, most=MOST):
            password = directory.bind_password
            if password is None:
                continue
            resealed = self._master_keys.resealed(password, _place(tenant_id, directory.id))
            if resealed is not password:
                with suppress(Changed):
                    await self._records.replace(replace(directory, bind_password=resealed))


def _place(tenant_id: TenantId, directory_id: str) -> Place:
    return Place("ldap_directory", tenant_id, directory_id)
