"""Many want the same at once: one gets it, whichever connections and pools they come by."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from server.platform.clock import VirtualClock
from server.platform.postgres.pool import open_pool
from server.platform.records import AlreadyThere, Changed, Guard, Records
from server.platform.records.memory import MemoryRecordStore
from tests.server.platform.records import things
from tests.server.platform.records.things import ACME, THINGS, Thing, after, thing

CALLERS = 100


@pytest.fixture(params=["memory", "two pools"])
async def both(
    request: pytest.FixtureRequest, clock: VirtualClock, things_dsn: str
) -> AsyncIterator[Sequence[Records[Thing]]]:
    """The same records as two processes see them."""
    if request.param == "memory":
        store = MemoryRecordStore(clock)
        yield store.of(THINGS), store.of(THINGS)
        return
    async with AsyncExitStack() as stack:
        pools = [await stack.enter_async_context(open_pool(things_dsn, 5)) for _ in range(2)]
        await stack.enter_async_context(things.emptied(pools[0]))
        yield [things.postgres_store(pool, clock).of(THINGS) for pool in pools]


async def outcomes(calls: Sequence[Awaitable[Thing | None]]) -> Sequence[Thing]:
    """The results of the calls that succeeded; the others were refused."""
    async with asyncio.timeout(60):
        results = await asyncio.gather(*calls, return_exceptions=True)
    unexpected = [
        result
        for result in results
        if isinstance(result, BaseException) and not isinstance(result, AlreadyThere | Changed)
    ]
    assert unexpected == []
    return [result for result in results if isinstance(result, Thing)]


async def test_one_of_all_takers_gets_the_record(both: Sequence[Records[Thing]]) -> None:
    kept = await both[0].insert(thing(owner="o"))

    taken = await outcomes([both[number % 2].take(ACME, "one") for number in range(CALLERS)])

    assert taken == [kept]


async def test_one_of_all_changes_with_the_same_guard_is_made(both: Sequence[Records[Thing]]) -> None:
    guard = Guard(THINGS, await both[0].insert(thing("guard")))
    kept = [await both[0].insert(thing(f"{number}")) for number in range(CALLERS)]

    made = await outcomes(
        [
            both[number % 2].replace(replace(record, note="changed"), guard=guard)
            for number, record in enumerate(kept)
        ]
    )

    changed = [record for record in await both[0].page(ACME, most=2 * CALLERS) if record.note == "changed"]
    assert len(made) == 1
    assert changed == made


async def test_one_of_all_replacements_of_a_revision_stands(both: Sequence[Records[Thing]]) -> None:
    first = await both[0].insert(thing())

    stood = await outcomes(
        [both[number % 2].replace(replace(first, note=str(number))) for number in range(CALLERS)]
    )

    assert stood == [await both[1].get(ACME, "one")]
    assert stood[0].revision == 2


@pytest.mark.parametrize("expired", [(), ("old",)], ids=["nothing there", "an expired one there"])
async def test_one_of_all_inserts_of_a_unique_text_stands(
    both: Sequence[Records[Thing]], clock: VirtualClock, expired: Sequence[str]
) -> None:
    for record_id in expired:
        await both[0].insert(thing(record_id, name="n", expires_at=after(1)))
    clock.pin(after(2))

    stood = await outcomes(
        [both[number % 2].insert(thing(f"{number:03}", name="n")) for number in range(CALLERS)]
    )

    assert stood == await both[0].page(ACME)
    assert len(stood) == 1


async def test_a_record_is_either_replaced_or_taken(both: Sequence[Records[Thing]]) -> None:
    first = await both[0].insert(thing())

    changed = replace(first, note="changed")
    got = await outcomes(
        [
            both[number % 2].take(ACME, "one") if number % 4 < 2 else both[number % 2].replace(changed)
            for number in range(CALLERS)
        ]
    )

    kept = replace(changed, revision=2)
    assert list(got) in ([first], [kept, kept])
    assert await both[0].get(ACME, "one") is None
