"""Clients that describe themselves by a document at their client id: OAuth Client ID Metadata Document.

The client id is the address of the document. The first authorization request makes the provider read it and store the
client like one that registered itself; later requests read it again when it is older than five minutes. A document that
cannot be read counts for a day. Everyone can name any address here, so reads of unknown addresses are rare for each host
and few at a time, and refused ones are not repeated at once.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from identity.access.callers import Actor, ActorKind
from identity.clients.dynamic.document_metadata import is_document_address, metadata_in
from identity.clients.dynamic.metadata import described
from identity.clients.dynamic.registration import UNUSED_FOR
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.documents import Documents, UnreadableDocument
from identity.directory.client import CLIENTS, Client, Registration
from identity.directory.clients import Clients
from identity.directory.version import DirectoryVersion
from identity.foundation.absolute_uris import absolute_uri
from identity.foundation.errors import InvalidClientMetadata, InvalidRedirectUri
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.removals import Removals
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationMethod, ConsentMode
from server.platform.clock import Clock
from server.platform.errors import InvalidState
from server.platform.records import AlreadyThere, Changed, RecordStore

FRESH_FOR = timedelta(minutes=5)
VALID_FOR = timedelta(days=1)
PAUSE_OF_HOST = timedelta(seconds=1)
"""Between reads of unknown addresses of one host."""

PAUSE = timedelta(seconds=30)
"""Between reads of an address without a valid document."""

MOST_AT_A_TIME = 8

_MOST_REMEMBERED = 1024
_NEVER = datetime.min.replace(tzinfo=UTC)

_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(slots=True)
class _Reads:
    """The reads of one address by this process; `good_at` is the time of the last one with a valid document."""

    tried_at: datetime = _NEVER
    good_at: datetime = _NEVER
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)


class DocumentClients:
    """Looks up clients for authorization requests, and reads their documents if `is_enabled`."""

    def __init__(
        self,
        clients: Clients,
        store: RecordStore,
        *,
        is_enabled: bool,
        documents: Documents,
        destinations: Destinations,
        version: DirectoryVersion,
        events: Events,
        removals: Removals,
        clock: Clock,
    ) -> None:
        self._removals = removals
        self._clients = clients
        self._records = store.of(CLIENTS)
        self._is_enabled = is_enabled
        self._documents = documents
        self._destinations = destinations
        self._version = version
        self._events = events
        self._clock = clock
        self._reads: OrderedDict[tuple[str, str], _Reads] = OrderedDict()
        self._hosts: OrderedDict[str, datetime] = OrderedDict()
        self._places = asyncio.Semaphore(MOST_AT_A_TIME)

    async def find(self, tenant: Tenant, client_id: str) -> Client | None:
        """Return the client as its document describes it now, None without a valid document."""
        known = await self._clients.find(tenant, client_id)
        if not self._is_enabled or not is_document_address(client_id):
            return known
        if known is not None and known.registration is None:
            return known
        reads = self._reads_of(tenant, client_id)
        if self._is_due(reads, known):
            # Concurrent requests wait for the same read.
            async with reads.reading:
                if self._is_due(reads, known):
                    await self._read(tenant, client_id, reads, known)
        if known is not None and self._clock.now() - self._good_at(reads, known) >= VALID_FOR:
            return None
        return await self._clients.find(tenant, client_id)

    def _is_due(self, reads: _Reads, known: Client | None) -> bool:
        now = self._clock.now()
        if known is not None and now - self._good_at(reads, known) < FRESH_FOR:
            return False
        return now - reads.tried_at >= PAUSE and now - reads.good_at >= FRESH_FOR

    def _good_at(self, reads: _Reads, known: Client) -> datetime:
        """Return the time of the last valid document that this process knows of; another may have read it."""
        stored = known.registration.issued_at if known.registration else 0
        return max(reads.good_at, datetime.fromtimestamp(stored, UTC))

    async def _read(self, tenant: Tenant, client_id: str, reads: _Reads, known: Client | None) -> None:
        now = self._clock.now()
        if self._places.locked() or (known is None and not self._may_ask(client_id, now)):
            return
        reads.tried_at = now
        async with self._places:
            try:
                text = await self._documents.read(client_id)
                await self._keep(tenant, client_id, text, now)
            except (UnreadableDocument, InvalidClientMetadata, InvalidRedirectUri):
                return
        reads.good_at = now

    def _may_ask(self, client_id: str, now: datetime) -> bool:
        parts = absolute_uri(client_id)
        host = parts.netloc if parts is not None else ""
        if now - self._hosts.get(host, _NEVER) < PAUSE_OF_HOST:
            return False
        _remember(self._hosts, host, now)
        return True

    async def _keep(self, tenant: Tenant, client_id: str, text: str, now: datetime) -> None:
        """Store the described client; raises InvalidClientMetadata, InvalidRedirectUri."""
        before = await self._records.get(tenant.tenant_id, client_id)
        if before is not None and before.registration is None:
            return
        client = before or Client(
            tenant_id=tenant.tenant_id,
            id=client_id,
            expires_at=now + UNUSED_FOR,
            token_endpoint_auth_method=AuthenticationMethod.NONE,
            tenant_ids=(tenant.tenant_id,),
            requires_pkce=True,
            # No administrator has reviewed the client, so its users are asked for consent.
            consent=ConsentMode.ONCE,
        )
        metadata = metadata_in(text, client)
        after = described(client, metadata, self._destinations)
        registration = Registration(
            token_hash=b"", issued_at=int(now.timestamp()), application_type=metadata.application_type
        )
        kept = replace(after, registration=registration)
        try:
            if before is None:
                await self._removals.finish(tenant.tenant_id, CLIENTS, client_id)
                await self._records.insert(kept)
            else:
                await self._records.replace(kept)
        except (AlreadyThere, Changed, InvalidState):
            # Another process has read the document, or an administrator has changed the client or just deleted it.
            return
        if before is None or replace(kept, registration=before.registration) != before:
            await self._version.advance(kept.id)
            await self._tell(EventType.CREATED if before is None else EventType.CHANGED, kept)

    async def _tell(self, event_type: EventType, client: Client) -> None:
        await self._events.emit(
            client.tenant_id,
            event_type,
            text=f"client {client.id}",
            client_id=client.id,
            actor=Actor(ActorKind.CLIENT, client.id, client.name),
        )

    def _reads_of(self, tenant: Tenant, client_id: str) -> _Reads:
        key = (tenant.tenant_id, client_id)
        reads = self._reads.get(key) or _Reads()
        _remember(self._reads, key, reads)
        return reads


def _remember(remembered: OrderedDict[_K, _V], key: _K, value: _V) -> None:
    remembered[key] = value
    remembered.move_to_end(key)
    if len(remembered) > _MOST_REMEMBERED:
        remembered.popitem(last=False)
