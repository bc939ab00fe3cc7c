"""Access tokens that were revoked individually, kept until they would have expired."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from identity.directory.version import DirectoryVersion
from identity.foundation.tenants import Tenant
from server.platform.records import AlreadyThere, Kind, Record, RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedToken(Record):
    """`id` is the token's `jti`."""


REVOKED_TOKENS = Kind(RevokedToken, "revoked_token", owners=())


class RevokedTokens:
    def __init__(self, records: RecordStore, version: DirectoryVersion) -> None:
        self._revoked = records.of(REVOKED_TOKENS)
        self._version = version

    async def add(self, tenant: Tenant, jti: str, *, until: datetime) -> None:
        """Revoke a token on all nodes."""
        with suppress(AlreadyThere):
            await self._revoked.insert(RevokedToken(tenant_id=tenant.tenant_id, id=jti, expires_at=until))
        # Also if another caller revoked it: its announcement may be missing.
        await self._version.advance(jti)

    async def has(self, tenant: Tenant, jti: str) -> bool:
        return await self._revoked.get(tenant.tenant_id, jti) is not None
