"""Endpoints for Camunda's process-test library: embedded mode, loopback, and only where they are configured."""

from collections.abc import AsyncIterator
from datetime import datetime

import httpx
import pytest

from edge.config import ApiConfig, EdgeConfig
from server.bpmn.builder import process
from server.bundle import serving
from server.config import ServerConfig
from server.platform.config import ConfigError
from server.platform.grpc_server import GrpcConfig
from server.platform.policy import Mode
from server.sections import Config
from tests.server_process import ROOT

PORTS = {"edge": EdgeConfig(port=0), "grpc": GrpcConfig(port=0)}
DAY = 86_400_000


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    config = Config(**PORTS, api=ApiConfig(process_tests=True))
    async with serving(config) as addresses, httpx.AsyncClient(base_url=addresses.http) as client:
        yield client


async def _signed_in(client: httpx.AsyncClient) -> dict[str, str]:
    form = {"grant_type": "client_credentials", "client_id": "demo", "client_secret": "demo-secret"}
    token = (await client.post("/auth/v1/oidc/token", data=form)).raise_for_status().json()["access_token"]
    return {"authorization": f"Bearer {token}"}


async def test_the_clock_moves_by_an_offset_and_runs_again_after_a_reset(client: httpx.AsyncClient) -> None:
    before = (await client.get("/actuator/clock")).json()["epochMilli"]

    moved = await client.post("/actuator/clock/add", json={"offsetMilli": DAY})
    reset = await client.delete("/actuator/clock")

    assert moved.json()["epochMilli"] >= before + DAY
    assert datetime.fromisoformat(moved.json()["instant"]).timestamp() * 1000 == moved.json()["epochMilli"]
    assert before <= reset.json()["epochMilli"] < before + DAY


async def test_a_purge_leaves_no_process_and_the_server_goes_on(client: httpx.AsyncClient) -> None:
    headers = await _signed_in(client)
    model = ROOT / "examples" / "order-fulfilment.bpmn"
    files = {"resources": (model.name, model.read_bytes())}
    await client.post("/v2/deployments", files=files, headers=headers)

    purged = await client.post("/actuator/cluster/purge")

    found = await client.post("/v2/process-definitions/search", json={}, headers=headers)
    topology = (await client.get("/v2/topology")).json()
    again = await client.post("/v2/deployments", files=files, headers=headers)
    assert (purged.status_code, purged.json()["changeId"]) == (200, int(topology["lastCompletedChangeId"]))
    assert found.json()["items"] == []
    assert again.status_code == 200


async def test_exports_about_a_user_have_the_tasks_of_the_engine_after_a_purge(
    client: httpx.AsyncClient,
) -> None:
    headers = await _signed_in(client)
    ada = {"email": "ada@example.com", "language": "en", "roles": []}
    user = (await client.post("/auth/v1/users", json=ada, headers=headers)).raise_for_status().json()
    await client.post("/actuator/cluster/purge")
    model = process("approval").start().user_task("approve", assignment={"assignee": ada["email"]}).end()
    files = {"resources": ("approval.bpmn", model.to_xml())}
    await client.post("/v2/deployments", files=files, headers=headers)
    started = {"processDefinitionId": "approval"}
    await client.post("/v2/process-instances", json=started, headers=headers)

    path = f"/auth/v1/users/{user['id']}/personal_data?include_processes=true"
    document = (await client.get(path, headers=headers)).raise_for_status().json()

    assert {name: len(rows) for name, rows in document["processes"].items()} == {"user_task": 1}
    assert [each["assignee"] for each in document["processes"]["user_task"]] == [ada["email"]]


@pytest.mark.parametrize("body", [b"", b"{}", b'{"offsetMilli": "x"}', b'{"offsetMilli": 1e30}', b"[]"])
async def test_a_malformed_offset_is_refused(client: httpx.AsyncClient, body: bytes) -> None:
    assert (await client.post("/actuator/clock/add", content=body)).status_code == 400


@pytest.mark.parametrize("offset", [-(10**13), 10**15, 3 * 10**14])
async def test_the_clock_stays_between_1970_and_9999(client: httpx.AsyncClient, offset: int) -> None:
    assert (await client.post("/actuator/clock/add", json={"offsetMilli": offset})).status_code == 400


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/actuator/clock"), ("POST", "/actuator/clock/add"), ("POST", "/actuator/cluster/purge")],
)
async def test_a_web_page_moves_no_clock_and_deletes_nothing(
    client: httpx.AsyncClient, method: str, path: str
) -> None:
    refused = await client.request(method, path, headers={"Origin": "https://evil.example"})

    assert refused.status_code == 403


async def test_no_other_operation_lacks_a_credential(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v2/process-instances/search", json={})).status_code == 401
    assert (await client.put("/v2/clock", json={"timestamp": 0})).status_code == 401


async def test_without_configuration_nothing_of_it_is_served() -> None:
    async with (
        serving(Config(**PORTS)) as addresses,
        httpx.AsyncClient(base_url=addresses.http) as client,
    ):
        statuses = [
            (await client.get("/actuator/clock")).status_code,
            (await client.post("/actuator/cluster/purge")).status_code,
            (await client.get("/v2/topology")).status_code,
        ]

    assert statuses == [404, 404, 401]


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(
            Config(**PORTS, api=ApiConfig(process_tests=True), server=ServerConfig(mode=Mode.BUNDLED)),
            id="durable",
        ),
        pytest.param(
            Config(
                edge=EdgeConfig(host="0.0.0.0", port=0),  # noqa: S104  # refused
                grpc=GrpcConfig(port=0),
                api=ApiConfig(process_tests=True),
            ),
            id="beyond loopback",
        ),
    ],
)
def test_it_is_refused_where_others_could_call_it_or_data_could_be_lost(config: Config) -> None:
    with pytest.raises(ConfigError, match="process_tests"):
        serving(config)
