"""Checks one after the other, a line for each: its result, its name and what went wrong."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.05


async def check(name: str, checking: Awaitable[None]) -> None:
    """A failed check does not keep the next ones from running."""
    try:
        await checking
    except Exception as failure:  # noqa: BLE001  # each is reported
        _report("failed", name, repr(failure))
    else:
        _report("passed", name)


def _report(*words: str) -> None:
    sys.stdout.write("\t".join(" ".join(word.split()) for word in words) + "\n")
    sys.stdout.flush()


def same(expected: object, found: object) -> None:
    if expected != found:
        raise AssertionError(f"expected {expected}, found {found}")


async def refused(expected: type[Exception], call: Awaitable[object]) -> None:
    """The call raises the error that the client has for it."""
    try:
        answer = await call
    except expected:
        return
    raise AssertionError(f"expected {expected.__name__}, found {answer}")


async def eventually(expected: T, question: Callable[[], T]) -> None:
    """Asks until the answer is the expected one."""
    end = monotonic() + PATIENCE_SECONDS
    while (found := question()) != expected and monotonic() < end:  # noqa: ASYNC110  # workers tell of nothing
        await asyncio.sleep(PAUSE_SECONDS)
    same(expected, found)
