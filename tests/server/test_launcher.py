"""How many partitions a durable deployment on one machine has, and keeps."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from server.engine.keys import Key, partition_of
from server.launcher import default_partitions
from server.platform.cores import available_cores
from tests.postgres import open_directory
from tests.server_process import COMMAND, DEMO_ACCESS, ROOT, Addresses, server_process

# An earlier release gave every core a partition; this is one more.
MORE = available_cores() + 1


@pytest.mark.parametrize(("cores", "expected"), [(1, 1), (2, 1), (3, 1), (4, 2), (7, 3), (8, 4), (64, 32)])
def test_half_of_the_cores_are_left_to_the_database(cores: int, expected: int) -> None:
    assert default_partitions(cores) == expected


@pytest.fixture
def data() -> Iterator[Path]:
    with open_directory() as directory:
        yield directory


def test_a_new_deployment_has_the_default_and_an_older_one_keeps_its_partitions(data: Path) -> None:
    environment = {**DEMO_ACCESS, "GNOMON_DATA_DIR": str(data)}

    with server_process("--mode", "bundled", environment=environment) as addresses:
        new = topology(addresses)
    with server_process(
        "--mode", "bundled", environment=environment | {"GNOMON_CLUSTER__PARTITIONS": str(MORE)}
    ) as addresses:
        gnomon(addresses, "deploy", "examples/invoice-payment.bpmn")
        keys = [started(addresses) for _ in range(MORE)]
    with server_process("--mode", "bundled", environment=environment) as addresses:
        kept = topology(addresses)
        done = gnomon(addresses, "jobs", "work", "transfer-money", "--exec", "true", "--max", str(MORE))
        states = [json.loads(gnomon(addresses, "instances", key, "--json"))["state"] for key in keys]

    assert (new["partitionsCount"], new["clusterSize"]) == (default_partitions(available_cores()),) * 2
    assert (kept["partitionsCount"], kept["clusterSize"]) == (MORE, available_cores())
    # One more than there are processes, each of which takes the partitions in turn.
    assert len({partition_of(Key(int(key))) for key in keys}) > 1
    assert done.splitlines()[-1] == f"{MORE} completed"
    assert set(states) == {"COMPLETED"}


def topology(addresses: Addresses) -> Mapping[str, int]:
    form = {"grant_type": "client_credentials", "client_id": "demo", "client_secret": "demo-secret"}
    token = httpx.post(f"{addresses.http}/auth/v1/oidc/token", data=form).raise_for_status().json()
    bearer = {"Authorization": f"Bearer {token['access_token']}"}
    return dict(httpx.get(f"{addresses.http}/v2/topology", headers=bearer).raise_for_status().json())


def started(addresses: Addresses) -> str:
    variables = '{"invoice": {"account": "a-1", "amount": 20}}'
    answer = gnomon(addresses, "start", "invoice-payment", "--variables", variables, "--json")
    return str(json.loads(answer)["processInstanceKey"])


def gnomon(addresses: Addresses, *arguments: str) -> str:
    ended = subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env={**os.environ, "GNOMON_CLIENT__ADDRESS": addresses.grpc},
        check=True,
        capture_output=True,
        text=True,
    )
    return ended.stdout
