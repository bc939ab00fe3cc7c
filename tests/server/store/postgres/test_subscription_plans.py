"""Query plans of searches for message subscriptions, over a hundred thousand of them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files
from urllib.parse import urlsplit

import asyncpg
import pytest

from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.query import Condition, SortKey, Window, equals
from server.platform.query.sql import count_of, page_of, page_of_few
from server.store.postgres.buckets import WEEK, create_buckets
from server.store.postgres.reads import FEW
from server.store.postgres.relations import RELATIONS
from server.store.searchables import MESSAGE_SUBSCRIPTIONS
from tests.server.store.postgres.population import BEGIN, TENANT, definition_key, key
from tests.server.store.postgres.test_plans import plan_of, read_whole

ROWS = 100_000
WEEKS = 4
LIMIT = 100
NUMBER = 9_000
"""Of a subscription that waits: each tenth does, the others are in the history."""

_ROWS = f"""
    SELECT (((1 + n % 16) << 51) + n + 1) AS message_subscription_key, (1 + n % 16)::smallint AS partition_id,
        '{TENANT}' AS tenant_id, {definition_key(0)} + n % 500 AS process_definition_key,
        'order-process-' || n % 500 AS process_definition_id, 1 AS process_definition_version,
        'wait-' || n % 7 AS element_id, 'paid-' || n % 2000 AS message_name,
        timestamptz '{BEGIN:%Y-%m-%d} 00:00Z' + n * interval '{WEEKS * 7 * 86400} s' / {ROWS} AS last_updated_date,
        '{{}}'::jsonb AS extension_properties,
        CASE WHEN n % 10 = 0 THEN 'CREATED' ELSE 'CORRELATED' END AS message_subscription_state,
        'PROCESS_EVENT' AS message_subscription_type, n % 10 = 0 AS is_open,
        (((1 + n % 16) << 51) + n + 1) AS process_instance_key,
        (((1 + n % 16) << 51) + n + 1) AS element_instance_key, 'key-' || n AS correlation_key
    FROM generate_series(0::bigint, {ROWS - 1}) AS n
"""  # noqa: S608  # our own
_NAMES = """message_subscription_key, partition_id, tenant_id, process_definition_key, process_definition_id,
    process_definition_version, element_id, message_name, last_updated_date, extension_properties,
    message_subscription_state, message_subscription_type, is_open, process_instance_key, element_instance_key,
    correlation_key"""


@pytest.fixture(scope="module")
def subscribed(durable_dsn: str) -> str:
    """The DSN of a database with many message subscriptions, which goes with its server."""
    return asyncio.run(_subscribed(durable_dsn))


async def _subscribed(server: str) -> str:
    async with open_pool(server, 1) as pool:
        await pool.execute("CREATE DATABASE subscribed")
    dsn = urlsplit(server)._replace(path="/subscribed").geturl()
    await migrate(dsn, files("server.store.postgres") / "migrations")
    async with open_pool(dsn, 1) as pool:
        await create_buckets(PooledDatabase(pool), [BEGIN.date() + week * WEEK for week in range(WEEKS)])
        rows = f"WITH rows AS ({_ROWS})"
        await pool.execute(
            f"{rows} INSERT INTO runtime.message_subscription ({_NAMES}) SELECT {_NAMES} FROM rows WHERE is_open",  # noqa: S608  # our own
            timeout=300,
        )
        await pool.execute(
            f"{rows} INSERT INTO history.message_subscription (bucket, {_NAMES})"  # noqa: S608  # our own
            f" SELECT last_updated_date::date, {_NAMES} FROM rows WHERE NOT is_open",
            timeout=300,
        )
        await pool.execute("VACUUM ANALYZE", timeout=300)
    return dsn


@pytest.fixture
async def connection(subscribed: str) -> AsyncIterator[asyncpg.Connection]:
    opened = await asyncpg.connect(subscribed)
    yield opened
    await opened.close()


def wanted(**fields: object) -> Sequence[Condition]:
    return [equals(MESSAGE_SUBSCRIPTIONS, name, value) for name, value in fields.items()]


@pytest.mark.parametrize("number", [NUMBER, NUMBER + 1], ids=["waiting", "ended"])
@pytest.mark.parametrize(
    "field",
    [
        *("message_subscription_key", "process_instance_key", "element_instance_key", "correlation_key"),
        *("message_name", "process_definition_key"),
    ],
)
async def test_a_search_for_few_subscriptions_reads_no_table_whole(
    connection: asyncpg.Connection, field: str, number: int
) -> None:
    values = {
        "correlation_key": f"key-{number}",
        "message_name": f"paid-{number % 2000}",
        "process_definition_key": definition_key(number % 500),
    }
    query = MESSAGE_SUBSCRIPTIONS.query(*wanted(**{field: values.get(field, key(number))}), window=Window())
    relation = RELATIONS[MESSAGE_SUBSCRIPTIONS.entity]
    count = count_of(relation, query.clauses, tenant_id=TENANT)

    matches = await connection.fetchval(count.text, *count.arguments)

    page = page_of_few(relation, query, tenant_id=TENANT)
    assert 1 <= matches <= FEW
    assert await read_whole(connection, count) == set()
    assert await read_whole(connection, page) == set()


async def test_a_page_of_all_subscriptions_is_read_in_the_order_of_an_index(
    connection: asyncpg.Connection,
) -> None:
    query = MESSAGE_SUBSCRIPTIONS.query(sort=[SortKey(MESSAGE_SUBSCRIPTIONS.key)], window=Window(LIMIT))

    page = page_of(RELATIONS[MESSAGE_SUBSCRIPTIONS.entity], query, tenant_id=TENANT)

    plan = await plan_of(connection, page, "ANALYZE")
    scans = [node for node in plan if "Relation Name" in node]
    read = sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans)
    assert read < 10 * LIMIT
