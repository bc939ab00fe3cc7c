"""Whether the database holds what was acknowledged, all of it and nothing else."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import asyncpg

from server.cli.admin.verify import FORMATS
from server.engine.pages import Kind
from server.store.postgres.verify import CHECKS, verify
from tests.campaigns.book import Book
from tests.campaigns.model import SMALL_PREFIX

MOST_SHOWN = 5

T = TypeVar("T")


async def verified(dsn: str) -> Sequence[str]:
    """What `gnomon admin verify` finds, which looks at one moment and so may look while commands are carried out."""
    connection = await asyncpg.connect(dsn, server_settings={"timezone": "UTC"})
    try:
        verdicts = await verify(connection, FORMATS, checks=CHECKS, examples=MOST_SHOWN)
    finally:
        await connection.close()
    return [
        f"{verdict.check.name}: {verdict.findings.examples}, of {verdict.findings.count}"
        for verdict in verdicts
        if verdict.findings.count
    ]


async def counted(dsn: str, book: Book) -> Sequence[str]:
    """Differences from the book when all jobs are done, and the findings of `verified`."""
    connection = await asyncpg.connect(dsn)
    try:
        return [*await _violations(connection, book), *await verified(dsn)]
    finally:
        await connection.close()


async def _violations(database: asyncpg.Connection, book: Book) -> Sequence[str]:
    return [
        *book.surprises,
        *await _instances(database, book),
        *await _called(database, book),
        *await _jobs(database, book),
        *await _counters(database, book),
        *await _messages(database, book),
        *await _incidents(database, book),
        *await _elements(database, book),
        *await _audit(database, book),
        *await _answers(database, book),
        *await _definitions(database, book),
        *await _leftovers(database),
    ]


async def _instances(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    text = """
        SELECT process_definition_id, process_instance_key, state FROM gnomon.process_instance
        WHERE parent_process_instance_key IS NULL
    """
    found = Counter(map(tuple, await database.fetch(text)))
    expected = Counter((story.process_id, key, "COMPLETED") for key, story in book.stories.items())
    return _differences("process instance", found, expected)


async def _called(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    text = """
        SELECT process_definition_id, parent_process_instance_key, state FROM gnomon.process_instance
        WHERE parent_process_instance_key IS NOT NULL
    """
    found = Counter(map(tuple, await database.fetch(text)))
    expected = Counter(
        (process_id, key, "COMPLETED") for key, story in book.stories.items() for process_id in story.called
    )
    return _differences("process instance that was called by", found, expected)


async def _jobs(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    text = "SELECT job_key, process_instance_key, state FROM gnomon.job"
    found = Counter(map(tuple, await database.fetch(text)))
    expected = Counter((key, instance, "COMPLETED") for key, instance in book.completed.items())
    return _differences("job", found, expected)


async def _counters(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    """The engine counted each completion and each message once."""
    text = """
        SELECT process_instance_key, value FROM gnomon.variable
        WHERE name = 'count' AND scope_key = process_instance_key AND process_instance_key = ANY($1::bigint[])
    """
    found = Counter(map(tuple, await database.fetch(text, [*book.stories])))
    expected = Counter((key, str(story.count)) for key, story in book.stories.items())
    return _differences("variable count", found, expected)


async def _messages(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    """Each was taken once; it stays in the buffer for other processes until its time is over."""
    taken = "SELECT process_instance_key, message_key FROM gnomon.correlated_message_subscription"
    found = Counter(map(tuple, await database.fetch(taken)))
    buffered = "SELECT key FROM gnomon.stored_page WHERE kind = $1"
    kept = Counter(row[0] for row in await database.fetch(buffered, Kind.MESSAGE))
    return [
        *_differences("message", found, Counter(book.messages.items())),
        *_differences("buffered message", kept, Counter(book.messages.values())),
    ]


async def _incidents(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    text = "SELECT incident_key, job_key, state FROM gnomon.incident"
    found = Counter(map(tuple, await database.fetch(text)))
    expected = Counter((incident, job, "RESOLVED") for incident, job in book.incidents.items())
    raised = Counter(job for job, retries in book.failed.items() if retries == 0)
    return [
        *_differences("incident", found, expected),
        *_differences("incident of job", Counter(book.incidents.values()), raised),
    ]


async def _elements(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    text = """
        SELECT process_definition_id, count(*) FILTER (WHERE state = 'COMPLETED'), count(*)
        FROM gnomon.element_instance GROUP BY process_definition_id, process_instance_key
    """
    found = Counter(map(tuple, await database.fetch(text)))
    expected = Counter(
        (process_id, number, number)
        for story in book.stories.values()
        for process_id, number in story.elements.items()
    )
    return _differences("element instances of", found, expected)


async def _audit(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    """Each command that was carried out stands in the log once; changes of identity have an entity with an id."""
    text = """
        SELECT entity_type, operation_type, entity_key FROM gnomon.audit_entry
        WHERE result = 'SUCCESS' AND entity_type <> 'RESOURCE' AND entity_id IS NULL
    """
    found = Counter(map(tuple, await database.fetch(text)))
    raised = [job for job, retries in book.failed.items() if retries == 0]
    expected = Counter(
        [
            *(("PROCESS_INSTANCE", "CREATE", key) for key in book.started.values()),
            *(("MESSAGE", "CREATE", key) for key in book.messages.values()),
            *(("JOB", "COMPLETE", key) for key in book.completed),
            *(("JOB", "FAIL", key) for key in book.failed),
            *(("JOB", "UPDATE", key) for key in raised),
            *(("INCIDENT", "RESOLVE", key) for key in book.incidents),
        ]
    )
    return _differences("audit entry", found, expected)


async def _answers(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    text = "SELECT idempotency_key FROM gnomon.idempotency"
    found = Counter(row[0] for row in await database.fetch(text))
    return _differences("idempotency key", found, Counter(book.keys))


async def _definitions(database: asyncpg.Connection, book: Book) -> Iterable[str]:
    """A deployment that is repeated makes no version of its own."""
    text = """
        SELECT process_definition_id, version FROM gnomon.process_definition
        WHERE starts_with(process_definition_id, $1)
    """
    found = Counter(map(tuple, await database.fetch(text, SMALL_PREFIX)))
    return _differences("process definition", found, Counter((each, 1) for each in book.deployed))


async def _leftovers(database: asyncpg.Connection) -> Iterable[str]:
    text = """
        SELECT 'documents', count(*) FROM gnomon.stored_page WHERE kind <> $1
        UNION ALL SELECT 'outgoing commands', count(*) FROM gnomon.outbox
        UNION ALL SELECT 'active instances', sum(count)::bigint FROM gnomon.active_instances
    """
    return [f"{count} {what} are left" for what, count in await database.fetch(text, Kind.MESSAGE) if count]


def _differences(what: str, found: Counter[T], expected: Counter[T]) -> Iterator[str]:
    for word, some in (("lost", expected - found), ("too much", found - expected)):
        for each in list(some)[:MOST_SHOWN]:
            yield f"{what} {word}: {each}, one of {some.total()}"
