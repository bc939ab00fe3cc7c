"""Requests of a campaign to a deployment, over any transport; they are repeated until there is an answer."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

T = TypeVar("T")

ATTEMPT_SECONDS = 2.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 0.2
PATIENCE_SECONDS = 120.0
# A job whose activation was not heard of is offered again soon.
JOB_MILLISECONDS = 5_000
POLL_MILLISECONDS = 500
BUFFERED_MILLISECONDS = 3_600_000


class NotAnswered(Exception):
    """The attempt may have counted or not: the same request has to be sent again under the same key."""


class Refused(Exception):
    """An answer, and not the one that was asked for."""


@dataclass(frozen=True, slots=True)
class Job:
    key: int
    process_instance_key: int
    retries: int


class Api(Protocol):
    """Every method is one attempt; raises NotAnswered or Refused."""

    async def deploy(self, name: str, content: bytes) -> None: ...

    async def start(self, process_id: str, *, idempotency_key: str) -> int:
        """The key of the process instance, whose variable `REFERENCE` is the idempotency key."""
        ...

    async def publish(self, name: str, correlation_key: str, *, idempotency_key: str) -> int:
        """The key of a message, which waits for a process instance as long as a campaign may take."""
        ...

    async def activate(self, job_type: str, most: int) -> Sequence[Job]: ...

    async def complete(self, job_key: int, *, idempotency_key: str) -> None: ...

    async def fail(self, job_key: int, *, retries: int, idempotency_key: str) -> None: ...

    async def give_retries(self, job_key: int, *, idempotency_key: str) -> None: ...

    async def incidents_of(self, job_key: int) -> Sequence[int]: ...

    async def resolve(self, incident_key: int, *, idempotency_key: str) -> None: ...

    async def count(self, process_id: str, state: str) -> int:
        """How many process instances a search finds."""
        ...


async def until_answered(attempt: Callable[[], Awaitable[T]]) -> T:
    """Repeat the attempt until it is answered; raises Refused, and TimeoutError when there is no answer for too long."""
    pause = FIRST_PAUSE_SECONDS
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                return await attempt()
            except NotAnswered:
                await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
