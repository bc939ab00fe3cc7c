"""Workers that wait for a job: an activation that found none is tried again when one is offered."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from server.engine.answers import ActivatedJobs
from server.engine.commands import ActivateJobs
from server.engine.events import Event
from server.partition.config import JobsConfig
from server.partition.partition import Partition
from server.platform.errors import ResourceExhausted

Place = tuple[str, str]
NO_JOBS = ActivatedJobs(())


class JobWaiters:
    """Wakes as many waiting activations as there are jobs on offer, longest waiting first."""

    def __init__(self, partition: Partition, config: JobsConfig) -> None:
        self._partition = partition
        self._config = config
        self._waiting: dict[Place, OrderedDict[asyncio.Future[None], None]] = {}
        self._count = 0
        partition.observers.append(self._observe)

    async def activate(self, command: ActivateJobs, seconds: float) -> ActivatedJobs:
        """Jobs as soon as there are any, none when there were none in so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                return await self._first_jobs(command)
        except TimeoutError:
            return NO_JOBS

    async def activate_now(self, command: ActivateJobs) -> ActivatedJobs:
        answer = await self._partition.submit(command)
        assert isinstance(answer, ActivatedJobs)  # noqa: S101  # what the handler answers
        return answer

    async def _first_jobs(self, command: ActivateJobs) -> ActivatedJobs:
        while True:
            answer = await self.activate_now(command)
            if answer.jobs:
                return answer
            await self._offer((command.tenant_id, command.type))

    async def _offer(self, place: Place) -> None:
        if place in self._partition.state.offers:
            return
        if self._count >= self._config.max_waiting:
            raise ResourceExhausted(f"{self._config.max_waiting} activations wait already")
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(place, OrderedDict())[waiter] = None
        self._count += 1
        try:
            await waiter
        except asyncio.CancelledError:
            self._leave(place, waiter)
            self._wake(place)
            raise

    def _leave(self, place: Place, waiter: asyncio.Future[None]) -> None:
        waiters = self._waiting.get(place)
        if waiters is not None and waiters.pop(waiter, waiter) is None:
            self._count -= 1
            if not waiters:
                del self._waiting[place]

    def _observe(self, _: Sequence[Event]) -> None:
        for place in [place for place in self._waiting if place in self._partition.state.offers]:
            self._wake(place)

    def _wake(self, place: Place) -> None:
        offers = len(self._partition.state.offers.get(place, ()))
        for waiter in list(self._waiting.get(place, ()))[:offers]:
            self._leave(place, waiter)
            if not waiter.done():
                waiter.set_result(None)
