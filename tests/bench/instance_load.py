"""A load of process instances with one service task each, over a protocol that Zeebe has too.

Run as a process of its own: reads an Asked from the standard input and prints Figures, both as JSON.
"""

import asyncio
import itertools
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import aiohttp
import grpc
import msgspec
import uvloop

from gnomon.client import Client
from gnomon.gateway_protocol import gateway_pb2 as pb
from gnomon.gateway_protocol.gateway_pb2_grpc import GatewayStub
from server.platform import collector
from tests.bench.served import CALL_SECONDS

if TYPE_CHECKING:
    from gnomon.gateway_protocol.gateway_pb2_grpc import GatewayAsyncStub

WAIT_MS = 10_000
JOB_MS = 300_000
MOST_JOBS = 32
VARIABLES = '{"amount":120,"customer":"c-1"}'
RESULT = '{"done":true}'
END_SECONDS = 60.0


class Asked(msgspec.Struct, frozen=True):
    """`address` is host:port for gRPC and a URL for HTTP; `rate` is starts a second, 0 for as many as there is time for.

    `variables` are those of each instance, a JSON object.
    """

    way: str
    address: str
    token: str
    process: str
    seconds: float
    in_flight: int
    rate: float = 0
    variables: str = VARIABLES


class Figures(msgspec.Struct):
    """`starts` are the seconds of each start until its answer, sorted."""

    completed: int
    seconds: float
    starts: list[float]


class Way(Protocol):
    """How a program starts instances and works on their jobs."""

    async def start(self) -> None: ...

    async def work(self, done: Callable[[], None]) -> None:
        """Complete the jobs until the task is cancelled, and tell of each that is completed."""
        ...


class _Load:
    """As many instances as there are permits are in flight; a completed one gives its permit back."""

    def __init__(self, way: Way, asked: Asked) -> None:
        self._way, self._asked = way, asked
        self._permits = asyncio.Semaphore(asked.in_flight)
        self._starts: list[float] = []

    async def run(self) -> Figures:
        begun = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            worker = tasks.create_task(self._way.work(self._permits.release))
            started = await self._start_all(begun, tasks)
            async with asyncio.timeout(END_SECONDS):
                for _ in range(self._asked.in_flight):
                    await self._permits.acquire()
            seconds = time.perf_counter() - begun
            worker.cancel()
        return Figures(started, seconds, sorted(self._starts))

    async def _start_all(self, begun: float, tasks: asyncio.TaskGroup) -> int:
        """Return how many were started."""
        rate = self._asked.rate
        for number in itertools.count():
            due = begun + number / rate if rate else time.perf_counter()
            if due >= begun + self._asked.seconds:
                return number
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            await self._permits.acquire()
            tasks.create_task(self._start(due if rate else time.perf_counter()))
        raise AssertionError("there is always another number")

    async def _start(self, due: float) -> None:
        await self._way.start()
        self._starts.append(time.perf_counter() - due)


@dataclass(frozen=True)
class _Grpc:
    """Zeebe's protocol."""

    stub: "GatewayAsyncStub"
    process: str
    variables: str
    metadata: tuple[tuple[str, str], ...]

    async def start(self) -> None:
        request = pb.CreateProcessInstanceRequest(
            bpmnProcessId=self.process, version=-1, variables=self.variables
        )
        await self.stub.CreateProcessInstance(request, timeout=CALL_SECONDS, metadata=self.metadata)

    async def work(self, done: Callable[[], None]) -> None:
        request = pb.ActivateJobsRequest(
            type=self.process,
            worker="load",
            timeout=JOB_MS,
            maxJobsToActivate=MOST_JOBS,
            requestTimeout=WAIT_MS,
        )
        async with asyncio.TaskGroup() as completions:
            while True:
                async for part in self.stub.ActivateJobs(
                    request, timeout=CALL_SECONDS, metadata=self.metadata
                ):
                    for job in part.jobs:
                        completions.create_task(self._complete(job.key, done))

    async def _complete(self, key: int, done: Callable[[], None]) -> None:
        request = pb.CompleteJobRequest(jobKey=key, variables=RESULT)
        await self.stub.CompleteJob(request, timeout=CALL_SECONDS, metadata=self.metadata)
        done()


@dataclass(frozen=True)
class _Http:
    session: aiohttp.ClientSession
    process: str
    variables: str

    async def start(self) -> None:
        body = {"processDefinitionId": self.process, "variables": msgspec.Raw(self.variables.encode())}
        await self._answer("/v2/process-instances", body)

    async def work(self, done: Callable[[], None]) -> None:
        activation = {
            "type": self.process,
            "worker": "load",
            "timeout": JOB_MS,
            "maxJobsToActivate": MOST_JOBS,
            "requestTimeout": WAIT_MS,
        }
        async with asyncio.TaskGroup() as completions:
            while True:
                answer = await self._answer("/v2/jobs/activation", activation)
                for job in answer["jobs"]:
                    key = job["jobKey"] if "jobKey" in job else job["key"]  # until Zeebe 8.7
                    completions.create_task(self._complete(str(key), done))

    async def _complete(self, key: str, done: Callable[[], None]) -> None:
        await self._answer(f"/v2/jobs/{key}/completion", {"variables": {"done": True}})
        done()

    async def _answer(self, path: str, body: Mapping[str, Any]) -> Any:
        async with self.session.post(path, data=msgspec.json.encode(body)) as response:
            answer = await response.read()
            if response.status >= 300:
                raise RuntimeError(f"{path}: {response.status} {answer[:500]!r}")
            return msgspec.json.decode(answer) if answer else None


@dataclass(frozen=True)
class _OwnClient:
    """`gnomon.client`, as an application uses it."""

    client: Client
    process: str
    variables: Mapping[str, object]

    async def start(self) -> None:
        await self.client.start_process_instance(self.process, self.variables)

    async def work(self, done: Callable[[], None]) -> None:
        async def handler(_: object) -> Mapping[str, object]:
            done()
            return {"done": True}

        async with self.client.worker(self.process, handler, max_jobs=2 * MOST_JOBS):
            await asyncio.Event().wait()


@asynccontextmanager
async def _grpc(asked: Asked) -> AsyncIterator[Way]:
    metadata = (("authorization", f"Bearer {asked.token}"),) if asked.token else ()
    async with grpc.aio.insecure_channel(asked.address) as channel:
        yield _Grpc(cast("GatewayAsyncStub", GatewayStub(channel)), asked.process, asked.variables, metadata)


@asynccontextmanager
async def _http(asked: Asked) -> AsyncIterator[Way]:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if asked.token:
        headers["Authorization"] = f"Bearer {asked.token}"
    timeout = aiohttp.ClientTimeout(total=CALL_SECONDS)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        asked.address, headers=headers, timeout=timeout, connector=connector
    ) as session:
        yield _Http(session, asked.process, asked.variables)


@asynccontextmanager
async def _own_client(asked: Asked) -> AsyncIterator[Way]:
    async with Client(asked.address, asked.token) as client:
        yield _OwnClient(client, asked.process, msgspec.json.decode(asked.variables))


WAYS: Mapping[str, Callable[[Asked], AbstractAsyncContextManager[Way]]] = {
    "grpc": _grpc,
    "http": _http,
    "gnomon.client": _own_client,
}


def loaded(asked: Asked) -> Figures:
    """In a process of its own."""
    program = [sys.executable, "-m", "tests.bench.instance_load"]
    done = subprocess.run(program, input=msgspec.json.encode(asked), stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Figures)


async def _run(asked: Asked) -> Figures:
    async with WAYS[asked.way](asked) as way:
        collector.settle()
        return await _Load(way, asked).run()


def main() -> None:
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=Asked)
    sys.stdout.buffer.write(msgspec.json.encode(uvloop.run(_run(asked))))


if __name__ == "__main__":
    main()
