"""The Python client against real servers: tokens, workers, a restart in the middle, and its end."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from uuid import uuid4

import grpc
import httpx
import pytest

from gnomon.client import (
    BpmnError,
    Client,
    ClientCredentials,
    GnomonError,
    Job,
    JobFailure,
    RequestFailed,
    SyncClient,
    Variables,
)
from server.bpmn.builder import process
from server.platform.sockets import free_port
from tests.postgres import open_directory
from tests.server_process import DEMO_ACCESS, Addresses, server_in, server_process
from tests.waits import until

CREDENTIALS = ClientCredentials("demo", "demo-secret")
PATIENCE = 60


class Api:
    """HTTP API of the server, for what the tests ask beside the client."""

    def __init__(self, http: str) -> None:
        form = {"grant_type": "client_credentials", "client_id": "demo", "client_secret": "demo-secret"}
        answer = httpx.post(f"{http}/auth/v1/oidc/token", data=form).raise_for_status()
        self.token = str(answer.json()["access_token"])
        self._http = httpx.Client(
            base_url=http, headers={"authorization": f"Bearer {self.token}"}, timeout=30
        )

    def close(self) -> None:
        self._http.close()

    def deploy(self, content: str | bytes, name: str) -> None:
        self._http.post("/v2/deployments", files={"resources": (f"{name}.bpmn", content)}).raise_for_status()

    def instances(self, process_id: str, state: str | None = None) -> list[int]:
        filters = {"processDefinitionId": process_id, **({"state": state} if state else {})}
        return [int(item["processInstanceKey"]) for item in self._search("process-instances", filters)]

    def incidents(self, process_id: str) -> list[str]:
        return [
            item["errorMessage"] for item in self._search("incidents", {"processDefinitionId": process_id})
        ]

    def jobs(self, job_type: str) -> list[tuple[str, int]]:
        return [(item["state"], item["retries"]) for item in self._search("jobs", {"type": job_type})]

    def activated(self, job_type: str) -> int:
        """Jobs that a worker has."""
        return sum(item["deadline"] is not None for item in self._search("jobs", {"type": job_type}))

    def _search(self, resource: str, filters: dict[str, str]) -> list[dict[str, str]]:
        answer = self._http.post(f"/v2/{resource}/search", json={"filter": filters, "page": {"limit": 500}})
        items: list[dict[str, str]] = answer.raise_for_status().json()["items"]
        return items


@pytest.fixture(scope="module")
def addresses() -> Iterator[Addresses]:
    with server_in(
        "bundled", environment={**DEMO_ACCESS, "GNOMON_TOKEN__ACCESS_TOKEN_LIFETIME_SECS": "10"}
    ) as it:
        yield it


@pytest.fixture
def api(addresses: Addresses) -> Iterator[Api]:
    with closing(Api(addresses.http)) as api:
        yield api


@pytest.fixture
def name(api: Api) -> str:
    """A process with one job, whose type is the process id; a BPMN error DECLINED ends it by another way."""
    name = f"p-{uuid4().hex}"
    api.deploy(one_job(name), name)
    return name


def one_job(name: str) -> str | bytes:
    return process(name).start().service_task("task", type=name).end().to_xml()


async def test_what_a_handler_returns_completes_its_job(addresses: Addresses, api: Api, name: str) -> None:
    seen: list[Job] = []
    done = asyncio.Event()

    async def handler(job: Job) -> Variables:
        seen.append(job)
        done.set()
        return {"charged": True}

    async with Client(addresses.grpc, CREDENTIALS) as client:
        instance = await client.start_process_instance(name, {"amount": 20})
        async with client.worker(name, handler):
            await until(done.is_set)

    assert [(job.process_instance_key, job.variables) for job in seen] == [(instance, {"amount": 20})]
    assert api.instances(name, "COMPLETED") == [instance]


async def test_a_handler_that_raises_fails_its_job_until_an_incident_is_raised(
    addresses: Addresses, api: Api, name: str
) -> None:
    retries: list[int] = []
    last = asyncio.Event()

    async def handler(job: Job) -> None:
        retries.append(job.retries)
        if job.retries == 1:
            last.set()
            raise JobFailure("given up")
        raise KeyError("card")

    async with Client(addresses.grpc, CREDENTIALS) as client:
        await client.start_process_instance(name)
        async with client.worker(name, handler, retry_back_off=timedelta(milliseconds=1)):
            await until(last.is_set)

    assert retries == [3, 2, 1]
    assert api.incidents(name) == ["given up"]


async def test_a_bpmn_error_takes_the_boundary_event(addresses: Addresses, api: Api) -> None:
    name = f"p-{uuid4().hex}"
    model = process(name).declare_error("declined", "DECLINED").start().service_task("task", type=name).end()
    api.deploy(model.boundary_error("caught", on="task", error="declined").end("other").to_xml(), name)
    thrown = asyncio.Event()

    async def handler(job: Job) -> None:
        thrown.set()
        raise BpmnError("DECLINED", f"card of {job.process_instance_key}")

    async with Client(addresses.grpc, CREDENTIALS) as client:
        instance = await client.start_process_instance(name)
        async with client.worker(name, handler):
            await until(thrown.is_set)

    assert api.instances(name, "COMPLETED") == [instance]
    assert api.incidents(name) == []


async def test_a_worker_has_at_most_max_jobs_in_hand_and_runs_at_most_concurrency(
    addresses: Addresses, api: Api, name: str
) -> None:
    running, most_running, most_in_hand = 0, 0, 0
    handled: list[int] = []
    all_running = asyncio.Event()
    go_on = asyncio.Event()

    async def handler(job: Job) -> None:
        nonlocal running, most_running, most_in_hand
        running += 1
        most_running = max(most_running, running)
        most_in_hand = max(most_in_hand, worker.jobs_in_hand)
        if running == 2:
            all_running.set()
        await go_on.wait()
        running -= 1
        handled.append(job.key)

    async with Client(addresses.grpc, CREDENTIALS) as client:
        for _ in range(12):
            await client.start_process_instance(name)
        async with client.worker(name, handler, max_jobs=4, concurrency=2) as worker:
            await until(all_running.is_set)
            await until(lambda: worker.jobs_in_hand == 4)
            # The server has not given away more than the worker says it has.
            activated = await asyncio.to_thread(api.activated, name)
            go_on.set()
            await until(lambda: len(handled) == 12)

    assert most_in_hand == 4
    assert activated == 4
    assert most_running == 2
    assert len(set(handled)) == 12


async def test_the_end_lets_running_handlers_finish_and_hands_the_others_back(
    addresses: Addresses, api: Api, name: str
) -> None:
    begun, finished = asyncio.Event(), []

    async def handler(job: Job) -> None:
        begun.set()
        await asyncio.sleep(0.5)
        finished.append(job.key)

    async with Client(addresses.grpc, CREDENTIALS) as client:
        for _ in range(3):
            await client.start_process_instance(name)
        async with client.worker(name, handler, max_jobs=3, concurrency=1) as worker:
            await until(begun.is_set)
            await until(lambda: worker.jobs_in_hand == 3)

    assert len(finished) == 1
    assert len(api.instances(name, "COMPLETED")) == 1
    assert sorted(retries for state, retries in api.jobs(name) if state != "COMPLETED") == [3, 3]


async def test_a_handler_that_outlasts_the_end_is_cancelled_and_its_job_handed_back(
    addresses: Addresses, api: Api, name: str
) -> None:
    begun = asyncio.Event()

    async def handler(job: Job) -> None:  # noqa: ARG001  # it never ends
        begun.set()
        await asyncio.Event().wait()

    async with Client(addresses.grpc, CREDENTIALS) as client:
        await client.start_process_instance(name)
        async with client.worker(name, handler, end_timeout=timedelta(milliseconds=50)):
            await until(begun.is_set)

        again = asyncio.Event()

        async def second(job: Job) -> None:
            assert job.retries == 3
            again.set()

        async with client.worker(name, second):
            await until(again.is_set)

    assert len(api.instances(name, "COMPLETED")) == 1


async def test_a_repeat_under_the_same_idempotency_key_starts_nothing_twice(
    addresses: Addresses, api: Api, name: str
) -> None:
    async with Client(addresses.grpc, CREDENTIALS) as client:
        first = await client.start_process_instance(name, idempotency_key=f"order-{name}")
        second = await client.start_process_instance(name, idempotency_key=f"order-{name}")

    assert first == second
    assert api.instances(name) == [first]


async def test_a_refusal_has_its_code_and_reason(addresses: Addresses) -> None:
    async with Client(addresses.grpc, CREDENTIALS) as client:
        with pytest.raises(RequestFailed) as caught:
            await client.start_process_instance("unknown")

    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


async def test_a_worker_without_permission_raises_the_refusal(addresses: Addresses, name: str) -> None:
    async def handler(job: Job) -> None:
        raise AssertionError(job)

    async with Client(addresses.grpc, "no token") as client:
        with pytest.raises(RequestFailed) as caught:
            async with client.worker(name, handler):
                await asyncio.Event().wait()

    assert caught.value.code is grpc.StatusCode.UNAUTHENTICATED


def test_the_synchronous_client_starts_and_works(addresses: Addresses, api: Api, name: str) -> None:
    done = threading.Event()

    def handler(job: Job) -> Variables:
        done.set()
        return {"seen": job.variables["amount"]}

    with SyncClient(addresses.grpc, CREDENTIALS) as client:
        instance = client.start_process_instance(name, {"amount": 7})
        with client.worker(name, handler):
            assert done.wait(PATIENCE)

    assert api.instances(name, "COMPLETED") == [instance]


async def test_a_restart_in_the_middle_loses_nothing_and_starts_nothing_twice() -> None:
    name, count = f"p-{uuid4().hex}", 60
    # A job whose completion got no answer may come again: work is offered at least once.
    completed: set[object] = set()
    half, back, all_done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handler(job: Job) -> None:
        completed.add(job.variables["number"])
        if len(completed) == count:
            all_done.set()

    with open_directory() as data, ExitStack() as servers:
        environment = {
            **DEMO_ACCESS,
            "GNOMON_DATA_DIR": str(data),
            "GNOMON_CLUSTER__PARTITIONS": "2",
            "GNOMON_EDGE__PORT": str(free_port("127.0.0.1")),
            "GNOMON_GRPC__PORT": str(free_port("127.0.0.1")),
        }

        def restarted() -> Addresses:
            servers.close()
            return servers.enter_context(server_process("--mode", "bundled", environment=environment))

        addresses = await asyncio.to_thread(restarted)
        before = await asyncio.to_thread(Api, addresses.http)
        await asyncio.to_thread(before.deploy, one_job(name), name)
        before.close()

        async def start(client: Client) -> list[int]:
            keys = []
            for number in range(count):
                keys.append(await client.start_process_instance(name, {"number": number}))
                if number == count // 2:
                    half.set()
            return keys

        async def restart() -> None:
            await half.wait()
            await asyncio.to_thread(restarted)
            back.set()

        async with (
            Client(addresses.grpc, CREDENTIALS, timeout=timedelta(seconds=120)) as client,
            client.worker(name, handler, job_timeout=timedelta(seconds=20)),
        ):
            async with asyncio.TaskGroup() as tasks:
                starting = tasks.create_task(start(client))
                tasks.create_task(restart())
            async with asyncio.timeout(PATIENCE):
                await all_done.wait()
        api = servers.enter_context(closing(Api(addresses.http)))

        assert back.is_set()
        assert len(set(starting.result())) == count
        assert sorted(api.instances(name)) == sorted(starting.result())
        assert len(api.instances(name, "COMPLETED")) == count


def test_a_bpmn_error_without_a_code_is_refused() -> None:
    with pytest.raises(ValueError, match="code"):
        BpmnError("")


@pytest.mark.parametrize(("max_jobs", "concurrency"), [(0, None), (10_001, None), (4, 5), (4, 0)])
async def test_bounds_out_of_range_are_refused(max_jobs: int, concurrency: int | None) -> None:
    async def handler(job: Job) -> None:
        raise GnomonError(str(job))

    async with Client("localhost:1", "token") as client:
        with pytest.raises(ValueError, match="expected 1 to"):
            async with client.worker("t", handler, max_jobs=max_jobs, concurrency=concurrency):
                pass
