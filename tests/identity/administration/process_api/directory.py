"""A deployment whose directory is kept over the process API, and its callers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from identity.foundation.events.event import EVENTS
from identity.foundation.vocabulary import Permission
from identity.seeds import ClientSeed
from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.channels import error_of
from server.platform.clock import VirtualClock
from server.platform.errors import ServiceError
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.deployment import CONFIG, NOON, SECRET, Deployment, deployed

DEFAULT, ACME = TenantId("default"), TenantId("acme")

# Acts in the default tenant only, and does nothing but administer; `operator` may do everything in three tenants.
CLERK = ClientSeed(
    id="clerk", secret=SECRET, permissions=(Permission.IDENTITY_WRITE, Permission.IDENTITY_READ)
)


@dataclass(frozen=True)
class Directory:
    """`notes` are the entries of the audit log."""

    deployment: Deployment
    notes: list[AuditNote]

    async def call(
        self,
        stub: Any,
        request: Message,
        *,
        caller: str = "operator",
        acting_in: TenantId = DEFAULT,
        token: str = "",
    ) -> Any:
        """Call the RPC that the request is of, with this token or a new one of the caller."""
        token = token or (await self.deployment.issue(client_id=caller)).access_token
        metadata = (("authorization", f"Bearer {token}"), ("x-tenant-id", acting_in))
        rpc = request.DESCRIPTOR.name.removesuffix("Request")
        return await getattr(stub(self.deployment.channel), rpc)(request, metadata=metadata)

    async def refusal(self, stub: Any, request: Message, **options: Any) -> ServiceError:
        with pytest.raises(grpc.RpcError) as failure:
            await self.call(stub, request, **options)
        return error_of(failure.value)

    def noted(self) -> Sequence[tuple[str | None, ...]]:
        return [(note.operation_type, note.entity_type, note.entity_id) for note in self.notes]

    async def told(self, tenant_id: TenantId = DEFAULT) -> Sequence[tuple[str, str | None]]:
        """Types and texts of the events of a tenant, oldest first."""
        events = await self.deployment.store.of(EVENTS).page(tenant_id)
        return [(event.type, event.text) for event in events]


@asynccontextmanager
async def opened(*clients: ClientSeed, store: RecordStore | None = None) -> AsyncIterator[Directory]:
    """Run it with more clients; another store than the one in memory keeps its notes for itself."""
    notes: list[AuditNote] = []
    store = store or MemoryRecordStore(VirtualClock(pinned=NOON), notes.append)
    bootstrap = replace(CONFIG.bootstrap, clients=(*CONFIG.bootstrap.clients, CLERK, *clients))
    async with deployed(replace(CONFIG, bootstrap=bootstrap), store) as deployment:
        yield Directory(deployment, notes)
