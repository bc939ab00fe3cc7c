"""Keeps the clock of a process in step with the clock of the database.

Of several measurements the one with the shortest round trip counts. While the database is not available, the clock
continues with the last known time.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from server.platform.clock import DatabaseClock
from server.platform.errors import Unavailable
from server.platform.postgres.database import Database

logger = logging.getLogger(__name__)

PASS_SECONDS = 10.0
MEASUREMENT_SECONDS = 5.0
MEASUREMENTS = 5
NOTABLE = timedelta(seconds=1)


@asynccontextmanager
async def following(clock: DatabaseClock, database: Database) -> AsyncIterator[None]:
    """Correct the clock, and keep it correct during the block; raises Unavailable."""
    await correct(clock, database)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(_follow(clock, database))
        try:
            yield
        finally:
            running.cancel()


async def correct(clock: DatabaseClock, database: Database) -> None:
    """Correct the clock once; raises Unavailable."""
    try:
        async with asyncio.timeout(MEASUREMENT_SECONDS):
            measured = [await _measured(clock, database) for _ in range(MEASUREMENTS)]
    except TimeoutError as error:
        raise Unavailable("the database did not tell its time") from error
    found, asked, answered = min(measured, key=lambda each: each[2] - each[1])
    correction = clock.correct(found, asked=asked, answered=answered)
    if abs(correction) >= NOTABLE:
        logger.warning(
            "the clocks of this node and of the database differ; the node follows the database's",
            extra={"correction_seconds": round(correction.total_seconds(), 3)},
        )


async def _measured(clock: DatabaseClock, database: Database) -> tuple[datetime, float, float]:
    """Return the time of the database, and readings of the monotonic clock before and after it."""
    asked = clock.monotonic()
    (row,) = await database.fetch("SELECT clock_timestamp()")
    return row[0], asked, clock.monotonic()


async def _follow(clock: DatabaseClock, database: Database) -> None:
    is_failing = False
    while True:
        await asyncio.sleep(PASS_SECONDS)
        try:
            await correct(clock, database)
        except Unavailable:
            if not is_failing:
                logger.warning(
                    "the time of the database is unknown; the clock continues with the last known time"
                )
            is_failing = True
        else:
            is_failing = False
