"""Documents of tenants: files that processes refer to. The engine does not know them.

A document never changes: it is added, read, and deleted or expired. Readers no longer find an expired
document; its bytes are deleted some time later.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from server.engine.keys import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """Metadata of a document; `content_hash` is the SHA-256 of its bytes in hexadecimal digits.

    Links contain `link_id` and are signed with `link_key`; neither is available elsewhere.
    """

    tenant_id: str
    document_id: str
    content_type: str
    file_name: str
    content_hash: str
    size: int
    created_at: datetime
    expires_at: datetime | None = None
    process_definition_id: str | None = None
    process_instance_key: Key | None = None
    custom_properties: bytes = b"{}"
    link_id: bytes
    link_key: bytes = field(repr=False)


DocumentWithContent = tuple[StoredDocument, bytes]


class DocumentStore(Protocol):
    """The port for documents; every method may raise Unavailable."""

    async def add(self, document: StoredDocument, content: bytes, now: datetime) -> None:
        """Add a document; raises AlreadyExists or QuotaExhausted."""
        ...

    async def find(self, document_id: str, now: datetime, *, tenant_id: str) -> StoredDocument | None: ...

    async def read(
        self, document_id: str, now: datetime, *, tenant_id: str
    ) -> DocumentWithContent | None: ...

    async def read_linked(self, link_id: bytes, now: datetime) -> DocumentWithContent | None:
        """The document of any tenant with this link id."""
        ...

    async def delete(self, document_id: str, now: datetime, *, tenant_id: str) -> bool:
        """Delete a document; returns whether it existed."""
        ...

    async def forget_expired(self, now: datetime) -> int:
        """Delete expired documents in bounded steps; returns their number."""
        ...
