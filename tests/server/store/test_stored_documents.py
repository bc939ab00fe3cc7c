"""Documents of tenants, the same in memory and in PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import asyncpg
import pytest

from server.engine.keys import Key
from server.platform.errors import AlreadyExists, QuotaExhausted, ServiceError
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.config import DocumentsConfig
from server.store.memory_documents import MemoryDocuments
from server.store.postgres.stored_documents import PostgresDocuments
from server.store.stored_documents import DocumentStore, StoredDocument

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SMALL = DocumentsConfig(max_kib=1, max_tenant_documents=3, max_tenant_mib=1)

NewDocuments = Callable[[DocumentsConfig], AbstractAsyncContextManager[DocumentStore]]


@asynccontextmanager
async def in_memory_documents(config: DocumentsConfig) -> AsyncIterator[DocumentStore]:
    yield MemoryDocuments(config)


@asynccontextmanager
async def in_postgres_documents(dsn: str, config: DocumentsConfig) -> AsyncIterator[DocumentStore]:
    async with open_pool(dsn, 4) as pool:
        await pool.execute("DELETE FROM gnomon.stored_document; DELETE FROM gnomon.stored_document_usage")
        yield PostgresDocuments(PooledDatabase(pool), config)


@pytest.fixture(params=["memory", "postgres"])
def new_documents(request: pytest.FixtureRequest) -> NewDocuments:
    if request.param == "memory":
        return in_memory_documents
    return partial(in_postgres_documents, request.getfixturevalue("durable_dsn"))


@pytest.fixture
async def documents(new_documents: NewDocuments) -> AsyncIterator[DocumentStore]:
    async with new_documents(SMALL) as opened:
        yield opened


def document(name: str, tenant_id: str = "acme", size: int = 3, **others: object) -> StoredDocument:
    known = StoredDocument(
        tenant_id=tenant_id,
        document_id=name,
        content_type="text/plain",
        file_name=f"{name}.txt",
        content_hash="c0ffee",
        size=size,
        created_at=NOW,
        link_id=f"{tenant_id} {name}".encode(),
        link_key=b"key",
    )
    return replace(known, **others)  # type: ignore[arg-type]  # names of fields


async def found(documents: DocumentStore, *names: str, now: datetime = NOW) -> list[str]:
    return [name for name in names if await documents.find(name, now, tenant_id="acme") is not None]


async def test_a_document_is_read_as_it_was_added(documents: DocumentStore) -> None:
    whole = document(
        "a",
        expires_at=NOW + SECOND,
        process_definition_id="order",
        process_instance_key=Key(7),
        custom_properties=b'{"a": "\\u0000"}',
    )
    await documents.add(whole, b"\x00\xff\n", NOW)

    assert await documents.find("a", NOW, tenant_id="acme") == whole
    assert await documents.read("a", NOW, tenant_id="acme") == (whole, b"\x00\xff\n")
    assert await documents.read_linked(b"acme a", NOW) == (whole, b"\x00\xff\n")


async def test_what_is_not_there_is_not_found(documents: DocumentStore) -> None:
    assert await documents.find("a", NOW, tenant_id="acme") is None
    assert await documents.read("a", NOW, tenant_id="acme") is None
    assert await documents.read_linked(b"acme a", NOW) is None
    assert not await documents.delete("a", NOW, tenant_id="acme")


async def test_an_id_is_taken_within_its_tenant(documents: DocumentStore) -> None:
    await documents.add(document("a"), b"one", NOW)
    await documents.add(document("a", "other"), b"two", NOW)

    with pytest.raises(AlreadyExists, match="a"):
        await documents.add(document("a", link_id=b"another"), b"new", NOW)

    first, second = [await documents.read("a", NOW, tenant_id=tenant) for tenant in ("acme", "other")]
    assert first is not None
    assert second is not None
    assert (first[1], second[1]) == (b"one", b"two")


async def test_another_tenant_neither_reads_nor_deletes_it(documents: DocumentStore) -> None:
    await documents.add(document("a"), b"one", NOW)

    assert await documents.find("a", NOW, tenant_id="other") is None
    assert await documents.read("a", NOW, tenant_id="other") is None
    assert not await documents.delete("a", NOW, tenant_id="other")
    assert await found(documents, "a") == ["a"]


async def test_a_deleted_document_is_gone_and_its_id_is_free(documents: DocumentStore) -> None:
    await documents.add(document("a"), b"one", NOW)

    assert await documents.delete("a", NOW, tenant_id="acme")

    assert await documents.read_linked(b"acme a", NOW) is None
    assert not await documents.delete("a", NOW, tenant_id="acme")
    await documents.add(document("a"), b"two", NOW)


async def test_an_expired_document_is_gone_before_it_leaves(documents: DocumentStore) -> None:
    await documents.add(document("a", expires_at=NOW + SECOND), b"one", NOW)
    later = NOW + SECOND

    assert await documents.find("a", later, tenant_id="acme") is None
    assert await documents.read("a", later, tenant_id="acme") is None
    assert await documents.read_linked(b"acme a", later) is None
    assert not await documents.delete("a", later, tenant_id="acme")


async def test_the_id_of_an_expired_document_is_free(documents: DocumentStore) -> None:
    await documents.add(document("a", expires_at=NOW + SECOND), b"one", NOW)

    await documents.add(document("a", link_id=b"new"), b"two", NOW + SECOND)

    content = await documents.read("a", NOW + SECOND, tenant_id="acme")
    assert content is not None
    assert content[1] == b"two"
    assert await documents.read_linked(b"acme a", NOW) is None


async def test_expired_documents_leave(documents: DocumentStore) -> None:
    for name, seconds in (("a", 1), ("b", 2), ("c", 3)):
        await documents.add(document(name, expires_at=NOW + seconds * SECOND), b"one", NOW)
    await documents.delete("b", NOW, tenant_id="acme")

    assert await documents.forget_expired(NOW) == 0
    assert await documents.forget_expired(NOW + 2 * SECOND) == 1
    assert await documents.forget_expired(NOW + 2 * SECOND) == 0

    assert await found(documents, "a", "b", "c") == ["c"]


async def test_a_tenant_has_a_number_of_documents_and_not_more(documents: DocumentStore) -> None:
    for name in ("a", "b", "c"):
        await documents.add(document(name, expires_at=NOW + SECOND), b"one", NOW)

    with pytest.raises(QuotaExhausted):
        await documents.add(document("d"), b"one", NOW)

    await documents.add(document("d", "other"), b"one", NOW)
    await documents.delete("a", NOW, tenant_id="acme")
    await documents.add(document("d"), b"one", NOW)
    await documents.forget_expired(NOW + SECOND)
    await documents.add(document("e"), b"one", NOW + SECOND)
    await documents.add(document("f"), b"one", NOW + SECOND)
    with pytest.raises(QuotaExhausted):
        await documents.add(document("g"), b"one", NOW + SECOND)


async def test_a_tenant_has_a_number_of_bytes_and_not_more(documents: DocumentStore) -> None:
    half = SMALL.max_tenant_bytes // 2
    await documents.add(document("a", size=half), b"", NOW)
    await documents.add(document("b", size=half), b"", NOW)

    with pytest.raises(QuotaExhausted):
        await documents.add(document("c", size=1), b"", NOW)

    await documents.delete("a", NOW, tenant_id="acme")
    await documents.add(document("c", size=half), b"", NOW)


async def test_documents_that_come_at_once_keep_to_the_bounds(documents: DocumentStore) -> None:
    names = [f"n{number % 6}" for number in range(24)]

    outcomes = await asyncio.gather(
        *(
            documents.add(document(name, link_id=str(number).encode()), b"one", NOW)
            for number, name in enumerate(names)
        ),
        return_exceptions=True,
    )

    refused = [outcome for outcome in outcomes if outcome is not None]
    assert len(outcomes) - len(refused) == 3
    assert all(isinstance(refusal, ServiceError) for refusal in refused)
    assert len(await found(documents, *sorted(set(names)))) == 3


async def test_additions_deletions_and_expiry_at_once_count_right(new_documents: NewDocuments) -> None:
    config = DocumentsConfig(max_kib=1, max_tenant_documents=40, max_tenant_mib=1)
    async with new_documents(config) as documents:
        for number in range(20):
            await documents.add(document(f"old{number}", expires_at=NOW + SECOND), b"one", NOW)
            await documents.add(document(f"gone{number}"), b"one", NOW)

        await asyncio.gather(
            *(documents.delete(f"gone{number}", NOW, tenant_id="acme") for number in range(20)),
            *(documents.forget_expired(NOW + SECOND) for _ in range(3)),
        )
        names = [f"new{number}" for number in range(41)]
        outcomes = await asyncio.gather(
            *(documents.add(document(name), b"one", NOW + SECOND) for name in names), return_exceptions=True
        )

        assert [type(outcome) for outcome in outcomes if outcome is not None] == [QuotaExhausted]


async def test_expiry_is_found_by_an_index(durable_dsn: str) -> None:
    connection = await asyncpg.connect(durable_dsn)
    try:
        await connection.execute("SET enable_seqscan = off")
        plan = await connection.fetch(
            "EXPLAIN SELECT tenant_id FROM gnomon.stored_document WHERE expires_at <= now() ORDER BY expires_at LIMIT 1"
        )
    finally:
        await connection.close()

    text = "\n".join(row[0] for row in plan)
    assert "stored_document_expiry" in text
    assert "Sort" not in text
