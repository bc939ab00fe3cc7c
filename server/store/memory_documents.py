"""In-memory store of documents."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heapify, heappop, heappush

from server.platform.errors import AlreadyExists, QuotaExhausted
from server.store.config import DocumentsConfig
from server.store.stored_documents import DocumentWithContent, StoredDocument

_Address = tuple[str, str]
_LEAST_QUEUE = 100


@dataclass(slots=True)
class MemoryDocuments:
    """Expired documents are deleted when the next one is added."""

    config: DocumentsConfig
    _documents: dict[_Address, DocumentWithContent] = field(default_factory=dict)
    _linked: dict[bytes, _Address] = field(default_factory=dict)
    _expiring: list[tuple[datetime, bytes]] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)
    _sizes: Counter[str] = field(default_factory=Counter)

    async def add(self, document: StoredDocument, content: bytes, now: datetime) -> None:
        await self.forget_expired(now)
        tenant_id, address = document.tenant_id, (document.tenant_id, document.document_id)
        if address in self._documents:
            raise AlreadyExists(f"there is a document with id {document.document_id}")
        has_place = self._counts[tenant_id] < self.config.max_tenant_documents
        if not has_place or self._sizes[tenant_id] + document.size > self.config.max_tenant_bytes:
            raise QuotaExhausted("the tenant has as many documents, or bytes of them, as it may")
        self._documents[address] = document, content
        self._linked[document.link_id] = address
        self._counts[tenant_id] += 1
        self._sizes[tenant_id] += document.size
        if document.expires_at is not None:
            heappush(self._expiring, (document.expires_at, document.link_id))

    async def find(self, document_id: str, now: datetime, *, tenant_id: str) -> StoredDocument | None:
        found = self._live((tenant_id, document_id), now)
        return found[0] if found is not None else None

    async def read(self, document_id: str, now: datetime, *, tenant_id: str) -> DocumentWithContent | None:
        return self._live((tenant_id, document_id), now)

    async def read_linked(self, link_id: bytes, now: datetime) -> DocumentWithContent | None:
        address = self._linked.get(link_id)
        return self._live(address, now) if address is not None else None

    async def delete(self, document_id: str, now: datetime, *, tenant_id: str) -> bool:
        address = (tenant_id, document_id)
        if self._live(address, now) is None:
            return False
        self._drop(address)
        self._forget_deleted()
        return True

    async def forget_expired(self, now: datetime) -> int:
        forgotten = 0
        while self._expiring and self._expiring[0][0] <= now:
            _, link_id = heappop(self._expiring)
            address = self._linked.get(link_id)
            if address is not None:
                self._drop(address)
                forgotten += 1
        return forgotten

    def count(self, tenant_id: str) -> int:
        return self._counts[tenant_id]

    def remove_some(self, tenant_id: str, most: int) -> bool:
        """Remove documents of a tenant that is being removed; returns whether there were any."""
        found = [address for address in self._documents if address[0] == tenant_id][:most]
        for address in found:
            self._drop(address)
        self._forget_deleted()
        del self._counts[tenant_id], self._sizes[tenant_id]
        return bool(found)

    def _forget_deleted(self) -> None:
        """Rebuild the expiry queue when most of its entries belong to deleted documents."""
        if len(self._expiring) > 2 * len(self._documents) + _LEAST_QUEUE:
            documents = [document for document, _ in self._documents.values()]
            self._expiring = [
                (document.expires_at, document.link_id) for document in documents if document.expires_at
            ]
            heapify(self._expiring)

    def _live(self, address: _Address, now: datetime) -> DocumentWithContent | None:
        found = self._documents.get(address)
        if found is None or (found[0].expires_at is not None and found[0].expires_at <= now):
            return None
        return found

    def _drop(self, address: _Address) -> None:
        document, _ = self._documents.pop(address)
        del self._linked[document.link_id]
        self._counts[document.tenant_id] -= 1
        self._sizes[document.tenant_id] -= document.size
