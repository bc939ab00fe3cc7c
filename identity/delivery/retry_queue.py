"""Durable retry queue for calls to external servers.

A task is a record. A process claims a task by incrementing its attempt counter, so only one process runs it. When that
process dies before the outcome is known, another attempt follows.

Tasks of different tenants run concurrently. Tenants whose last attempts failed share a part of the attempts that other
tenants never wait for, so an unreachable server delays only its own tenant.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.back_off import BackOff
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Changed, Record, Records

if TYPE_CHECKING:
    from server.platform.call import TenantId

logger = logging.getLogger(__name__)

_BACK_OFF = BackOff(60, 60, spread=0.5)
# A limit for handlers that do not limit their own calls.
_ATTEMPT_SECONDS = 600.0
_OCTET = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedTask(Record):
    """`next_at` is the time of the next attempt. Nodes of an older version find tasks by `due`, which is constant."""

    attempts: int
    next_at: datetime
    due: str = "due"


T = TypeVar("T", bound=QueuedTask)
T_contra = TypeVar("T_contra", bound=QueuedTask, contravariant=True)


class TaskHandler(Protocol[T_contra]):
    """Handles the tasks of one kind."""

    async def handle(self, tenant: Tenant, task: T_contra, /) -> bool:
        """Whether the task is done, or no longer wanted; any exception but Unavailable counts as a failure."""
        ...

    async def give_up(self, task: T_contra, /) -> None:
        """Report that the task has failed for good."""
        ...


# Waits for a number of seconds.
Pause = Callable[[float], Awaitable[None]]


class RetryPolicy(Protocol):
    """Number of attempts, interval of the look-up of due tasks, and number of concurrent attempts."""

    @property
    def attempts(self) -> int: ...

    @property
    def poll_interval_secs(self) -> int: ...

    @property
    def most_at_a_time(self) -> int: ...


class RetryQueue(Generic[T]):
    """`name` is the name of the tasks in the log."""

    def __init__(
        self,
        name: str,
        queue: Records[T],
        handler: TaskHandler[T],
        *,
        clock: Clock,
        randomness: Randomness,
        policy: RetryPolicy,
    ) -> None:
        self._name = name
        self._queue = queue
        self._handler = handler
        self._clock = clock
        self._randomness = randomness
        self._policy = policy
        self._lane, self._failing_lane = _lanes(policy.most_at_a_time)
        self._served: set[TenantId] = set()
        self._failing: set[TenantId] = set()

    async def run(
        self,
        tenants: Callable[[], Iterable[Tenant]],
        pause: Pause = asyncio.sleep,
    ) -> None:
        """Run due tasks until cancelled."""
        async with asyncio.TaskGroup() as serving:
            while True:
                for tenant in await self._due_tenants(tenants):
                    if tenant.tenant_id not in self._served:
                        self._served.add(tenant.tenant_id)
                        serving.create_task(self._serve(tenant))
                await pause(self._policy.poll_interval_secs)

    async def _due_tenants(self, tenants: Callable[[], Iterable[Tenant]]) -> Iterable[Tenant]:
        due: frozenset[TenantId] = frozenset()
        with self._faults_logged():
            due = frozenset(await self._queue.due_tenants(self._clock.now()))
        known = {tenant.tenant_id: tenant for tenant in tenants()}
        self._failing &= known.keys()
        return [tenant for tenant_id, tenant in known.items() if tenant_id in due]

    async def _serve(self, tenant: Tenant) -> None:
        try:
            with self._faults_logged(tenant):
                await self.run_due(tenant)
        finally:
            self._served.remove(tenant.tenant_id)

    async def run_due(self, tenant: Tenant) -> None:
        """Try every due task once, tenants in turns; raises Unavailable."""
        goes_on = True
        while goes_on:
            lane = self._failing_lane if tenant.tenant_id in self._failing else self._lane
            async with lane.turn() as most:
                goes_on = await self._run_some(tenant, lane, most)

    async def _run_some(self, tenant: Tenant, lane: "_Lane", most: int) -> bool:
        """Run some due tasks; returns whether more may be due."""
        due = await self._queue.due(tenant.tenant_id, self._clock.now(), most=most)
        async with asyncio.TaskGroup() as group:
            attempts = [group.create_task(self._attempt(tenant, lane, task)) for task in due]
        outcomes = {attempt.result() for attempt in attempts}
        if _Outcome.DONE in outcomes:
            self._failing.discard(tenant.tenant_id)
        elif _Outcome.FAILED in outcomes:
            self._failing.add(tenant.tenant_id)
        return len(due) == most and _Outcome.LATE not in outcomes

    async def _attempt(self, tenant: Tenant, lane: "_Lane", task: T) -> "_Outcome":
        outcome = _Outcome.LATE
        async with lane.slots:
            with self._faults_logged(tenant):
                try:
                    claimed = await self._queue.replace(self._claimed(task))
                except Changed:
                    # Another process runs it.
                    return _Outcome.DONE
                outcome = await self._handled(tenant, claimed)
                is_last = claimed.attempts >= self._policy.attempts
                if outcome is _Outcome.DONE or is_last:
                    await self._queue.take(tenant.tenant_id, claimed.id)
                if outcome is _Outcome.FAILED and is_last:
                    await self._handler.give_up(claimed)
        return outcome

    async def _handled(self, tenant: Tenant, task: T) -> "_Outcome":
        is_done = False
        with self._faults_logged(tenant, passing=Unavailable):
            async with asyncio.timeout(_ATTEMPT_SECONDS):
                is_done = await self._handler.handle(tenant, task)
        return _Outcome.DONE if is_done else _Outcome.FAILED

    def _claimed(self, task: T) -> T:
        attempts = task.attempts + 1
        back_off = timedelta(seconds=round(_BACK_OFF.seconds(attempts, self._chance)))
        return replace(task, attempts=attempts, next_at=self._clock.now() + back_off)

    @contextmanager
    def _faults_logged(
        self, tenant: Tenant | None = None, *, passing: type[Exception] | tuple[()] = ()
    ) -> Iterator[None]:
        """Log a fault, so that it ends neither other tasks nor the provider."""
        facts = {"queue": self._name, "tenant_id": tenant.tenant_id if tenant else None}
        try:
            yield
        except passing:
            raise
        except Unavailable as refusal:
            # The time of the next attempt is stored already, so the task is only late.
            logger.warning("queued tasks are delayed", extra={**facts, "reason": refusal.detail})
        except Exception:
            logger.exception("a queued task failed", extra=facts)

    def _chance(self) -> float:
        return self._randomness.octets(1)[0] / _OCTET


class _Outcome(Enum):
    """Outcome of an attempt; LATE when this process could not make the attempt."""

    DONE = auto()
    FAILED = auto()
    LATE = auto()


class _Lane:
    """A bound of `size` concurrent attempts that several tenants share."""

    def __init__(self, size: int) -> None:
        self.slots = asyncio.Semaphore(size)
        self._size = size
        self._turns = asyncio.Semaphore(size)
        self._tenants = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[int]:
        """Wait for the tenant's turn; yields the number of attempts that it has."""
        self._tenants += 1
        try:
            async with self._turns:
                # A single tenant leaves half of the attempts free, so the next tenant need not wait.
                yield max(1, self._size // max(2, self._tenants))
        finally:
            self._tenants -= 1


def _lanes(most: int) -> tuple[_Lane, _Lane]:
    """Return one lane for tenants whose tasks succeed, and one for tenants whose last attempts all failed."""
    share = max(1, most // 4)
    failing = _Lane(share)
    return (_Lane(most - share) if most > share else failing), failing
