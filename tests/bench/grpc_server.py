"""A gRPC server whose servicer does nothing: what a call costs before there is anything to do.

Run as a process of its own: prints its port, then the seconds of CPU that it has used for each line of standard
input, and ends with it.
"""

import asyncio
import sys
import time

import uvloop

from gnomon.engine.v1 import job_service_pb2 as pb
from server.platform.call import Call, Principal, TenantId
from server.platform.dispatch import Dispatcher
from server.platform.grpc_server import GrpcConfig, GrpcServer
from server.platform.interceptors import interceptors
from server.platform.policy import Mode

SERVICE = pb.DESCRIPTOR.services_by_name["JobService"]
WORKER = Principal("worker", frozenset({TenantId("default")}), frozenset({"job:work"}))


class IdleServicer:
    async def fail_job(self, _: pb.FailJobRequest, __: Call) -> pb.FailJobResponse:
        return pb.FailJobResponse()


def admit(call: Call) -> None:
    call.principal = WORKER


async def serve() -> None:
    dispatcher = Dispatcher({SERVICE: IdleServicer()}, interceptors(Mode.EMBEDDED, admit))
    server = GrpcServer(dispatcher, GrpcConfig(port=0))
    print(await server.start(), flush=True)  # noqa: T201  # its output is its result
    while await asyncio.to_thread(sys.stdin.readline):
        print(time.process_time(), flush=True)  # noqa: T201
    await server.stop()


if __name__ == "__main__":
    uvloop.run(serve())
