"""A database in order passes every check; one that is not, fails the check that says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest

from server.engine.process_instance import JobState
from server.partition.turn import definition_of
from server.partition.wire import ANSWERS, COMMANDS
from server.store.postgres.verify import CHECKS, Formats, Verdict, outbox, verify
from server.store.postgres.verify.comparisons import SHOWN_AS
from server.store.postgres.verify.documents import whole
from server.store.postgres.verify.snapshot import Snapshot
from tests.durable import migrated_database
from tests.server.store.postgres.deployment import furnish
from tests.server.store.postgres.faults import ACTIVATED, ENDED_LONG_AGO, FAULTS, OWNED, statement

FORMATS = Formats(definition=definition_of, answer=ANSWERS.unpack, command=COMMANDS.unpack)
AT_ONCE = timedelta()


@pytest.fixture(scope="module")
def furnished(postgres_dsn: str) -> str:
    """The DSN of a database that partitions have filled."""

    async def furnished() -> str:
        dsn = await migrated_database(postgres_dsn, "verified")
        await furnish(dsn)
        return dsn

    return asyncio.run(furnished())


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


def found(verdicts: list[Verdict]) -> dict[str, list[str]]:
    return {verdict.check.name: verdict.findings.examples for verdict in verdicts if verdict.findings.count}


async def with_fault(dsn: str, fault: str) -> dict[str, list[str]]:
    """The findings after this damage, which is undone afterwards."""
    async with connected(dsn) as connection:
        transaction = connection.transaction(isolation="repeatable_read")
        await transaction.start()
        await connection.execute(statement(fault))
        verdicts = await verify(connection, FORMATS, patience=AT_ONCE)
        await transaction.rollback()
    return found(list(verdicts))


async def test_nothing_is_found_in_a_database_that_partitions_wrote(furnished: str) -> None:
    async with connected(furnished) as connection:
        verdicts = await verify(connection, FORMATS, patience=AT_ONCE)
        counts = await connection.fetchrow("""
            SELECT (SELECT count(*) FROM gnomon.document), (SELECT count(*) FROM history.process_instance),
                (SELECT count(*) FROM runtime.incident), (SELECT count(*) FROM gnomon.outbox),
                (SELECT count(*) FROM gnomon.idempotency), (SELECT count(*) FROM history.audit_entry)
        """)

    assert found(list(verdicts)) == {}
    assert all(counts)


def test_every_check_has_a_fault_that_it_tells() -> None:
    assert list(FAULTS) == [check.name for check in CHECKS]


def test_every_state_of_a_job_has_states_that_its_row_may_show() -> None:
    assert set(JobState) == set(SHOWN_AS)


@pytest.mark.parametrize(
    ("check", "fault"),
    [
        pytest.param(check, fault, id=f"{check}-{number}")
        for check, faults in FAULTS.items()
        for number, fault in enumerate(faults)
    ],
)
async def test_a_fault_is_told_by_its_check(furnished: str, check: str, fault: str) -> None:
    assert check in await with_fault(furnished, fault)


async def test_an_example_names_what_breaks_the_rule(furnished: str) -> None:
    async with connected(furnished) as connection:
        key = await connection.fetchval(f"SELECT {ACTIVATED}")
        instance_key = await connection.fetchval(
            "SELECT process_instance_key FROM runtime.job WHERE job_key = $1", key
        )

    faults = await with_fault(furnished, "UPDATE runtime.job SET retries = 8 WHERE job_key = {activated}")

    assert faults == {"jobs": [f"key {key} of process instance {instance_key}"]}


async def test_what_has_ended_may_wait_where_nobody_moves_it(furnished: str) -> None:
    faults = await with_fault(furnished, ENDED_LONG_AGO)

    assert "moved" not in faults


async def test_no_more_examples_are_given_than_were_asked_for(furnished: str) -> None:
    async with connected(furnished) as connection:
        transaction = connection.transaction(isolation="repeatable_read")
        await transaction.start()
        await connection.execute(
            "UPDATE runtime.job SET retries = 99; UPDATE history.job SET end_time = NULL"
        )
        verdicts = await verify(connection, FORMATS, patience=AT_ONCE, examples=2)
        await transaction.rollback()

    told = {verdict.check.name: verdict.findings for verdict in verdicts if verdict.findings.count}
    assert [len(told[name].examples) for name in ("jobs", "history")] == [2, 2]
    assert min(told[name].count for name in ("jobs", "history")) > 2


async def test_a_command_that_is_taken_in_time_is_no_finding(furnished: str) -> None:
    async with connected(furnished) as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(OWNED)
        waiting = await outbox.waiting(connection, AT_ONCE)
        snapshot = Snapshot(connection, FORMATS, waiting=waiting, examples=5)
        not_taken = await outbox.not_taken(snapshot)
        await connection.execute("DELETE FROM gnomon.outbox")
        taken = await outbox.not_taken(snapshot)
        await transaction.rollback()

    assert (not_taken.count, taken.count) == (1, 0)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_pages_make_the_same_documents_in_whatever_chunks_they_come(size: int) -> None:
    rows = [(1, 10, 0), (1, 10, 2), (1, 10, 5), (1, 11, 0), (2, 10, 0), (2, 10, 1), (2, 12, 0)]

    async def chunks() -> AsyncIterator[list[asyncpg.Record]]:
        for first in range(0, len(rows), size):
            yield [(*row, 2, b"") for row in rows[first : first + size]]

    found = [document async for documents in whole(chunks()) for document in documents]

    pages = {key: list(numbers) for key, numbers in found}
    assert pages == {(1, 10): [0, 2, 5], (1, 11): [0], (2, 10): [0, 1], (2, 12): [0]}
    assert len(found) == len(pages)
