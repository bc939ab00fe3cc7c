"""The rows of a tenant that is being removed, in memory."""

import asyncio
from collections.abc import Mapping, Sequence

from server.engine.keys import Key
from server.store.memory import MemoryStore
from server.store.memory_documents import MemoryDocuments
from server.store.ports import PartitionId, RemovalProgress

ROWS_AT_ONCE = 500


class MemoryTenantRows:
    """`marks` are the tenants that the only partition has marked."""

    def __init__(self, store: MemoryStore, documents: MemoryDocuments, marks: Mapping[str, int]) -> None:
        self._store = store
        self._documents = documents
        self._marks = marks
        self._clean: dict[str, int] = {}

    async def active(self, partition_id: PartitionId, tenant_id: str) -> Sequence[Key]:  # noqa: ARG002
        return self._store.active(tenant_id)

    async def delete(self, partition_id: PartitionId, tenant_id: str, until: float) -> bool:  # noqa: ARG002
        clock = asyncio.get_running_loop().time
        for part in (self._store, self._documents):
            while part.remove_some(tenant_id, ROWS_AT_ONCE):
                await asyncio.sleep(0)
                if clock() > until:
                    return False
        return True

    async def left(self, tenant_id: str) -> int:
        return self._store.count(tenant_id) + self._documents.count(tenant_id)

    async def note_clean(self, partition_id: PartitionId, tenant_id: str, number: int) -> None:  # noqa: ARG002
        self._clean[tenant_id] = number

    async def progress(self, tenant_id: str, number: int) -> RemovalProgress:
        is_marked = self._marks.get(tenant_id) == number
        is_clean = is_marked and self._clean.get(tenant_id) == number
        if not is_marked:
            self._clean.pop(tenant_id, None)
        return RemovalProgress(1, int(is_marked), int(is_clean))
