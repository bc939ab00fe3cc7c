"""Process instances that the Python client starts together share calls, and each gets its own outcome."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import grpc
from google.rpc.status_pb2 import Status

from gnomon.client import Client, RequestFailed
from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1.process_instance_service_pb2_grpc import (
    ProcessInstanceServiceServicer,
    add_ProcessInstanceServiceServicer_to_server,
)
from server.platform.errors import NotFound, ResourceExhausted

Context = grpc.aio.ServicerContext[pb.CreateProcessInstanceRequest, pb.CreateProcessInstanceResponse]
ManyContext = grpc.aio.ServicerContext[pb.CreateProcessInstancesRequest, pb.CreateProcessInstancesResponse]


class Instances(ProcessInstanceServiceServicer):
    """The process `order` can be started, once with each idempotency key; other processes are unknown."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self._keys: dict[str, int] = {}

    async def CreateProcessInstance(  # type: ignore[override]  # noqa: N802  # asynchronous, and named by gRPC
        self, request: pb.CreateProcessInstanceRequest, context: Context
    ) -> pb.CreateProcessInstanceResponse:
        self.calls.append(1)
        outcome = self._create(request, _key_in(context))
        if outcome.HasField("refusal"):
            await context.abort(grpc.StatusCode.NOT_FOUND, outcome.refusal.message)
        return outcome.process_instance

    def _create(self, request: pb.CreateProcessInstanceRequest, key: str) -> pb.CreationOutcome:
        if request.process_definition_id != "order":
            return pb.CreationOutcome(refusal=NotFound("no such process").status())
        number = self._keys.setdefault(key, len(self._keys) + 1)
        return pb.CreationOutcome(
            process_instance=pb.CreateProcessInstanceResponse(process_instance_key=number)
        )


class ManyInstances(Instances):
    """A server that has CreateProcessInstances; its queue is full for the creations with the numbers in `busy`, once."""

    def __init__(self, *busy: int) -> None:
        super().__init__()
        self._busy = {*busy}

    async def CreateProcessInstances(  # type: ignore[override]  # noqa: N802  # asynchronous, and named by gRPC
        self, request: pb.CreateProcessInstancesRequest, context: ManyContext
    ) -> pb.CreateProcessInstancesResponse:
        self.calls.append(len(request.creations))
        full, self._busy = self._busy, set()
        return pb.CreateProcessInstancesResponse(
            outcomes=[
                pb.CreationOutcome(refusal=_FULL)
                if number in full
                else self._create(each, f"{_key_in(context)} {number}")
                for number, each in enumerate(request.creations)
            ]
        )


_FULL: Status = ResourceExhausted("the queue is full").status()


def _key_in(context: Context | ManyContext) -> str:
    return str(dict(context.invocation_metadata() or ())["idempotency-key"])


@asynccontextmanager
async def client_of(instances: Instances) -> AsyncIterator[Client]:
    server = grpc.aio.server()
    add_ProcessInstanceServiceServicer_to_server(instances, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with Client(f"127.0.0.1:{port}", "token") as client:
            yield client
    finally:
        await server.stop(None)


def codes_of(outcomes: Sequence[int | RequestFailed]) -> set[object]:
    return {outcome.code if isinstance(outcome, RequestFailed) else type(outcome) for outcome in outcomes}


async def test_up_to_a_thousand_instances_share_a_call() -> None:
    async with client_of(instances := ManyInstances()) as client:
        found = await client.start_process_instances("order", [None] * 2_001)

    assert found == [*range(1, 2_002)]
    assert instances.calls == [1_000, 1_000, 1]


async def test_calls_are_of_bounded_size() -> None:
    async with client_of(instances := ManyInstances()) as client:
        found = await client.start_process_instances("order", [{"a": "x" * 600_000}] * 3)

    assert (found, instances.calls) == ([1, 2, 3], [1, 1, 1])


async def test_each_instance_gets_its_own_refusal() -> None:
    async with client_of(ManyInstances()) as client:
        found = await client.start_process_instances("unknown", [None, None])

    assert codes_of(found) == {grpc.StatusCode.NOT_FOUND}
    assert len({id(refusal) for refusal in found}) == 2


async def test_instances_that_find_a_full_queue_are_started_by_a_repeat() -> None:
    async with client_of(instances := ManyInstances(1)) as client:
        found = await client.start_process_instances("order", [None] * 3)

    assert sorted(outcome for outcome in found if isinstance(outcome, int)) == [1, 2, 3]
    assert instances.calls == [3, 3]


async def test_a_repeat_under_a_key_of_the_program_starts_nothing_again() -> None:
    async with client_of(ManyInstances()) as client:
        first = await client.start_process_instances("order", [None] * 1_001, idempotency_key="import-7")
        second = await client.start_process_instances("order", [None] * 1_001, idempotency_key="import-7")
        other = await client.start_process_instances("order", [None], idempotency_key="import-8")

    assert first == second
    assert other == [1_002]


async def test_nothing_to_start_needs_no_call() -> None:
    async with client_of(instances := ManyInstances()) as client:
        assert await client.start_process_instances("order", []) == []

    assert instances.calls == []


async def test_a_server_without_the_call_gets_one_call_for_each_instance() -> None:
    async with client_of(instances := Instances()) as client:
        found = await client.start_process_instances("order", [None] * 40, idempotency_key="import-7")
        again = await client.start_process_instances("order", [None] * 40, idempotency_key="import-7")
        refused = await client.start_process_instances("unknown", [None])

    assert sorted(outcome for outcome in found if isinstance(outcome, int)) == [*range(1, 41)]
    assert again == found
    assert codes_of(refused) == {grpc.StatusCode.NOT_FOUND}
    assert instances.calls == [1] * 81
