import asyncio

import pytest

from server.platform.deadlines import Deadlines


async def test_a_block_that_takes_too_long_is_cancelled() -> None:
    with pytest.raises(TimeoutError), Deadlines().within(0.01):
        await asyncio.Event().wait()


async def test_a_block_that_ends_in_time_is_left_alone() -> None:
    deadlines = Deadlines()

    with deadlines.within(0.01):
        await asyncio.sleep(0)
    await asyncio.sleep(0.6)

    assert asyncio.current_task().cancelling() == 0


async def test_deadlines_of_the_same_moment_all_pass() -> None:
    deadlines = Deadlines()

    async def wait() -> str:
        try:
            with deadlines.within(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            return "late"
        return "in time"

    assert await asyncio.gather(*(wait() for _ in range(50))) == ["late"] * 50


async def test_a_cancellation_from_elsewhere_stays_one() -> None:
    async def wait() -> None:
        with Deadlines().within(60):
            await asyncio.Event().wait()

    waiting = asyncio.ensure_future(wait())
    await asyncio.sleep(0)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
