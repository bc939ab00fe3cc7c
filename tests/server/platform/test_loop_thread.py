import asyncio
import logging
import threading

import pytest

from server.platform.loop_thread import LoopThread
from tests.waits import PATIENCE_SECONDS, until


async def test_the_work_runs_in_a_thread_of_its_own_until_the_block_ends() -> None:
    names: list[str] = []

    async def work() -> None:
        names.append(threading.current_thread().name)
        try:
            await asyncio.Event().wait()
        finally:
            names.append("cancelled")

    async with LoopThread("leases", work):
        await until(lambda: names)

    assert names == ["leases", "cancelled"]


async def test_the_work_goes_on_while_the_loop_of_the_process_stands_still() -> None:
    done = threading.Event()

    async def work() -> None:
        await asyncio.sleep(0)
        done.set()

    async with LoopThread("leases", work):
        assert done.wait(PATIENCE_SECONDS)


async def test_work_that_fails_is_logged_and_ends_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        raise ZeroDivisionError

    async with LoopThread("leases", work):
        await until(lambda: caplog.records)

    [record] = caplog.records
    assert (record.levelno, record.__dict__["name_of_thread"]) == (logging.ERROR, "leases")


async def test_an_error_of_the_block_leaves_it_as_it_is() -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(LookupError):
        async with LoopThread("leases", work):
            raise LookupError
