"""Jobs that a worker of `gnomon.client` completes in bundled mode, beside one call of CompleteJob for each, in one run."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import median

from rich.table import Table

from gnomon.client import Client, ClientCredentials, Job
from gnomon.engine.v1.job_service_pb2 import ActivateJobsRequest
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from server.bpmn.builder import process
from tests.bench.processes import children_seconds
from tests.bench.served import deploy, token_of
from tests.server_process import DEMO_ACCESS, server_in

JOBS = 2_000
IN_HAND = 64
RUNS = 3
SECONDS = 120
CREDENTIALS = ClientCredentials("demo", "demo-secret")

Way = Callable[[Client, str], Awaitable[None]]


def table() -> Table:
    table = Table(
        title=f"jobs that a Python worker completes, {IN_HAND} in hand, bundled mode, {RUNS} runs each"
    )
    for column in (
        "way",
        "per second",
        "per CPU-second of the server",
        "per CPU-second of the worker",
        "ratios",
    ):
        table.add_column(column, justify="left" if column == "way" else "right")
    runs: dict[str, list[_Speed]] = {way: [] for way in WAYS}
    with server_in("bundled", environment=DEMO_ACCESS) as addresses:
        for run in range(RUNS):
            for number, (way, work) in enumerate(WAYS.items()):
                name = f"work-{run}-{number}"
                model = process(name).start().service_task("task", type=name).end().to_xml()
                deploy(addresses.grpc, token_of(addresses.http), model)
                runs[way].append(asyncio.run(_measured(addresses.grpc, name, work)))
    first = _Speed.median(runs["a call for each job"])
    for way, speeds in runs.items():
        speed = _Speed.median(speeds)
        ratios = (speed.rate / first.rate, speed.server / first.server, speed.worker / first.worker)
        shown = " ".join(f"{ratio:.1f}×" for ratio in ratios)
        table.add_row(way, f"{speed.rate:,.0f}", f"{speed.server:,.0f}", f"{speed.worker:,.0f}", shown)
    return table


@dataclass(frozen=True, slots=True)
class _Speed:
    """Jobs per second, and per second of CPU on either side."""

    rate: float
    server: float
    worker: float

    @staticmethod
    def median(runs: "list[_Speed]") -> "_Speed":
        return _Speed(
            median(each.rate for each in runs),
            median(each.server for each in runs),
            median(each.worker for each in runs),
        )


async def _measured(target: str, name: str, work: Way) -> _Speed:
    async with Client(target, CREDENTIALS) as client, asyncio.timeout(SECONDS):
        for _ in range(0, JOBS, IN_HAND):
            await asyncio.gather(*(client.start_process_instance(name) for _ in range(IN_HAND)))
        begun, server, worker = time.perf_counter(), children_seconds(), time.process_time()
        await work(client, name)
        seconds = time.perf_counter() - begun
        return _Speed(
            JOBS / seconds,
            JOBS / (children_seconds() - server),
            JOBS / (time.process_time() - worker),
        )


async def _one_by_one(client: Client, name: str) -> None:
    stub, metadata = JobServiceStub(client.channel), await client.metadata()
    request = ActivateJobsRequest(type=name, worker=name, timeout=60_000, max_jobs_to_activate=IN_HAND)
    left = JOBS
    while left > 0:
        jobs = (await stub.ActivateJobs(request, metadata=metadata)).jobs
        await asyncio.gather(*(client.complete_job(job.job_key) for job in jobs))
        left -= len(jobs)


async def _worker(client: Client, name: str) -> None:
    left = JOBS
    done = asyncio.Event()

    async def handler(_: Job) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            done.set()

    async with client.worker(name, handler, max_jobs=IN_HAND):
        await done.wait()


WAYS: dict[str, Way] = {"a call for each job": _one_by_one, "gnomon.client": _worker}
