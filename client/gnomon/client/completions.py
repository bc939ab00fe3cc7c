"""Completions of jobs, sent together: completions that wait while calls are running share the next call.

A single completion is sent as CompleteJob. A server without CompleteJobs gets one call for each completion.
"""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import grpc

from gnomon.client.calls import Calls
from gnomon.client.errors import RequestFailed, refused
from gnomon.engine.v1 import job_service_pb2 as pb

if TYPE_CHECKING:
    from gnomon.engine.v1.job_service_pb2_grpc import JobServiceAsyncStub

# Running calls.
SENDERS = 2
# Bounds of one call: completions by the contract, and octets far below the largest message that servers take.
_MOST_COMPLETIONS = 1_000
_MOST_OCTETS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A completion with its outcome, which is None when the server accepted it."""

    request: pb.CompleteJobRequest
    outcome: "asyncio.Future[RequestFailed | None]"


class Completions:
    """Queue of a worker's completions; the worker runs `send` in SENDERS tasks. Calls have a deadline of `seconds`."""

    def __init__(self, stub: "JobServiceAsyncStub", calls: Calls, *, seconds: float) -> None:
        self._stub = stub
        self._calls = calls
        self._seconds = seconds
        self._waiting: OrderedDict[_Place, None] = OrderedDict()
        self._has_waiting = asyncio.Event()
        self._is_served = True

    async def complete(self, request: pb.CompleteJobRequest) -> None:
        """Return when the job is completed; raises RequestFailed."""
        if not self._is_served:
            await self._complete_alone(request)
            return
        place = _Place(request, asyncio.get_running_loop().create_future())
        self._waiting[place] = None
        self._has_waiting.set()
        try:
            refusal = await place.outcome
        finally:
            self._waiting.pop(place, None)
        if refusal is not None:
            raise refusal

    async def send(self) -> NoReturn:
        """Send completions as they arrive, until the task is cancelled."""
        while True:
            while not self._waiting:
                self._has_waiting.clear()
                await self._has_waiting.wait()
            places = self._next()
            for place, outcome in zip(places, await self._outcomes(places), strict=True):
                if not place.outcome.done():
                    place.outcome.set_result(outcome)

    def _next(self) -> list[_Place]:
        """Take the places that have waited longest: as many as one call holds, and at least one."""
        taken: list[_Place] = []
        octets = 0
        while self._waiting and len(taken) < _MOST_COMPLETIONS:
            place = next(iter(self._waiting))
            octets += place.request.ByteSize()
            if taken and octets > _MOST_OCTETS:
                break
            taken.append(self._waiting.popitem(last=False)[0])
        return taken

    async def _outcomes(self, places: Sequence[_Place]) -> Sequence[RequestFailed | None]:
        requests = [place.request for place in places]
        try:
            if len(requests) > 1 and self._is_served:
                return await self._complete_together(requests)
        except RequestFailed as error:
            if error.code is not grpc.StatusCode.UNIMPLEMENTED:
                # One error for each completion: a traceback belongs to the task that raises it.
                return [type(error)(error.code, error.reason, error.message) for _ in places]
            self._is_served = False
        async with asyncio.TaskGroup() as tasks:
            outcomes = [tasks.create_task(self._outcome(request)) for request in requests]
        return [outcome.result() for outcome in outcomes]

    async def _complete_together(
        self, requests: Sequence[pb.CompleteJobRequest]
    ) -> Sequence[RequestFailed | None]:
        request = pb.CompleteJobsRequest(completions=requests)
        answer = await self._calls.commands(
            self._stub.CompleteJobs,
            request,
            refusals_in=_refusals,
            seconds=self._seconds,
            key=uuid.uuid4().hex,
        )
        return _refusals(answer)

    async def _outcome(self, request: pb.CompleteJobRequest) -> RequestFailed | None:
        try:
            await self._complete_alone(request)
        except RequestFailed as error:
            return error
        return None

    async def _complete_alone(self, request: pb.CompleteJobRequest) -> None:
        await self._calls.command(self._stub.CompleteJob, request, seconds=self._seconds)


def _refusals(answer: pb.CompleteJobsResponse) -> Sequence[RequestFailed | None]:
    return [refused(outcome) for outcome in answer.outcomes]
