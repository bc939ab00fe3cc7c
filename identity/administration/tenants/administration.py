"""Administration of tenants; each change emits an event.

A change applies in this process at once, and in others within a second. Settings are read when they are needed, so a
change of them applies everywhere at once.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from identity.directory.client import CLIENTS, Client
from identity.directory.own_clients import own_clients
from identity.directory.tenants.default_groups import DefaultGroups
from identity.directory.tenants.hostnames import hostname_of
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, RemovalPhase, TenantRecord
from identity.directory.user import USERS
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Actor
from identity.foundation.events.kinds import EventType
from identity.foundation.searches import RecordSearch, listed
from identity.foundation.tenants import Tenant, Tenants, tenant_id_of
from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound
from server.platform.query import Condition, Field, FieldType, Operator, Page, Query
from server.platform.records import AlreadyThere, Changed, RecordStore

EXISTING = Condition(Field("deleted_at", FieldType.DATE_TIME), Operator.EXISTS, operand=False)
"""The condition that a tenant was not deleted."""


class Directory(Protocol):
    async def heed(self, tenant_id: TenantId) -> None: ...


class Removal(Protocol):
    async def remove_all_of(self, tenant_id: TenantId) -> None: ...


class Keys(Protocol):
    def prepare(self, tenant_id: TenantId) -> None:
        """Have signing keys made in advance."""
        ...


class Events(Protocol):
    async def emit(self, tenant_id: TenantId, event_type: EventType, *, text: str, actor: Actor) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantProperties:
    """Requested properties of a tenant; an empty name stands for its id, an empty hostname for none.

    The description counts for a new tenant only.
    """

    name: str = ""
    description: str | None = None
    hostname: str = ""
    is_enabled: bool = True


class TenantAdministration:
    def __init__(
        self,
        tenants: Tenants,
        directory: Directory,
        removal: Removal,
        *,
        keys: Keys,
        version: DirectoryVersion,
        events: Events,
        store: RecordStore,
        clock: Clock,
    ) -> None:
        self._tenants = tenants
        self._directory = directory
        self._removal = removal
        self._keys = keys
        self._version = version
        self._events = events
        self._store = store
        self._records = store.of(TENANTS)
        self._default_groups = DefaultGroups(store)
        self._clock = clock

    async def page(
        self, wanted: RecordSearch, page_size: int, continuation_token: str
    ) -> tuple[Sequence[TenantRecord], str]:
        """Return a page of tenants by id, and the continuation token of the next one; raises InvalidArgument."""
        return await listed(
            self._records,
            DEPLOYMENT,
            wanted,
            EXISTING,
            page_size=page_size,
            continuation_token=continuation_token,
        )

    async def of_ids(self, tenant_ids: Collection[TenantId]) -> Sequence[TenantRecord]:
        """Return those of the tenants that exist, by id."""
        found = await self._records.find_any(DEPLOYMENT, "id", tenant_ids)
        return [record for record in found if record.deleted_at is None]

    async def search(self, query: Query) -> Page[TenantRecord]:
        """Return the page of a query over the records of tenants, deleted ones included."""
        return await self._records.search(DEPLOYMENT, query)

    async def get(self, tenant_id: str) -> TenantRecord:
        """Raises NotFound."""
        record = await self._records.get(DEPLOYMENT, tenant_id)
        if record is None or record.deleted_at is not None:
            raise NotFound("there is no such tenant")
        return record

    async def shown(self, tenant_id: str) -> TenantRecord:
        """Return a tenant, even while it is being removed; raises NotFound."""
        record = await self._records.get(DEPLOYMENT, tenant_id)
        if record is None:
            raise NotFound("there is no such tenant")
        return record

    async def create(
        self,
        text: str,
        properties: TenantProperties,
        settings: TenantSettings,
        *,
        actor: Actor,
        note: AuditNote | None = None,
    ) -> TenantRecord:
        """Raises InvalidArgument, AlreadyExists, InvalidState.

        A new tenant has no groups, so default groups in `settings` are refused.
        """
        try:
            tenant_id = tenant_id_of(text)
        except ValueError as error:
            raise InvalidArgument(
                "id: expected at most 32 of a-z, 0-9 and inner hyphens, and no reserved name"
            ) from error
        await self._default_groups.expect(tenant_id, settings.default_groups)
        record = TenantRecord(
            tenant_id=DEPLOYMENT,
            id=tenant_id,
            name=properties.name or tenant_id,
            description=properties.description,
            hostname=self._hostname(properties),
            is_enabled=properties.is_enabled,
            settings=settings,
            created_at=self._clock.now(),
        )
        try:
            kept = await self._records.insert(record, note=note)
        except AlreadyThere as error:
            raise AlreadyExists(
                f"there is a tenant with this {error.field}, or one is being removed"
            ) from error
        created = await self._heeded(kept, EventType.TENANT_CREATED, actor)
        self._keys.prepare(tenant_id)
        return created

    async def change(self, tenant_id: str, properties: TenantProperties, *, actor: Actor) -> TenantRecord:
        """Raises NotFound, InvalidArgument, InvalidState, AlreadyExists."""
        record = await self.get(tenant_id)
        hostname = self._hostname(properties)
        if record.own_id == self._tenants.default.tenant_id and (hostname or not properties.is_enabled):
            raise InvalidState("the default tenant is always enabled, at the host of the configuration")
        changed = replace(
            record, name=properties.name or record.id, hostname=hostname, is_enabled=properties.is_enabled
        )
        return await self._heeded(await self._replaced(changed), EventType.TENANT_CHANGED, actor)

    async def describe(
        self, tenant_id: str, name: str, description: str | None, *, actor: Actor, note: AuditNote
    ) -> TenantRecord:
        """Raises NotFound, InvalidState."""
        described = replace(await self.get(tenant_id), name=name, description=description)
        return await self._heeded(await self._replaced(described, note), EventType.TENANT_CHANGED, actor)

    async def change_settings(
        self, tenant_id: str, settings: TenantSettings, *, actor: Actor
    ) -> TenantRecord:
        """Raises NotFound, InvalidArgument, InvalidState."""
        record = replace(await self.get(tenant_id), settings=settings)
        await self._default_groups.expect(record.own_id, settings.default_groups)
        return await self._heeded(await self._replaced(record), EventType.TENANT_CHANGED, actor)

    async def delete(self, tenant_id: str, *, actor: Actor, note: AuditNote | None = None) -> None:
        """Raises NotFound, and InvalidState when it has users."""
        record = await self.get(tenant_id)
        if await self._store.of(USERS).page(record.own_id, most=1):
            raise InvalidState("the tenant has users; force its deletion to delete them too")
        await self._delete(record, actor, note)

    async def delete_with_users(self, tenant_id: str, *, actor: Actor) -> None:
        """Raises NotFound, InvalidState."""
        await self._delete(await self.get(tenant_id), actor)

    async def _delete(self, record: TenantRecord, actor: Actor, note: AuditNote | None = None) -> None:
        if record.own_id == self._tenants.default.tenant_id:
            raise InvalidState("the default tenant cannot be deleted")
        # The tenant is no longer served before its records are removed; its hostname becomes available.
        deleted = replace(
            record, hostname="", deleted_at=self._clock.now(), removal=RemovalPhase.CLEARING, rows_left=None
        )
        if note is not None and note.tenant_id == record.own_id:
            # Entries of the tenant are removed with it.
            note = replace(note, tenant_id=self._tenants.default.tenant_id)
        await self._replaced(deleted, note)
        await self._directory.heed(record.own_id)
        await self._version.advance()
        await self._tell(record, EventType.TENANT_DELETED, actor)
        await self._removal.remove_all_of(record.own_id)

    async def _replaced(self, record: TenantRecord, note: AuditNote | None = None) -> TenantRecord:
        try:
            return await self._records.replace(record, note=note)
        except AlreadyThere as error:
            raise AlreadyExists(f"there is a tenant with this {error.field}") from error
        except Changed as error:
            raise InvalidState("another caller changed the tenant in the meantime") from error

    async def _heeded(self, record: TenantRecord, event_type: EventType, actor: Actor) -> TenantRecord:
        await self._keep_own_clients(record)
        await self._directory.heed(record.own_id)
        await self._version.advance()
        await self._tell(record, event_type, actor)
        return record

    async def _keep_own_clients(self, record: TenantRecord) -> None:
        issuer = self._tenants.issuer_of(record.own_id, record.hostname)
        for wanted in own_clients(Tenant(record.own_id, issuer)):
            await self._keep_client(wanted)

    async def _keep_client(self, wanted: Client) -> None:
        clients = self._store.of(CLIENTS)
        kept = await clients.get(wanted.tenant_id, wanted.id)
        try:
            if kept is None:
                await clients.insert(wanted)
            elif kept.redirect_uris != wanted.redirect_uris:
                await clients.replace(replace(wanted, revision=kept.revision))
        except (AlreadyThere, Changed) as error:
            raise InvalidState("another caller changed the tenant in the meantime") from error

    async def _tell(self, record: TenantRecord, event_type: EventType, actor: Actor) -> None:
        # An event of the default tenant, whose administrators manage tenants; records of the tenant itself may be gone.
        await self._events.emit(self._tenants.default.tenant_id, event_type, text=record.id, actor=actor)

    def _hostname(self, properties: TenantProperties) -> str:
        if not properties.hostname:
            return ""
        try:
            hostname = hostname_of(properties.hostname)
        except ValueError as error:
            raise InvalidArgument(str(error)) from error
        if hostname == self._tenants.own_host:
            raise InvalidArgument("hostname: expected another one than the deployment's own")
        return hostname
