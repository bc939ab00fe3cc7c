"""A database of the last release without format numbers is taken over; one of a later release is not."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import msgspec
import pytest

from server.app import DurableEngine, durable_engine
from server.config import EngineConfig
from server.engine.formats import FORMATS, LATEST, ClusterFormat
from server.engine.job_commands import UpdateJob
from server.engine.keys import first_key
from server.engine.process_instance_commands import CancelProcessInstance
from server.partition.config import ClusterConfig
from server.partition.origin import Origin
from server.platform.errors import Unavailable
from server.platform.postgres.config import DatabaseConfig
from server.platform.postgres.migrations import MigrationError, migrate
from server.platform.sockets import free_port
from server.storage import MIGRATIONS, prepare
from server.store.ports import PartitionId
from tests.server.formats.test_first_format import FIRST
from tests.server.partition.harness import activation, completion_of, creation
from tests.waits import PATIENCE_SECONDS, until_so

HOST = "127.0.0.1"
ORIGIN = Origin("default", "worker", "r-1")
# The last migration of that release.
LAST = 27
ONE, TWO = PartitionId(1), PartitionId(2)


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def first_database(dsn: str, folder: Path) -> None:
    """Two partitions, a node that lives, process instances of the first, and a command of the second, as it wrote them."""
    files = sorted(
        (file for file in MIGRATIONS.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name
    )
    for file in files[:LAST]:
        (folder / file.name).write_text(file.read_text())
    await migrate(dsn, folder)
    definition = bytes.fromhex(FIRST["definitions"][0])
    documents = [bytes.fromhex(each) for each in FIRST["documents"]]
    async with connected(dsn) as connection:
        for number in (ONE, TWO):
            await connection.execute(
                "INSERT INTO gnomon.partition (partition_id, last_key) VALUES ($1, $2)",
                number,
                first_key(number) + 1_000,
            )
        await connection.execute("""
            INSERT INTO gnomon.node (node_id, address, started_at, expires_at)
            VALUES ('old', 'old:1', clock_timestamp(), clock_timestamp() + interval '1 hour')
        """)
        await connection.execute(
            """
            INSERT INTO gnomon.definition_document (partition_id, process_definition_key, content)
            VALUES (1, $1, $2)
            """,
            msgspec.msgpack.decode(definition)["key"],
            definition,
        )
        await connection.executemany(
            """
            INSERT INTO gnomon.instance_document (partition_id, process_instance_key, content)
            VALUES (1, $1, $2)
            """,
            [(msgspec.msgpack.decode(each, strict=False)["head"]["key"], each) for each in documents],
        )
        await connection.execute(
            "INSERT INTO gnomon.outbox (target, source, number, command) VALUES (1, 2, 4097, $1)",
            adoption(),
        )


def adoption() -> bytes:
    """Of a definition that the second partition deployed."""
    definition = msgspec.msgpack.decode(bytes.fromhex(FIRST["definitions"][0]))
    changed = {"key": first_key(TWO) + 7, "version": 2}
    return msgspec.msgpack.encode(("AdoptDefinition", {"definition": {**definition, **changed}}))


@asynccontextmanager
async def serving(dsn: str) -> AsyncIterator[DurableEngine]:
    cluster = ClusterConfig(
        node_id="new", host=HOST, port=free_port(HOST), secret="secret", poll_seconds=0.05, lease_seconds=2.0
    )
    config = EngineConfig(cluster=cluster, database=DatabaseConfig(dsn=dsn, pool_connections=4))
    async with durable_engine(config) as engine, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(engine.run())
        await engine.ready()
        yield engine
        engine.stop()
        await asyncio.wait((running,), timeout=PATIENCE_SECONDS)
        running.cancel()


async def test_a_database_of_the_first_format_goes_on_beside_its_node(empty_dsn: str, tmp_path: Path) -> None:
    await first_database(empty_dsn, tmp_path)

    await prepare(empty_dsn, 0)
    async with connected(empty_dsn) as connection:
        # Half of the partitions are the share of the old node, which does not run here.
        await connection.execute(
            "UPDATE gnomon.partition SET expires_at = 'infinity', owner = 'old' WHERE partition_id = 2"
        )
        async with serving(empty_dsn) as engine:
            state = engine.node.find_local(ONE).partition.state
            jobs = (await engine.router.activate(activation(10), 0)).jobs
            await engine.router.submit(completion_of(jobs[0].key), ORIGIN)
            left = await connection.fetchval("SELECT count(*) FROM gnomon.outbox")
            active = len(state.instances)
            adopted = first_key(TWO) + 7 in state.definitions
            cluster = engine.node.format

    assert (left, active) == (0, len(FIRST["documents"]) - 1)
    assert cluster == ClusterFormat(1, laggard="old")
    assert adopted


async def stored_in(connection: asyncpg.Connection) -> tuple[int, int]:
    """How many documents programs without pages find, and how many others there are."""
    text = """
        SELECT (SELECT count(*) FROM gnomon.instance_document), (SELECT count(DISTINCT key) FROM gnomon.document)
    """
    return tuple(await connection.fetchrow(text))


async def test_documents_are_written_as_all_nodes_read_them(empty_dsn: str, tmp_path: Path) -> None:
    await first_database(empty_dsn, tmp_path)
    await prepare(empty_dsn, 0)
    count = len(FIRST["documents"])
    async with connected(empty_dsn) as connection:
        async with serving(empty_dsn) as engine:
            await engine.router.activate(activation(10), 0)
            await engine.router.submit(creation(), ORIGIN)
            first = await stored_in(connection)
            await connection.execute("DELETE FROM gnomon.node WHERE node_id = 'old'")

            async def has_risen() -> bool:
                return engine.node.format == ClusterFormat(LATEST)

            await until_so(has_risen)
            key = (await engine.router.submit(creation(), ORIGIN)).head.key
            later = await stored_in(connection)
            await engine.router.submit(CancelProcessInstance("default", key), ORIGIN)

        left = await stored_in(connection)
    assert (first, later, left) == ((count + 1, 0), (count + 1, 1), (count + 1, 0))


async def test_large_values_get_pages_when_the_last_node_that_cannot_read_them_has_gone(
    empty_dsn: str, tmp_path: Path
) -> None:
    await first_database(empty_dsn, tmp_path)
    await prepare(empty_dsn, 0)
    async with connected(empty_dsn) as connection:
        await connection.execute("UPDATE gnomon.node SET latest_format = 2 WHERE node_id = 'old'")
        async with serving(empty_dsn) as engine:
            created = await engine.router.submit(creation({"report": f'"{"x" * 5_000}"'}), ORIGIN)
            key = created.head.key
            before = await formats_of(connection, key)
            await connection.execute("DELETE FROM gnomon.node WHERE node_id = 'old'")

            async def has_risen() -> bool:
                return engine.node.format == ClusterFormat(LATEST)

            await until_so(has_risen)
            (job,) = engine.node.find_local(ONE).partition.state.instances[key].jobs
            await engine.router.submit(UpdateJob(tenant_id="default", job_key=job, retries=7), ORIGIN)
            after = await formats_of(connection, key)

        async with serving(empty_dsn) as engine:
            (scope,) = engine.node.find_local(ONE).partition.state.instances[key].variables.values()
    assert (before, after) == ([2], [2, 3])
    assert scope["report"].value == f'"{"x" * 5_000}"'


async def formats_of(connection: asyncpg.Connection, key: int) -> list[int]:
    """The formats of the pages of a process instance."""
    text = "SELECT format FROM gnomon.document WHERE key = $1 ORDER BY page"
    return [row[0] for row in await connection.fetch(text, key)]


async def test_the_format_rises_when_that_node_has_gone(empty_dsn: str, tmp_path: Path) -> None:
    await first_database(empty_dsn, tmp_path)
    await prepare(empty_dsn, 0)
    async with connected(empty_dsn) as connection:
        await connection.execute("DELETE FROM gnomon.node")

        async with serving(empty_dsn) as engine:
            cluster = engine.node.format

        fences = await connection.fetch("SELECT name FROM gnomon_migration WHERE number > 9999")
    assert cluster == ClusterFormat(LATEST)
    assert [row[0] for row in fences] == [f"cluster_format_{LATEST}"]


async def test_a_program_that_cannot_read_the_cluster_format_does_not_start(empty_dsn: str) -> None:
    await prepare(empty_dsn, 1)
    async with connected(empty_dsn) as connection:
        await connection.execute("UPDATE gnomon.cluster_format SET format = $1", LATEST + 1)

    with pytest.raises(MigrationError, match=f"writes format {LATEST + 1}, this program reads formats up to"):
        await prepare(empty_dsn, 1)


async def test_a_command_in_a_later_format_waits_and_all_others_go_on(empty_dsn: str, tmp_path: Path) -> None:
    await first_database(empty_dsn, tmp_path)
    await prepare(empty_dsn, 3)
    async with connected(empty_dsn) as connection:
        text = "INSERT INTO gnomon.outbox (target, source, number, command, format) VALUES (1, 3, $1, $2, $3)"
        await connection.execute(text, 4_097, b"later", FORMATS[-1].wire + 1)
        await connection.execute(text, 4_098, adoption(), 1)

        async with serving(empty_dsn) as engine:

            async def only_the_third_waits() -> bool:
                """The command of the second partition was carried out."""
                found = await connection.fetch("SELECT source, number FROM gnomon.outbox ORDER BY number")
                return list(map(tuple, found)) == [(3, 4_097), (3, 4_098)]

            await until_so(only_the_third_waits)
            await engine.node.find_local(ONE).partition.catch_up()

            assert await only_the_third_waits()
            assert engine.node.find_local(ONE).partition.is_open


async def test_a_partition_with_a_later_document_is_given_back_and_left_alone(
    empty_dsn: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await first_database(empty_dsn, tmp_path)
    await prepare(empty_dsn, 0)
    async with connected(empty_dsn) as connection:
        await connection.execute("DELETE FROM gnomon.node")
        await connection.execute("""
            INSERT INTO gnomon.instance_document (partition_id, process_instance_key, content)
            VALUES (2, 7, '\\x81a568656164a5776f726c64')
        """)
        async with serving(empty_dsn) as engine:

            async def is_reported() -> bool:
                return bool(await connection.fetchval("SELECT sum(unreadable) FROM gnomon.node"))

            await until_so(is_reported)
            epoch = await connection.fetchval("SELECT epoch FROM gnomon.partition WHERE partition_id = 2")
            is_open = engine.node.find_local(ONE).partition.is_open
            with pytest.raises(Unavailable):
                engine.node.find(TWO)

    assert (is_open, epoch) == (True, 1)
    faults = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert faults == ["this version cannot read the partition; other processes may take it"]
