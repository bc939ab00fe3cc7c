"""PostgreSQL and memory give the same answers to any sequence of requests."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.platform.errors import InvalidArgument
from server.platform.postgres.pool import open_pool
from server.platform.records import AlreadyThere, Changed, Records
from server.platform.records.memory import MemoryRecordStore
from tests.server.platform.records import things
from tests.server.platform.records.things import ACME, NOON, THINGS, UMBRELLA, Thing, thing

Ask = Callable[[Records[Thing]], Coroutine[Any, Any, object]]

TENANTS = st.sampled_from([ACME, UMBRELLA])
TEXTS = st.sampled_from(["", "a", "b", "\0"])
FIELDS = st.sampled_from(["name", "code", "owner", "colours"])
TIMES = st.integers(0, 3).map(lambda hours: NOON + timedelta(hours=hours))
CHANGES = st.fixed_dictionaries(
    {
        "name": TEXTS,
        "code": TEXTS,
        "owner": st.none() | TEXTS,
        "colours": st.lists(TEXTS, max_size=2).map(tuple),
        "expires_at": st.none() | st.integers(-1, 3).map(lambda hours: NOON + timedelta(hours=hours)),
        "wanted_at": TIMES,
    }
)
IDS = st.sampled_from(["1", "2", "3"])
STEPS = st.one_of(
    st.tuples(st.just("insert"), TENANTS, IDS, CHANGES),
    st.tuples(
        st.just("insert_all"),
        TENANTS,
        st.lists(st.tuples(IDS, CHANGES), max_size=3, unique_by=lambda row: row[0]),
    ),
    st.tuples(st.just("find_any"), TENANTS, st.sampled_from(["name", "code"]), st.lists(TEXTS, max_size=3)),
    st.tuples(st.just("replace"), TENANTS, IDS, CHANGES),
    st.tuples(st.just("get"), TENANTS, IDS),
    st.tuples(st.just("take"), TENANTS, IDS),
    st.tuples(st.just("find"), TENANTS, FIELDS, TEXTS),
    st.tuples(st.just("remove"), TENANTS, FIELDS, TEXTS),
    st.tuples(st.just("due"), TENANTS, TIMES),
    st.tuples(st.just("due_tenants"), TIMES),
    st.tuples(st.just("page"), TENANTS),
    st.tuples(st.just("remove_expired")),
    st.tuples(st.just("wait")),
)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as running:
        yield running


@pytest.fixture(scope="module")
def shared_pool(runner: asyncio.Runner, things_dsn: str) -> Iterator[asyncpg.Pool]:
    opened = open_pool(things_dsn, 1)
    yield runner.run(opened.__aenter__())
    runner.run(opened.__aexit__(None, None, None))


@settings(max_examples=40)
@given(steps=st.lists(STEPS, min_size=1, max_size=25))
def test_both_answer_the_same(
    runner: asyncio.Runner, shared_pool: asyncpg.Pool, steps: list[tuple[Any, ...]]
) -> None:
    runner.run(compare(shared_pool, steps))


async def compare(pool: asyncpg.Pool, steps: list[tuple[Any, ...]]) -> None:
    clock = things.clock()
    async with things.emptied(pool):
        memory = MemoryRecordStore(clock).of(THINGS)
        postgres = things.postgres_store(pool, clock).of(THINGS)
        known: dict[tuple[str, str], Thing] = {}
        for name, *arguments in steps:
            if name == "wait":
                clock.advance(timedelta(hours=1))
                continue
            ask = asked(name, arguments, known)
            expected, found = await answer(memory, ask), await answer(postgres, ask)
            assert expected == found
            if isinstance(expected, Thing) and name in ("insert", "replace"):
                known[expected.tenant_id, expected.id] = expected
            if isinstance(expected, list) and name == "insert_all":
                known |= {(record.tenant_id, record.id): record for record in expected}


def asked(name: str, arguments: list[Any], known: dict[tuple[str, str], Thing]) -> Ask:
    """A replacement has the revision that was last written, which may be gone by now."""
    match name, arguments:
        case "insert", (tenant_id, record_id, changes):
            return lambda records: records.insert(thing(record_id, tenant_id, **changes))
        case "insert_all", (tenant_id, rows):
            new = [thing(record_id, tenant_id, **changes) for record_id, changes in rows]
            return lambda records: records.insert_all(new)
        case "replace", (tenant_id, record_id, changes):
            last = known.get((tenant_id, record_id), thing(record_id, tenant_id, revision=1))
            return lambda records: records.replace(replace(last, **changes))
        case "due", (tenant_id, now):
            return lambda records: records.due(tenant_id, now, most=2)
        case _:
            return lambda records: getattr(records, name)(*arguments)


async def answer(records: Records[Thing], ask: Ask) -> object:
    try:
        return await ask(records)
    except AlreadyThere as error:
        return "there already", error.field
    except (Changed, InvalidArgument) as error:
        return type(error)
