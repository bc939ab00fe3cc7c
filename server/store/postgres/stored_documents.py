"""Documents in PostgreSQL.

Each tenant has a row with its counts. Every statement that adds or deletes documents locks it first, so
statements cannot deadlock.
"""

from datetime import datetime

import asyncpg

from server.platform.errors import AlreadyExists, QuotaExhausted
from server.platform.postgres.database import Database
from server.store.config import DocumentsConfig
from server.store.stored_documents import DocumentWithContent, StoredDocument

FORGOTTEN_AT_ONCE = 500
_COLUMNS = """tenant_id, document_id, content_type, file_name, content_hash, size, created_at, expires_at,
    process_definition_id, process_instance_key, custom_properties, link_id, link_key"""

_IS_LIVE = "(expires_at IS NULL OR expires_at > {})"
_IS_EXPIRED = "expires_at <= {}"


class PostgresDocuments:
    def __init__(self, database: Database, config: DocumentsConfig) -> None:
        self._database = database
        self._config = config

    async def add(self, document: StoredDocument, content: bytes, now: datetime) -> None:
        try:
            await self._add(document, content)
        except asyncpg.UniqueViolationError:
            if not await self._drop(document.document_id, _IS_EXPIRED, now, tenant_id=document.tenant_id):
                raise _already_there(document) from None
            await self._add_again(document, content)

    async def find(self, document_id: str, now: datetime, *, tenant_id: str) -> StoredDocument | None:
        text = f"""
            SELECT {_COLUMNS} FROM gnomon.stored_document
            WHERE tenant_id = $1 AND document_id = $2 AND {_IS_LIVE.format("$3")}
        """  # noqa: S608  # names of ours
        rows = await self._database.fetch(text, tenant_id, document_id, now)
        return StoredDocument(**rows[0]) if rows else None

    async def read(self, document_id: str, now: datetime, *, tenant_id: str) -> DocumentWithContent | None:
        text = f"""
            SELECT {_COLUMNS}, content FROM gnomon.stored_document
            WHERE tenant_id = $1 AND document_id = $2 AND {_IS_LIVE.format("$3")}
        """  # noqa: S608  # names of ours
        return _with_content(await self._database.fetch(text, tenant_id, document_id, now))

    async def read_linked(self, link_id: bytes, now: datetime) -> DocumentWithContent | None:
        text = f"""
            SELECT {_COLUMNS}, content FROM gnomon.stored_document
            WHERE link_id = $1 AND {_IS_LIVE.format("$2")}
        """  # noqa: S608  # names of ours
        return _with_content(await self._database.fetch(text, link_id, now))

    async def delete(self, document_id: str, now: datetime, *, tenant_id: str) -> bool:
        return await self._drop(document_id, _IS_LIVE, now, tenant_id=tenant_id)

    async def forget_expired(self, now: datetime) -> int:
        forgotten, text = (
            0,
            """
            SELECT tenant_id FROM gnomon.stored_document WHERE expires_at <= $1 ORDER BY expires_at LIMIT 1
        """,
        )
        while first := await self._database.fetch(text, now):
            some = await self._forget(first[0][0], now)
            if not some:
                break
            forgotten += some
        return forgotten

    async def _add_again(self, document: StoredDocument, content: bytes) -> None:
        """Add a document after an expired one with its id was deleted."""
        try:
            await self._add(document, content)
        except asyncpg.UniqueViolationError:
            raise _already_there(document) from None

    async def _add(self, document: StoredDocument, content: bytes) -> None:
        text = f"""
            WITH counted AS (
                INSERT INTO gnomon.stored_document_usage AS usage (tenant_id, documents, bytes)
                VALUES ($1, 1, $6)
                ON CONFLICT (tenant_id) DO UPDATE
                SET documents = usage.documents + 1, bytes = usage.bytes + excluded.bytes
                WHERE usage.documents < $15 AND usage.bytes + excluded.bytes <= $16
                RETURNING tenant_id
            ), added AS (
                INSERT INTO gnomon.stored_document ({_COLUMNS}, content)
                SELECT tenant_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 FROM counted
                RETURNING 1
            )
            SELECT count(*) FROM added
        """  # noqa: S608  # names of ours
        found = await self._database.fetch(
            text,
            document.tenant_id,
            document.document_id,
            document.content_type,
            document.file_name,
            document.content_hash,
            document.size,
            document.created_at,
            document.expires_at,
            document.process_definition_id,
            document.process_instance_key,
            document.custom_properties,
            document.link_id,
            document.link_key,
            content,
            self._config.max_tenant_documents,
            self._config.max_tenant_bytes,
        )
        if not found[0][0]:
            raise QuotaExhausted("the tenant has as many documents, or bytes of them, as it may")

    async def _drop(self, document_id: str, condition: str, now: datetime, *, tenant_id: str) -> bool:
        text = f"""
            WITH held AS (
                SELECT tenant_id FROM gnomon.stored_document_usage WHERE tenant_id = $1 FOR UPDATE
            ), gone AS (
                DELETE FROM gnomon.stored_document AS document USING held
                WHERE document.tenant_id = held.tenant_id AND document_id = $2 AND {condition.format("$3")}
                RETURNING size
            ), freed AS (
                UPDATE gnomon.stored_document_usage AS usage
                SET documents = documents - 1, bytes = bytes - gone.size FROM gone WHERE usage.tenant_id = $1
            )
            SELECT count(*) FROM gone
        """  # noqa: S608  # names of ours
        return bool((await self._database.fetch(text, tenant_id, document_id, now))[0][0])

    async def _forget(self, tenant_id: str, now: datetime) -> int:
        """Delete some expired documents of a tenant, oldest first; returns their number."""
        text = """
            WITH held AS (
                SELECT tenant_id FROM gnomon.stored_document_usage WHERE tenant_id = $1 FOR UPDATE
            ), old AS (
                SELECT document_id FROM gnomon.stored_document AS document JOIN held USING (tenant_id)
                WHERE expires_at <= $2 ORDER BY expires_at LIMIT $3
            ), gone AS (
                DELETE FROM gnomon.stored_document AS document USING old
                WHERE tenant_id = $1 AND document.document_id = old.document_id AND expires_at <= $2
                RETURNING size
            ), total AS (
                SELECT count(*) AS documents, coalesce(sum(size), 0) AS bytes FROM gone
            ), freed AS (
                UPDATE gnomon.stored_document_usage AS usage
                SET documents = usage.documents - total.documents, bytes = usage.bytes - total.bytes
                FROM total WHERE usage.tenant_id = $1
            )
            SELECT documents FROM total
        """
        return int((await self._database.fetch(text, tenant_id, now, FORGOTTEN_AT_ONCE))[0][0])


def _already_there(document: StoredDocument) -> AlreadyExists:
    return AlreadyExists(f"there is a document with id {document.document_id}")


def _with_content(rows: list[asyncpg.Record]) -> DocumentWithContent | None:
    if not rows:
        return None
    (row,) = rows
    known = {name: value for name, value in row.items() if name != "content"}
    return StoredDocument(**known), row["content"]
