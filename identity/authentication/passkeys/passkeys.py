"""The passkeys of users."""

from collections.abc import Sequence

from identity.authentication.passkeys.passkey import CredentialId, Passkey, owned_name
from identity.authentication.passkeys.relying_party import relying_party_of
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.records import Records

MOST_OF_A_USER = 16


class Passkeys:
    """A tenant sees only passkeys with its own relying party id; browsers would not offer others."""

    def __init__(self, records: Records[Passkey]) -> None:
        self._records = records

    async def of(self, tenant: Tenant, user_id: UserId) -> Sequence[Passkey]:
        found = await self._records.find(tenant.tenant_id, "user_id", user_id, most=MOST_OF_A_USER)
        rp_id = relying_party_of(tenant).rp_id
        return [passkey for passkey in found if passkey.rp_id == rp_id]

    async def find(self, tenant: Tenant, credential_id: CredentialId) -> Passkey | None:
        found = await self._records.get(tenant.tenant_id, credential_id)
        is_ours = found is not None and found.rp_id == relying_party_of(tenant).rp_id
        return found if is_ours else None

    async def find_named(self, tenant: Tenant, user_id: UserId, name: str) -> Passkey | None:
        named = owned_name(user_id, name)
        found = await self._records.find(tenant.tenant_id, "owned_name", named, most=1)
        return found[0] if found else None

    async def add(self, passkey: Passkey) -> Passkey:
        """Raises AlreadyThere when an account has the credential, or the user has another passkey with the name."""
        return await self._records.insert(passkey)

    async def replace(self, passkey: Passkey) -> Passkey:
        """Raises Changed when the passkey was used concurrently."""
        return await self._records.replace(passkey)

    async def take(self, passkey: Passkey) -> bool:
        """Remove it; False when another caller did so before."""
        return await self._records.take(passkey.tenant_id, passkey.id) is not None
