"""One pass over the documents of all live process instances and their rows."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence

import asyncpg

from server.engine.documents import Pages, unpack
from server.engine.keys import Key
from server.engine.pages import Kind, StoredPage
from server.engine.process_instance import ProcessInstance
from server.store.postgres.verify.comparisons import COMPARISONS, Comparison, Fact
from server.store.postgres.verify.findings import Findings
from server.store.postgres.verify.packed import UNREADABLE
from server.store.postgres.verify.snapshot import Snapshot

DOCUMENTS = "documents"
DEFINITIONS = "instance-definitions"
COUNTS = "active-counts"

_TEXT = f"""
    SELECT partition_id, key, page, format, content FROM gnomon.stored_page
    WHERE kind = {Kind.PROCESS_INSTANCE} ORDER BY partition_id, key, page
"""  # noqa: S608  # a constant of ours

Counts = Counter[tuple[int, str]]
# Partition and key, and the pages.
Document = tuple[tuple[int, Key], Pages]


def by_documents(name: str) -> Callable[[Snapshot], Awaitable[Findings]]:
    """A search that returns the findings of the pass for the check with this name."""

    async def search(snapshot: Snapshot) -> Findings:
        return (await snapshot.once(_inspected))[name]

    return search


async def _inspected(snapshot: Snapshot) -> Mapping[str, Findings]:
    names = (DOCUMENTS, DEFINITIONS, COUNTS, *(comparison.name for comparison in COMPARISONS))
    findings = {name: snapshot.findings() for name in names}
    known = await snapshot.fetch("SELECT process_definition_key FROM gnomon.definition_document")
    definitions = {row[0] for row in known}
    counts = Counts()
    async for chunk in whole(snapshot.chunks(_TEXT)):
        instances = list(_read(chunk, counts, findings[DOCUMENTS]))
        for instance in instances:
            if instance.head.process_definition_key not in definitions:
                findings[DEFINITIONS].add(f"process instance {instance.head.key}")
        for comparison in COMPARISONS if instances else ():
            rows = await _rows(snapshot, comparison, instances)
            _compare(instances, rows, comparison=comparison, findings=findings[comparison.name])
    await _compare_counts(snapshot, counts, findings[COUNTS])
    return findings


async def whole(chunks: AsyncIterator[Sequence[asyncpg.Record]]) -> AsyncIterator[Sequence[Document]]:
    """Documents from ordered pages; the pages of one document may be in several chunks."""
    found: dict[tuple[int, Key], dict[int, StoredPage]] = {}
    async for chunk in chunks:
        for partition_id, key, number, *page in chunk:
            found.setdefault((partition_id, key), {})[number] = StoredPage(*page)
        last = found.popitem()
        yield list(found.items())
        found = dict((last,))
    yield list(found.items())


def _read(chunk: Sequence[Document], counts: Counts, unreadable: Findings) -> Iterator[ProcessInstance]:
    for (partition_id, key), pages in chunk:
        instance = _unpacked(pages)
        if instance is None or instance.head.key != key:
            unreadable.add(f"process instance {key}")
            continue
        counts[partition_id, instance.head.tenant_id] += 1
        yield instance


def _unpacked(pages: Pages) -> ProcessInstance | None:
    try:
        return unpack(pages)
    except UNREADABLE:
        return None


async def _rows(
    snapshot: Snapshot, comparison: Comparison, instances: Sequence[ProcessInstance]
) -> Mapping[Key, Mapping[Key, Fact]]:
    """The rows by process instance and key; the tenants are passed so that indexes can be used."""
    tenants = {instance.head.tenant_id for instance in instances}
    first, last = instances[0].head.key, instances[-1].head.key
    rows: defaultdict[Key, dict[Key, Fact]] = defaultdict(dict)
    for row in await snapshot.fetch(comparison.text, list(tenants), first, last):
        rows[row[0]][row[1]] = row[2:]
    return rows


def _compare(
    instances: Sequence[ProcessInstance],
    rows: Mapping[Key, Mapping[Key, Fact]],
    *,
    comparison: Comparison,
    findings: Findings,
) -> None:
    for instance in instances:
        documented, shown = comparison.documented(instance), rows.get(instance.head.key, {})
        if documented == shown:
            continue
        for key in documented.keys() | shown.keys():
            expected, found = documented.get(key), shown.get(key)
            if expected is None or found is None or not comparison.agree(expected, found):
                findings.add(f"key {key} of process instance {instance.head.key}")


async def _compare_counts(snapshot: Snapshot, counts: Counts, findings: Findings) -> None:
    text = "SELECT partition_id, tenant_id, count FROM gnomon.active_instances"
    kept = {(partition_id, tenant_id): count for partition_id, tenant_id, count in await snapshot.fetch(text)}
    for partition_id, tenant_id in sorted(counts.keys() | kept.keys()):
        place = (partition_id, tenant_id)
        if counts[place] != kept.get(place, 0):
            findings.add(f"tenant {tenant_id} in partition {partition_id}")
