"""The quota of a tenant over HTTP, and activations, where there are two partitions."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import httpx
import pytest

from server.bpmn.builder import process
from tests.end_to_end.servers import Server

QUOTA = 60
ENVIRONMENT = {"GNOMON_QUOTA__MAX_ACTIVE_INSTANCES": str(QUOTA), "GNOMON_CLUSTER__PARTITIONS": "2"}


@pytest.fixture
async def client(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    """In an engine without process instances, with process `order` deployed: one job of type `a`."""
    headers = {"authorization": f"Bearer {server.token()}"}
    async with httpx.AsyncClient(base_url=server.http, headers=headers, timeout=40) as client:
        content = process("order").start().service_task("task", type="a").end().to_xml()
        answer = await client.post("/v2/deployments", files={"resources": ("order.bpmn", content)})
        answer.raise_for_status()
        yield client
        for job in await _activated(client):
            (await client.post(f"/v2/jobs/{job}/completion", json={})).raise_for_status()


async def _start(client: httpx.AsyncClient) -> httpx.Response:
    return await client.post("/v2/process-instances", json={"processDefinitionId": "order"})


async def _activated(client: httpx.AsyncClient, most: int = 1_000) -> list[str]:
    request = {"type": "a", "timeout": 600_000, "maxJobsToActivate": most, "requestTimeout": -1}
    answer = await client.post("/v2/jobs/activation", json=request)
    return [job["jobKey"] for job in answer.raise_for_status().json()["jobs"]]


async def test_one_caller_after_the_other_is_refused_beyond_the_quota(client: httpx.AsyncClient) -> None:
    statuses = [(await _start(client)).status_code for _ in range(QUOTA)]

    refusal = await _start(client)

    assert statuses == [200] * QUOTA
    assert (refusal.status_code, refusal.json()["type"]) == (429, "urn:bpm:error:quota-exhausted")
    assert refusal.headers["Retry-After"] == "1"


async def test_callers_at_once_start_as_many_as_the_quota_allows(client: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(_start(client) for _ in range(QUOTA + 40)))

    assert Counter(answer.status_code for answer in answers) == {200: QUOTA, 429: 40}


async def test_one_activation_gets_all_jobs_that_wait(client: httpx.AsyncClient) -> None:
    for _ in range(10):
        (await _start(client)).raise_for_status()

    jobs = await _activated(client, most=50)

    assert len(set(jobs)) == 10
    for job in jobs:
        (await client.post(f"/v2/jobs/{job}/completion", json={})).raise_for_status()
