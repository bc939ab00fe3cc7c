"""Process instances that are started together: many share a call, and each has its own outcome.

A server without CreateProcessInstances gets one call for each instance.
"""

import asyncio
import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import grpc

from gnomon.client.calls import Calls
from gnomon.client.errors import RequestFailed, refused
from gnomon.engine.v1 import process_instance_service_pb2 as pb

if TYPE_CHECKING:
    from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceAsyncStub

Outcome = int | RequestFailed

# Bounds of one call: creations by the contract, and octets far below the largest message that servers take.
MOST_CREATIONS = 1_000
_MOST_OCTETS = 1 << 20
# Calls under way to a server that starts instances one by one.
_ALONE_AT_ONCE = 32


class Creations:
    """Starts process instances. Calls have a deadline of `seconds`, each."""

    def __init__(self, stub: "ProcessInstanceServiceAsyncStub", calls: Calls, *, seconds: float) -> None:
        self._stub = stub
        self._calls = calls
        self._seconds = seconds

    async def create(self, requests: Sequence[pb.CreateProcessInstanceRequest], key: str) -> list[Outcome]:
        """Return the key of each new instance, or its refusal, in their order; raises RequestFailed.

        A repeat with the same `key` and the same requests starts nothing again.
        """
        outcomes: list[Outcome] = []
        for number, together in enumerate(_calls_of(requests)):
            outcomes += await self._together(together, _key_of(key, number))
        return outcomes

    async def _together(
        self, requests: Sequence[pb.CreateProcessInstanceRequest], key: str
    ) -> Sequence[Outcome]:
        request = pb.CreateProcessInstancesRequest(creations=requests)
        try:
            answer = await self._calls.commands(
                self._stub.CreateProcessInstances,
                request,
                refusals_in=_refusals,
                seconds=self._seconds,
                key=key,
            )
        except RequestFailed as error:
            if error.code is not grpc.StatusCode.UNIMPLEMENTED:
                raise
            return await self._one_by_one(requests, key)
        refusals = _refusals(answer)
        return [
            refusal or outcome.process_instance.process_instance_key
            for refusal, outcome in zip(refusals, answer.outcomes, strict=True)
        ]

    async def _one_by_one(
        self, requests: Sequence[pb.CreateProcessInstanceRequest], key: str
    ) -> Sequence[Outcome]:
        places = asyncio.Semaphore(_ALONE_AT_ONCE)

        async def outcome(number: int, request: pb.CreateProcessInstanceRequest) -> Outcome:
            async with places:
                try:
                    answer = await self._calls.command(
                        self._stub.CreateProcessInstance,
                        request,
                        seconds=self._seconds,
                        key=_key_of(key, number),
                    )
                except RequestFailed as error:
                    return error
            return answer.process_instance_key

        async with asyncio.TaskGroup() as tasks:
            outcomes = [tasks.create_task(outcome(*each)) for each in enumerate(requests)]
        return [each.result() for each in outcomes]


def _calls_of(
    requests: Sequence[pb.CreateProcessInstanceRequest],
) -> Iterator[Sequence[pb.CreateProcessInstanceRequest]]:
    """The requests of one call after the other: at least one, and as many as a call holds."""
    together: list[pb.CreateProcessInstanceRequest] = []
    octets = 0
    for request in requests:
        octets += request.ByteSize()
        if together and (octets > _MOST_OCTETS or len(together) == MOST_CREATIONS):
            yield together
            together, octets = [], request.ByteSize()
        together.append(request)
    if together:
        yield together


def _key_of(key: str, number: int) -> str:
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{key} {number}").hex


def _refusals(answer: pb.CreateProcessInstancesResponse) -> Sequence[RequestFailed | None]:
    return [refused(outcome.refusal) for outcome in answer.outcomes]
