"""Query plans of searches, over enough rows that the plan matters."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from edge.console.pages.instances import LATEST_FIRST
from edge.console.pages.tasks import URGENT_FIRST
from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesRequest
from gnomon.engine.v1.user_task_pb2 import USER_TASK_STATE_CREATED
from gnomon.engine.v1.user_task_service_pb2 import SearchUserTasksRequest
from gnomon.query.v1.page_pb2 import SORT_ORDER_ASC, SORT_ORDER_DESC
from server.platform.postgres.pool import open_pool
from server.platform.query import Window, equals, parse
from server.platform.query.sql import Statement, count_of, page_of, page_of_few
from server.store.entities import ProcessInstance, UserTask
from server.store.postgres.parts import tables_of
from server.store.postgres.reads import FEW
from server.store.postgres.relations import RELATIONS, within
from server.store.searchables import ELEMENT_INSTANCES, JOBS, PROCESS_INSTANCES, USER_TASKS, VARIABLES
from tests.server.store.postgres.counted import COUNTED, Counted
from tests.server.store.postgres.documented import SEARCHES, Search
from tests.server.store.postgres.population import SMALL_TENANT, TENANT, key, populate

ROWS = 30_000
BIG = 1000
"""Rows of a table that nobody should read from the first to the last for a few of them."""
LIMIT = 100
IN_ORDER = {"all", "all, latest first", "all, by business id"}


@pytest.fixture(scope="session")
def populated(durable_dsn: str) -> str:
    """The DSN of a database with many rows, which goes with its server."""
    return asyncio.run(_populated(durable_dsn))


async def _populated(server: str) -> str:
    async with open_pool(server, 1) as pool:
        await pool.execute("CREATE DATABASE populated")
    dsn = urlsplit(server)._replace(path="/populated").geturl()
    await populate(dsn, ROWS)
    return dsn


@pytest.fixture
async def connection(populated: str) -> AsyncIterator[asyncpg.Connection]:
    opened = await asyncpg.connect(populated)
    yield opened
    await opened.close()


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


async def plan_of(
    connection: asyncpg.Connection, statement: Statement, *options: str
) -> list[Mapping[str, Any]]:
    text = f"EXPLAIN ({', '.join(('FORMAT JSON', *options))}) {statement.text}"
    return list(nodes(json.loads(await connection.fetchval(text, *statement.arguments))[0]["Plan"]))


async def read_whole(connection: asyncpg.Connection, statement: Statement) -> set[str]:
    """Big tables that a statement reads from the first row to the last."""
    plan = await plan_of(connection, statement, "VERBOSE")
    scanned = {
        f"{node['Schema']}.{node['Relation Name']}" for node in plan if node["Node Type"] == "Seq Scan"
    }
    text = (
        "SELECT oid::regclass::text FROM pg_class WHERE oid = ANY($1::text[]::regclass[]) AND reltuples >= $2"
    )
    return {row[0] for row in await connection.fetch(text, sorted(scanned), BIG)}


def name_of(search: Search) -> str:
    return f"{search.searchable.entity.__name__} {search.name}"


@pytest.mark.parametrize(
    ("tenant_id", "search"),
    [
        pytest.param(tenant_id, search, id=f"{tenant_id}: {name_of(search)}")
        for tenant_id in (TENANT, SMALL_TENANT)
        for search in SEARCHES
        if tenant_id == SMALL_TENANT or not search.is_broad
    ],
)
async def test_a_search_for_few_rows_reads_no_big_table_whole(
    connection: asyncpg.Connection, tenant_id: str, search: Search
) -> None:
    relation, query = RELATIONS[search.searchable.entity], search.query
    count = count_of(relation, query.clauses, tenant_id=tenant_id)

    matches = await connection.fetchval(count.text, *count.arguments)

    page = page_of_few(relation, query, tenant_id=tenant_id)
    assert matches <= FEW
    assert await read_whole(connection, count) == set()
    assert await read_whole(connection, page) == set()


@pytest.mark.parametrize(
    "search",
    [search for search in SEARCHES if search.name in IN_ORDER],
    ids=name_of,
)
async def test_a_page_of_many_matches_is_read_in_the_order_of_an_index(
    connection: asyncpg.Connection, search: Search
) -> None:
    relation, query = RELATIONS[search.searchable.entity], search.query
    middle = page_of(relation, replace(query, window=Window(1, offset=ROWS // 40)), tenant_id=TENANT)
    row = dict((await connection.fetch(middle.text, *middle.arguments))[0])
    position = tuple(row[sort.field.name] for sort in query.sort)

    for window in (Window(LIMIT), Window(LIMIT, after=position), Window(LIMIT, before=position)):
        page = page_of(relation, replace(query, window=window), tenant_id=TENANT)
        plan = await plan_of(connection, page, "ANALYZE")

        scans = [node for node in plan if "Relation Name" in node]
        read = sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans)
        assert read < 10 * LIMIT


def test_the_first_list_of_the_console_is_one_of_them() -> None:
    """So the test above reads its page in the order of an index, and `tests.bench searches` measures it over 10⁶ rows."""
    (first,) = LATEST_FIRST
    order = SORT_ORDER_DESC if first["order"] == "DESC" else SORT_ORDER_ASC
    asked = SearchProcessInstancesRequest(filter={}, sort=[{"field": first["field"], "order": order}])
    wanted = parse(PROCESS_INSTANCES, asked)

    assert [name_of(search) for search in SEARCHES if search.query == wanted and search.name in IN_ORDER] == [
        "ProcessInstance all, latest first"
    ]


async def test_canceled_user_tasks_are_read_in_the_order_of_their_end(
    connection: asyncpg.Connection,
) -> None:
    """Only weeks that have some are read, see `server.store.postgres.totals`."""
    (search,) = [search for search in SEARCHES if search.name == "canceled"]
    weeks = within(UserTask, ["history.user_task_20260202", "history.user_task_20260209"])

    page = page_of(weeks, replace(search.query, window=Window(10)), tenant_id=TENANT)

    scans = [node for node in await plan_of(connection, page, "ANALYZE") if "Relation Name" in node]
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans) < 5 * 10


async def test_open_user_tasks_of_the_console_are_read_in_the_order_of_an_index(
    connection: asyncpg.Connection,
) -> None:
    """The planner sorts so few rows, unless it must not; then the index alone gives the whole order."""
    sort = [
        {"field": each["field"], "order": SORT_ORDER_DESC if each["order"] == "DESC" else SORT_ORDER_ASC}
        for each in URGENT_FIRST
    ]
    asked = SearchUserTasksRequest(filter={"state": {"eq": USER_TASK_STATE_CREATED}}, sort=sort)
    page = page_of(within(UserTask, ["runtime.user_task"]), parse(USER_TASKS, asked), tenant_id=TENANT)
    for setting in ("enable_sort", "enable_seqscan", "enable_bitmapscan", "enable_incremental_sort"):
        await connection.execute(f"SET {setting} = off")

    plan = await plan_of(connection, page)

    assert [node["Index Name"] for node in plan if "Index Name" in node] == ["user_task_urgency"]
    assert [node for node in plan if "Sort" in node["Node Type"]] == []


async def test_a_page_within_tables_reads_no_other(connection: asyncpg.Connection) -> None:
    week = "history.process_instance_20260202"
    (search,) = [search for search in SEARCHES if search.name == "terminated"]

    page = page_of(within(ProcessInstance, [week]), search.query, tenant_id=TENANT)

    plan = await plan_of(connection, page, "VERBOSE")
    assert {f"{node['Schema']}.{node['Relation Name']}" for node in plan if "Relation Name" in node} == {week}


@pytest.mark.parametrize(
    ("searchable", "field"),
    [
        (ELEMENT_INSTANCES, "process_instance_key"),
        (JOBS, "process_instance_key"),
        (VARIABLES, "scope_key"),
    ],
    ids=["element instances", "jobs", "variables"],
)
async def test_rows_of_an_instance_are_found_by_a_plan_that_knows_no_values(
    connection: asyncpg.Connection, searchable: Any, field: str
) -> None:
    query = searchable.query(equals(searchable, field, key(9)))
    statement = page_of(RELATIONS[searchable.entity], query, tenant_id=TENANT)
    await connection.execute("SET plan_cache_mode = force_generic_plan")

    assert await read_whole(connection, statement) == set()


@pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.name)
async def test_a_statistic_reads_only_rows_that_it_counts(
    connection: asyncpg.Connection, counted: Counted
) -> None:
    statement = counted.statement(SMALL_TENANT, await tables_of(connection, counted.statistic.entity))

    plan = await plan_of(connection, statement, "VERBOSE")

    assert await read_whole(connection, statement) == set()
    schemas = {node["Schema"] for node in plan if "Relation Name" in node}
    assert schemas == ({"runtime"} if counted.statistic.is_live else {"runtime", "history"})


@pytest.mark.parametrize(
    "counted", [each for each in COUNTED if each.is_in_index], ids=lambda counted: counted.name
)
async def test_element_instances_of_a_process_definition_are_counted_in_an_index(
    connection: asyncpg.Connection, counted: Counted
) -> None:
    plan = await plan_of(connection, counted.statement(TENANT, ()), "VERBOSE")

    of_history = [
        node for node in plan if node.get("Schema") == "history" and node["Node Type"] != "Index Scan"
    ]
    assert {node["Node Type"] for node in of_history} == {"Index Only Scan"}
