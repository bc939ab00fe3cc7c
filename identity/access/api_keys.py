"""The API keys of a tenant.

A caller presents the name of the key, a dollar sign and the secret. A key that administers other keys cannot give them
rights that it lacks, and cannot change keys with more rights. Otherwise it could reach the rights of the strongest key.
"""

import hmac
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from identity.access.api_key import API_KEYS, Access, ApiKey
from identity.access.callers import Actor
from identity.directory.secrets import SecretHasher
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound, PermissionDenied
from server.platform.records import AlreadyThere, Changed, RecordStore

MOST_LISTED = 1000

_SEPARATOR = "$"
_SECRET_LENGTH = 64


class ApiKeys:
    """Finds the key that a caller presents."""

    def __init__(self, store: RecordStore, secrets: SecretHasher) -> None:
        self._records = store.of(API_KEYS)
        self._secrets = secrets
        self._decoy = secrets.hash("")

    async def find(self, tenant: Tenant, text: str) -> ApiKey | None:
        """Return the key with this name and secret, or None when there is none or it has expired."""
        name, _, secret = text.partition(_SEPARATOR)
        key = await self._records.get(tenant.tenant_id, name) if name else None
        presented = self._secrets.hash(secret)
        is_right = hmac.compare_digest(presented, key.secret_hash if key else self._decoy)
        return key if key is not None and is_right and secret else None


class ApiKeyAdministration:
    def __init__(
        self,
        store: RecordStore,
        secrets: SecretHasher,
        *,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._records = store.of(API_KEYS)
        self._secrets = secrets
        self._events = events
        self._clock = clock
        self._randomness = randomness

    async def all(self, tenant: Tenant) -> Sequence[ApiKey]:
        return await self._records.page(tenant.tenant_id, most=MOST_LISTED)

    async def create(
        self,
        tenant: Tenant,
        name: str,
        *,
        access: Sequence[Access],
        expires_at: datetime | None,
        actor: Actor,
    ) -> str:
        """Create a key and return its full text; raises AlreadyExists, InvalidArgument, PermissionDenied."""
        await self._expect_covered(tenant, access, actor)
        self._expect_ahead(expires_at)
        secret = self._randomness.alphanumeric(_SECRET_LENGTH)
        key = ApiKey(
            tenant_id=tenant.tenant_id,
            id=name,
            expires_at=expires_at,
            secret_hash=self._secrets.hash(secret),
            created_at=self._clock.now(),
        ).with_access(access)
        try:
            await self._records.insert(key)
        except AlreadyThere as error:
            raise AlreadyExists("there is an API key with this name", field="name") from error
        await self._tell(EventType.CREATED, key, actor)
        return f"{name}{_SEPARATOR}{secret}"

    async def change(
        self,
        tenant: Tenant,
        name: str,
        *,
        access: Sequence[Access],
        expires_at: datetime | None,
        actor: Actor,
    ) -> ApiKey:
        """Raises NotFound, InvalidState, InvalidArgument, PermissionDenied."""
        key = await self._find(tenant, name, actor)
        await self._expect_covered(tenant, access, actor)
        self._expect_ahead(expires_at)
        changed = await self._replace(replace(key.with_access(access), expires_at=expires_at))
        await self._tell(EventType.CHANGED, changed, actor)
        return changed

    async def rotate(self, tenant: Tenant, name: str, *, actor: Actor) -> str:
        """Return the text that callers present after this call; raises NotFound, InvalidState, PermissionDenied."""
        key = await self._find(tenant, name, actor)
        secret = self._randomness.alphanumeric(_SECRET_LENGTH)
        await self._replace(replace(key, secret_hash=self._secrets.hash(secret)))
        await self._tell(EventType.CHANGED, key, actor)
        return f"{name}{_SEPARATOR}{secret}"

    async def delete(self, tenant: Tenant, name: str, *, actor: Actor) -> None:
        """Raises NotFound, PermissionDenied."""
        key = await self._find(tenant, name, actor)
        await self._records.take(tenant.tenant_id, name)
        await self._tell(EventType.DELETED, key, actor)

    async def _find(self, tenant: Tenant, name: str, actor: Actor) -> ApiKey:
        key = await self._records.get(tenant.tenant_id, name)
        if key is None:
            raise NotFound("there is no such API key")
        await self._expect_covered(tenant, key.all_access, actor)
        return key

    async def _expect_covered(self, tenant: Tenant, access: Sequence[Access], actor: Actor) -> None:
        if not actor.is_api_key:
            return
        own = await self._records.get(tenant.tenant_id, actor.id)
        if own is None or not own.covers(access):
            raise PermissionDenied("the caller lacks some of the rights of the key")

    def _expect_ahead(self, expires_at: datetime | None) -> None:
        if expires_at is not None and expires_at <= self._clock.now():
            raise InvalidArgument("exp: expected a time in the future")

    async def _replace(self, key: ApiKey) -> ApiKey:
        try:
            return await self._records.replace(key)
        except Changed as error:
            raise InvalidState("another caller changed the API key in the meantime") from error

    async def _tell(self, event_type: EventType, key: ApiKey, actor: Actor) -> None:
        await self._events.emit(
            key.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=f"api_key {key.name}",
            actor=actor,
        )
