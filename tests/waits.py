"""Waiting for what others do: by rounds of the loop, never for a time that is hoped to be enough."""

import asyncio
import time
from collections.abc import Awaitable, Callable

PATIENCE_SECONDS = 20.0
# Rounds without a pause, in which everything happens that waits for nobody else.
EAGER_ROUNDS = 200
PAUSE_SECONDS = 0.001
LOOK_SECONDS = 0.05


async def ticks(count: int) -> None:
    """Let everything else go on for so many rounds of the loop."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object]) -> None:
    """Return as soon as it holds."""
    for _ in range(EAGER_ROUNDS):
        if condition():
            return
        await asyncio.sleep(0)
    clock = asyncio.get_running_loop().time
    until = clock() + PATIENCE_SECONDS
    while not condition():
        assert clock() < until, f"not within {PATIENCE_SECONDS:g} s"
        await asyncio.sleep(PAUSE_SECONDS)


async def until_so(look: Callable[[], Awaitable[object]]) -> None:
    """Return as soon as a look says so."""
    clock = asyncio.get_running_loop().time
    until = clock() + PATIENCE_SECONDS
    while not await look():
        assert clock() < until, f"not within {PATIENCE_SECONDS:g} s"
        await asyncio.sleep(PAUSE_SECONDS)


def until_others(condition: Callable[[], object]) -> None:
    """Return as soon as it holds of another process; for tests without a loop."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < until, f"not within {PATIENCE_SECONDS:g} s"
        time.sleep(LOOK_SECONDS)  # between two looks at what is elsewhere
