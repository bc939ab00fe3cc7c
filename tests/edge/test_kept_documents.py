"""The cache of published documents, with a clock of its own and a service whose calls are counted."""

import asyncio
from dataclasses import dataclass, field

import pytest

from edge.kept_documents import FRESH_SECONDS, MOST_BYTES, REVALIDATED, Document, KeptDocuments
from identity.crypto.keys.key_ring import FRESH_FOR
from identity.crypto.keys.stored import ANNOUNCED_FOR
from server.platform.document_revision import DocumentRevision
from server.platform.errors import Unavailable

NAME = ("metadata", "acme")


@dataclass
class Cache:
    """`content` is what the service answers; `started` and `released` are the times of its call."""

    now: float = 0.0
    content: bytes = b"before"
    calls: int = 0
    revision: DocumentRevision = field(default_factory=DocumentRevision)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.released.set()
        self.documents = KeptDocuments(self.revision, time=lambda: self.now)

    async def make(self, _tenant: str) -> Document:
        self.calls += 1
        content = self.content
        self.started.set()
        await self.released.wait()
        return Document(content, caching=REVALIDATED)

    async def body(self) -> bytes:
        return (await self.documents.get(NAME, self.make)).body


@pytest.fixture
def cache() -> Cache:
    return Cache()


async def test_a_document_is_made_once_within_a_second(cache: Cache) -> None:
    bodies = [await cache.body() for _ in range(3)]

    assert bodies == [b"before"] * 3
    assert cache.calls == 1


async def test_a_change_of_this_process_counts_at_once(cache: Cache) -> None:
    await cache.body()

    cache.content = b"after"
    cache.revision.advance()

    assert await cache.body() == b"after"


async def test_a_change_of_another_process_counts_after_a_second(cache: Cache) -> None:
    await cache.body()

    cache.content = b"after"
    cache.now = FRESH_SECONDS

    assert await cache.body() == b"after"


async def test_the_second_begins_with_the_call_of_the_service(cache: Cache) -> None:
    cache.released.clear()
    first = asyncio.ensure_future(cache.body())
    await cache.started.wait()

    cache.now, cache.content = FRESH_SECONDS, b"after"
    cache.released.set()
    await first

    assert await cache.body() == b"after"


async def test_a_change_while_a_document_is_made_leaves_no_outdated_copy(cache: Cache) -> None:
    cache.released.clear()
    first = asyncio.ensure_future(cache.body())
    await cache.started.wait()

    cache.content = b"after"
    cache.revision.advance()
    cache.released.set()
    await first

    assert await cache.body() == b"after"


async def test_concurrent_requests_share_one_call(cache: Cache) -> None:
    cache.released.clear()
    requests = [asyncio.ensure_future(cache.body()) for _ in range(64)]
    await cache.started.wait()

    cache.released.set()

    assert await asyncio.gather(*requests) == [b"before"] * 64
    assert cache.calls == 1


async def test_a_request_that_gives_up_leaves_the_call_to_the_next_one(cache: Cache) -> None:
    cache.released.clear()
    impatient, patient = asyncio.ensure_future(cache.body()), asyncio.ensure_future(cache.body())
    await cache.started.wait()

    impatient.cancel()
    cache.released.set()

    assert await patient == b"before"


async def test_a_failure_is_not_kept(cache: Cache) -> None:
    async def fail(_tenant: str) -> Document:
        raise Unavailable("the store is not available")

    with pytest.raises(Unavailable):
        await cache.documents.get(NAME, fail)

    assert await cache.body() == b"before"


async def test_memory_is_bounded_over_10_000_tenants() -> None:
    documents = KeptDocuments(time=lambda: 0.0)

    async def make(_tenant: str) -> Document:
        return Document(b"x" * 5_000, caching=REVALIDATED)

    for number in range(10_000):
        await documents.get(("metadata", f"tenant-{number}"), make)

    assert documents.size <= MOST_BYTES
    assert documents.current(("metadata", "tenant-9999")) is not None
    assert documents.current(("metadata", "tenant-0")) is None


async def test_a_document_above_the_bound_is_answered_and_not_kept() -> None:
    documents = KeptDocuments(most_bytes=10_000, time=lambda: 0.0)

    async def make(_tenant: str) -> Document:
        return Document(b"x" * 20_000, caching=REVALIDATED)

    assert len((await documents.get(NAME, make)).body) == 20_000
    assert (documents.size, documents.current(NAME)) == (0, None)


def test_every_process_publishes_a_key_before_it_signs() -> None:
    assert FRESH_FOR.total_seconds() + FRESH_SECONDS < ANNOUNCED_FOR.total_seconds()
