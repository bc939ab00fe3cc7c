"""Session records without their CSRF tokens.

The CSRF token of a session is a keyed hash of its id, so the database need not have it: a record holds a keyed hash of
the token. A session that the previous version created has the token itself in its record until it ends.
"""

from collections.abc import Sequence
from dataclasses import replace

from identity.access.sessions.session import Session
from identity.directory.secrets import SecretHasher
from server.platform.call import TenantId
from server.platform.records import Records

CSRF_TOKEN_LENGTH = 32

# Tokens of the previous version are letters and digits, so none begins with this sign.
_HASHED = "#"


class SessionRecords:
    """Sessions have their token in memory only; every read adds it, and every write removes it."""

    def __init__(self, records: Records[Session], hasher: SecretHasher) -> None:
        self._records = records
        self._hasher = hasher

    def csrf_token(self, session_id: str) -> str:
        """Return the token of the session with this id."""
        return self._hasher.hash(f"csrf token {session_id}").hex()[:CSRF_TOKEN_LENGTH]

    async def get(self, tenant_id: TenantId, session_id: str) -> Session | None:
        found = await self._records.get(tenant_id, session_id)
        return None if found is None else self._read(found)

    async def find(self, tenant_id: TenantId, field: str, text: str, *, most: int) -> Sequence[Session]:
        return [self._read(found) for found in await self._records.find(tenant_id, field, text, most=most)]

    async def insert(self, session: Session) -> Session:
        return self._read(await self._records.insert(self._written(session)))

    async def replace(self, session: Session) -> Session:
        """Raises Changed."""
        return self._read(await self._records.replace(self._written(session)))

    async def take(self, tenant_id: TenantId, session_id: str) -> Session | None:
        taken = await self._records.take(tenant_id, session_id)
        return None if taken is None else self._read(taken)

    def _read(self, record: Session) -> Session:
        if not record.csrf_token.startswith(_HASHED):
            return record
        return replace(record, csrf_token=self.csrf_token(record.id))

    def _written(self, session: Session) -> Session:
        if session.csrf_token != self.csrf_token(session.id):
            return session
        return replace(session, csrf_token=f"{_HASHED}{self._hasher.hash(session.csrf_token).hex()}")
