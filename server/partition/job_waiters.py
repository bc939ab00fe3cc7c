"""Workers that wait for jobs: an activation that found none is tried again when a job is offered.

First come, first served: new activations queue behind those that wait for the same jobs, and an activation
that was woken but got no job keeps its position.
"""

import asyncio
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from server.engine.answers import ActivatedJobs
from server.engine.events import Event
from server.engine.job_commands import ActivateJobs
from server.engine.state import Place
from server.engine.tenant_events import TenantMarked
from server.partition.config import JobsConfig
from server.partition.lifecycle import Operation
from server.partition.partition import Partition
from server.partition.places import Places
from server.platform.errors import NotFound, Unavailable

NO_JOBS = ActivatedJobs(())


@dataclass(slots=True, order=True)
class _Waiter:
    """A waiting activation; `number` is its arrival order, `is_served` is true after it left the queue to activate jobs."""

    number: int
    max_jobs: int = field(compare=False)
    woken: asyncio.Future[None] = field(compare=False)
    is_served: bool = field(default=False, compare=False)


@dataclass(slots=True)
class _Line:
    """The queue of activations for one job type of a tenant, and the number of jobs that woken ones ask for."""

    waiters: list[_Waiter] = field(default_factory=list)
    asked: int = 0


class JobWaiters:
    """Wakes as many waiting activations as the offered jobs can serve, longest waiting first."""

    def __init__(self, partition: Partition, config: JobsConfig) -> None:
        self._partition = partition
        self._places = Places(config.max_waiting, config.max_tenant_waiting, "activations")
        self._lines: dict[Place, _Line] = {}
        self._numbers = count()
        partition.observers.append(self._observe)
        partition.endings.append(self._refuse)

    @property
    def waiting(self) -> int:
        """The number of waiting activations."""
        return self._places.taken

    async def activate(self, command: ActivateJobs, seconds: float) -> ActivatedJobs:
        """Wait for jobs and return them; empty after `seconds`, or when the partition is drained."""
        try:
            async with asyncio.timeout(seconds):
                return await self._first_jobs(command)
        except TimeoutError:
            return NO_JOBS
        except Unavailable:
            if self._partition.is_draining:
                return NO_JOBS
            raise

    async def activate_now(self, command: ActivateJobs) -> ActivatedJobs:
        answer = await self._partition.submit(command)
        assert isinstance(answer, ActivatedJobs)  # noqa: S101  # what the handler answers
        return answer

    async def await_offer(self, command: ActivateJobs, seconds: float) -> bool:
        """Wait for an offer and return whether there is one; the next activation gets the jobs."""
        place = (command.tenant_id, command.type)
        try:
            async with asyncio.timeout(seconds):
                waiter = self._join(place, next(self._numbers), command.max_jobs)
                try:
                    await waiter.woken
                finally:
                    self._leave(place, waiter)
        except TimeoutError:
            return False
        return True

    async def _first_jobs(self, command: ActivateJobs) -> ActivatedJobs:
        place, number = (command.tenant_id, command.type), next(self._numbers)
        answer = NO_JOBS if place in self._lines else await self.activate_now(command)
        while not answer.jobs:
            answer = await self._ask_in_turn(place, number, command)
        return answer

    async def _ask_in_turn(self, place: Place, number: int, command: ActivateJobs) -> ActivatedJobs:
        waiter = self._join(place, number, command.max_jobs)
        try:
            await waiter.woken
            return await self.activate_now(command)
        finally:
            self._leave(place, waiter)

    def _join(self, place: Place, number: int, max_jobs: int) -> _Waiter:
        self._partition.lifecycle.expect(Operation.WAIT)
        self._places.take(_tenant(place))
        waiter = _Waiter(number, max_jobs, asyncio.get_running_loop().create_future())
        insort(self._lines.setdefault(place, _Line()).waiters, waiter)
        self._wake(place)
        return waiter

    def _leave(self, place: Place, waiter: _Waiter) -> None:
        """Leave the queue, and wake the next activations for the jobs that this one did not take."""
        line = self._lines[place]
        if waiter.is_served:
            line.asked -= waiter.max_jobs
        else:
            del line.waiters[bisect_left(line.waiters, waiter)]
            self._places.free(_tenant(place))
        self._wake(place)

    def _observe(self, happened: Sequence[Event]) -> None:
        for event in happened:
            if isinstance(event, TenantMarked):
                self._end(event.tenant_id)
        for place in [place for place in self._lines if place in self._partition.state.offers]:
            self._wake(place)

    def _end(self, tenant_id: str) -> None:
        """End the waits of a tenant that is being removed."""
        for place in [place for place in self._lines if _tenant(place) == tenant_id]:
            for waiter in filter(_is_waiting, self._lines[place].waiters):
                waiter.woken.set_exception(NotFound(f"the tenant '{tenant_id}' is being removed"))

    def _refuse(self) -> None:
        for line in self._lines.values():
            for waiter in filter(_is_waiting, line.waiters):
                waiter.woken.set_exception(Unavailable("the partition stopped serving"))

    def _wake(self, place: Place) -> None:
        line = self._lines[place]
        offers = len(self._partition.state.offers.get(place, ()))
        while line.asked < offers and (waiter := next(filter(_is_waiting, line.waiters), None)):
            line.waiters.remove(waiter)
            self._places.free(_tenant(place))
            line.asked += waiter.max_jobs
            waiter.is_served = True
            waiter.woken.set_result(None)
        if not line.waiters and not line.asked:
            del self._lines[place]


def _tenant(place: Place) -> str:
    return place[0]


def _is_waiting(waiter: _Waiter) -> bool:
    """Whether the waiter still waits, and was not cancelled."""
    return not waiter.woken.done()
