"""A load of process instances over gRPC: callers that each start one, activate its job and complete it.

Run as a process of its own, with a way, a target, a number of seconds and the commands per second to offer, 0 for as
many as there is time for. With a number of tenants, the callers take these in turns, as a client that may act in all of
them and has deployed the process. Prints commands per second and the latencies of their answers.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import grpc
import uvloop

from gnomon.engine.v1 import job_service_pb2 as job_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1.deployment_service_pb2 import CreateDeploymentRequest, Resource
from gnomon.engine.v1.deployment_service_pb2_grpc import DeploymentServiceStub
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.identity.v1 import token_service_pb2 as token_pb
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from server.bpmn.builder import process
from server.platform import collector
from server.platform.channels import TunnelChannel

if TYPE_CHECKING:
    from gnomon.engine.v1.job_service_pb2_grpc import JobServiceAsyncStub
    from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceAsyncStub

CALLERS = 64
OF_ALL, SECRET = "of-all-tenants", "demo-secret"
COMMANDS_OF_A_STORY = 3
WARM_UP_SECONDS = 2.0
CALL_SECONDS = 30.0
JOB_TIMEOUT = timedelta(minutes=5) // timedelta(milliseconds=1)
MODEL = process("story").start().service_task("work", type="work").end()
VARIABLES = b'{"amount":120,"customer":"c-1"}'
RESULT = b'{"done":true}'

Metadata = tuple[tuple[str, str], ...]


@dataclass
class Story:
    """`latencies` are seconds of each answer, counted from when the command was to be sent."""

    instances: "ProcessInstanceServiceAsyncStub"
    jobs: "JobServiceAsyncStub"
    metadata: Sequence[Metadata]
    latencies: list[float] = field(default_factory=list)

    async def play(self, number: int, begun: float) -> None:
        """For the tenant of this number."""
        metadata = self.metadata[number % len(self.metadata)]
        start = instance_pb.CreateProcessInstanceRequest(process_definition_id="story", variables=VARIABLES)
        activation = job_pb.ActivateJobsRequest(
            type="work", worker="load", timeout=JOB_TIMEOUT, max_jobs_to_activate=1, request_timeout=-1
        )
        await self.instances.CreateProcessInstance(start, timeout=CALL_SECONDS, metadata=metadata)
        begun = self._answered(begun)
        jobs = (await self.jobs.ActivateJobs(activation, timeout=CALL_SECONDS, metadata=metadata)).jobs
        begun = self._answered(begun)
        for job in jobs:
            completion = job_pb.CompleteJobRequest(job_key=job.job_key, variables=RESULT)
            await self.jobs.CompleteJob(completion, timeout=CALL_SECONDS, metadata=metadata)
            begun = self._answered(begun)

    def _answered(self, begun: float) -> float:
        now = time.perf_counter()
        self.latencies.append(now - begun)
        return now


async def run(way: str, target: str, seconds: float, rate: float, tenants: int = 0) -> dict[str, float]:
    channel = TunnelChannel(target) if way == "tunnel" else grpc.aio.insecure_channel(target)
    async with channel:
        story = await _prepared(cast("grpc.aio.Channel", channel), tenants)
        collector.settle()
        await _play(story, WARM_UP_SECONDS, rate)
        story.latencies.clear()
        begun, cpu = time.perf_counter(), time.process_time()
        await _play(story, seconds, rate)
        elapsed, cpu = time.perf_counter() - begun, time.process_time() - cpu
    latencies = sorted(story.latencies)
    return {
        "rate": len(latencies) / elapsed,
        "cpu": cpu / len(latencies) * 1e6,
        "p50": latencies[len(latencies) // 2],
        "p99": latencies[len(latencies) * 99 // 100],
    }


async def _prepared(channel: grpc.aio.Channel, tenants: int) -> Story:
    request = token_pb.IssueTokenRequest(
        grant_type="client_credentials",
        client_id=OF_ALL if tenants else "demo",
        client_secret=SECRET,
        client_authentication=token_pb.CLIENT_AUTHENTICATION_SECRET_POST,
    )
    token = (await TokenServiceStub(channel).IssueToken(request, timeout=CALL_SECONDS)).access_token
    bearer = ("authorization", f"Bearer {token}")
    metadata = [(bearer, ("x-tenant-id", tenant)) for tenant in tenants_of(tenants or 1)]
    if not tenants:
        resource = Resource(name="story.bpmn", content=MODEL.to_xml())
        await DeploymentServiceStub(channel).CreateDeployment(
            CreateDeploymentRequest(resources=[resource]), timeout=CALL_SECONDS, metadata=metadata[0]
        )
    return Story(ProcessInstanceServiceStub(channel), JobServiceStub(channel), metadata)


def tenants_of(number: int) -> Sequence[str]:
    return ["default", *(f"tenant-{each}" for each in range(1, number))]


async def _play(story: Story, seconds: float, rate: float) -> None:
    """Closed: each caller goes on when it was answered. Offered: stories begin on time, however long others take."""
    begun = time.perf_counter()
    until = begun + seconds
    pause = CALLERS * COMMANDS_OF_A_STORY / rate if rate else 0.0

    async def caller(number: int) -> None:
        due = begun + pause * number / CALLERS
        while due < until:
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            await story.play(number, due if rate else time.perf_counter())
            number += CALLERS
            due = due + pause if rate else time.perf_counter()

    async with asyncio.TaskGroup() as callers:
        for number in range(CALLERS):
            callers.create_task(caller(number))


if __name__ == "__main__":
    way, target, seconds, rate, *tenants = sys.argv[1:]
    print(json.dumps(uvloop.run(run(way, target, float(seconds), float(rate), *map(int, tenants)))))  # noqa: T201  # its output is its result
