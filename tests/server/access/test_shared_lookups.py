"""Callers that look for the same thing at the same time share what is found."""

import asyncio

import pytest

from server.access.shared_lookups import SharedLookups
from server.platform.errors import NotFound

SOON = 0.05


class Looking:
    """Finds the number of its turns when it is let go."""

    def __init__(self, error: NotFound | None = None) -> None:
        self.turns, self.let_go, self.error = 0, asyncio.Event(), error

    async def __call__(self, _: str) -> int:
        self.turns += 1
        await self.let_go.wait()
        if self.error is not None:
            raise self.error
        return self.turns


async def begun(looking: Looking, count: int) -> tuple[SharedLookups[str, int], list["asyncio.Task[int]"]]:
    lookups = SharedLookups[str, int]()
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(lookups.of("key", looking)) for _ in range(count)]
    await asyncio.sleep(0)
    return lookups, tasks


async def test_what_one_finds_is_for_all_that_asked_meanwhile() -> None:
    looking = Looking()
    lookups, tasks = await begun(looking, 3)
    looking.let_go.set()

    assert await asyncio.gather(*tasks) == [1, 1, 1]
    assert await lookups.of("key", looking) == 2
    assert "key" not in lookups


async def test_a_refusal_is_for_all_that_asked_meanwhile() -> None:
    looking = Looking(NotFound("nobody"))
    _, tasks = await begun(looking, 2)
    looking.let_go.set()

    for task in tasks:
        with pytest.raises(NotFound, match="nobody"):
            await task
    assert looking.turns == 1


async def test_another_one_looks_when_the_first_is_cancelled() -> None:
    looking = Looking()
    _, tasks = await begun(looking, 3)
    tasks[0].cancel()
    asyncio.get_running_loop().call_later(SOON, looking.let_go.set)

    found = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(found[0], asyncio.CancelledError)
    assert found[1:] == [2, 2]
