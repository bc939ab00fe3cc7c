#!/usr/bin/env python3
"""A worker in Python: charges cards for examples/order-fulfilment.bpmn.

Run it beside a server: python examples/worker.py [HOST:PORT]
"""

import asyncio
import json
import sys

import grpc

from gnomon.engine.v1 import job_service_pb2 as jobs
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from gnomon.identity.v1 import token_service_pb2 as tokens
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub

CREDENTIALS = tokens.IssueTokenRequest(
    grant_type="client_credentials",
    client_id="demo",
    client_secret="demo-secret",  # noqa: S106  # what a server without credentials of its own takes
    client_authentication=tokens.CLIENT_AUTHENTICATION_SECRET_POST,
)
# Jobs are activated for a minute, at most ten at once; a poll waits half a minute for the first.
POLL = jobs.ActivateJobsRequest(
    type="charge-card", worker="example", timeout=60_000, max_jobs_to_activate=10, request_timeout=30_000
)


async def main(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        stub = JobServiceStub(channel)
        while True:
            token = await TokenServiceStub(channel).IssueToken(CREDENTIALS, timeout=10)
            metadata = (("authorization", f"Bearer {token.access_token}"),)
            answer = await stub.ActivateJobs(POLL, timeout=40, metadata=metadata)
            for job in answer.jobs:
                variables = json.loads(job.variables)
                result = {"transactionId": f"{variables['customer']}-{job.job_key}"}
                completion = jobs.CompleteJobRequest(
                    job_key=job.job_key, variables=json.dumps(result).encode()
                )
                await stub.CompleteJob(completion, timeout=10, metadata=metadata)
                sys.stdout.write(f"charged {variables['amount']} to {variables['customer']}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "localhost:26500"))
