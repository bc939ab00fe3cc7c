"""A gRPC load: callers that each make their next call when the last was answered.

Run as a process of its own, with a way, a target and a number of calls: prints the calls per second and the
microseconds of its own CPU that each cost.
"""

import asyncio
import json
import sys
import time
from typing import TYPE_CHECKING, cast

import grpc
import uvloop

from gnomon.engine.v1 import job_service_pb2 as pb
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from server.platform.channels import TunnelChannel

if TYPE_CHECKING:
    from gnomon.engine.v1.job_service_pb2_grpc import JobServiceAsyncStub

CALLERS = 64
PATIENCE_SECONDS = 60
WARM_UP = 500

# A credential has this size, and travels with each call.
METADATA = (
    ("authorization", f"Bearer {'x' * 600}"),
    ("x-tenant-id", "default"),
    ("x-request-id", "0123456789abcdef0123456789abcdef"),
)
REQUEST = pb.FailJobRequest(job_key=1, retries=2, error_message="measured", retry_back_off=600_000)


async def run(way: str, target: str, count: int) -> dict[str, float]:
    channel = TunnelChannel(target) if way == "tunnel" else grpc.aio.insecure_channel(target)
    async with channel, asyncio.timeout(PATIENCE_SECONDS):
        stub: JobServiceAsyncStub = JobServiceStub(cast("grpc.aio.Channel", channel))
        await call(stub, WARM_UP)
        begun, cpu = time.perf_counter(), time.process_time()
        await call(stub, count)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    return {"rate": count / seconds, "cpu": cpu / count * 1e6}


async def call(stub: "JobServiceAsyncStub", count: int) -> None:
    numbers = iter(range(count))

    async def caller() -> None:
        for _ in numbers:
            await stub.FailJob(REQUEST, metadata=METADATA, timeout=PATIENCE_SECONDS)

    async with asyncio.TaskGroup() as callers:
        for _ in range(CALLERS):
            callers.create_task(caller())


if __name__ == "__main__":
    measured = uvloop.run(run(sys.argv[1], sys.argv[2], int(sys.argv[3])))
    print(json.dumps(measured))  # noqa: T201  # its output is its result
