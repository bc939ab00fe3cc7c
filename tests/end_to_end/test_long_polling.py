"""Workers that wait for jobs over HTTP, and workers that go away while they wait."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest

from server.bpmn.builder import process
from tests.end_to_end.servers import Server

WAIT_MILLISECONDS = 20_000


@pytest.fixture
async def client(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": f"Bearer {server.token()}"}
    async with httpx.AsyncClient(base_url=server.http, headers=headers, timeout=40) as client:
        yield client


@pytest.fixture
async def process_id(client: httpx.AsyncClient) -> str:
    """A process with one job, whose type is the process id."""
    name = f"p-{uuid4().hex}"
    content = process(name).start().service_task("task", type=name).end().to_xml()
    answer = await client.post("/v2/deployments", files={"resources": (f"{name}.bpmn", content)})
    answer.raise_for_status()
    return name


async def _activate(client: httpx.AsyncClient, job_type: str, wait: int = WAIT_MILLISECONDS) -> list[str]:
    request = {"type": job_type, "timeout": 600_000, "maxJobsToActivate": 10, "requestTimeout": wait}
    answer = await client.post("/v2/jobs/activation", json=request)
    return [job["jobKey"] for job in answer.raise_for_status().json()["jobs"]]


async def _start(client: httpx.AsyncClient, process_id: str) -> str:
    answer = await client.post("/v2/process-instances", json={"processDefinitionId": process_id})
    return str(answer.raise_for_status().json()["processInstanceKey"])


async def test_an_activation_waits_for_the_job_that_is_created_later(
    client: httpx.AsyncClient, process_id: str
) -> None:
    waiting = asyncio.ensure_future(_activate(client, process_id))
    await asyncio.sleep(0.2)

    await _start(client, process_id)

    assert len(await waiting) == 1


async def test_an_activation_that_finds_nothing_in_time_answers_with_no_job(
    client: httpx.AsyncClient, process_id: str
) -> None:
    assert await _activate(client, process_id, wait=100) == []


async def test_jobs_survive_workers_that_vanish_while_they_wait(
    client: httpx.AsyncClient, process_id: str
) -> None:
    vanishing = [asyncio.ensure_future(_activate(client, process_id)) for _ in range(20)]
    await asyncio.sleep(0.3)
    for worker in vanishing:
        worker.cancel()
    await asyncio.gather(*vanishing, return_exceptions=True)

    for _ in range(10):
        await _start(client, process_id)

    found: set[str] = set()
    async with asyncio.timeout(20):
        while len(found) < 10:
            found.update(await _activate(client, process_id, wait=1000))
    assert len(found) == 10


async def test_every_waiting_worker_gets_a_job_and_no_job_goes_to_two(
    client: httpx.AsyncClient, process_id: str
) -> None:
    async def one() -> list[str]:
        request = {"type": process_id, "timeout": 600_000, "maxJobsToActivate": 1, "requestTimeout": 20_000}
        answer = await client.post("/v2/jobs/activation", json=request)
        return [job["jobKey"] for job in answer.raise_for_status().json()["jobs"]]

    waiting = [asyncio.ensure_future(one()) for _ in range(30)]
    await asyncio.sleep(0.2)

    await asyncio.gather(*(_start(client, process_id) for _ in range(30)))

    jobs = [key for answer in await asyncio.gather(*waiting) for key in answer]
    assert len(jobs) == len(set(jobs)) == 30
