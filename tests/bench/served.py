"""Bundled servers that are measured: their addresses, their processes, and the duration of their start."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
import httpx

from gnomon.gateway_protocol import gateway_pb2 as pb
from gnomon.gateway_protocol.gateway_pb2_grpc import GatewayStub
from tests.bench.processes import children
from tests.server_process import DEMO_ACCESS, Addresses, server_process

CALL_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Served:
    """`processes` are the numbers of those that were begun for it, `start` is in seconds."""

    addresses: Addresses
    processes: frozenset[int]
    start: float


@contextmanager
def served(dsn: str, *arguments: str, partitions: int = 1) -> Iterator[Served]:
    """A server with one partition in this database, or several."""
    environment: Mapping[str, str] = {
        **DEMO_ACCESS,
        "GNOMON_DATABASE__DSN": dsn,
        "GNOMON_CLUSTER__PARTITIONS": str(partitions),
    }
    before, begun = children(os.getpid()), time.perf_counter()
    with server_process("--mode", "bundled", *arguments, environment=environment) as addresses:
        yield Served(addresses, frozenset(children(os.getpid()) - before), time.perf_counter() - begun)


def token_of(http: str, client_id: str = "demo") -> str:
    """An access token of a client with the secret of the demo client; `http` is the URL of the server."""
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": "demo-secret"}
    answer = httpx.post(f"{http}/auth/v1/oidc/token", data=form, timeout=CALL_SECONDS).raise_for_status()
    return str(answer.json()["access_token"])


def deploy(address: str, token: str, *models: bytes) -> None:
    """In one deployment, over Zeebe's protocol."""
    resources = [
        pb.Resource(name=f"model-{number}.bpmn", content=model) for number, model in enumerate(models)
    ]
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    with grpc.insecure_channel(address) as channel:
        GatewayStub(channel).DeployResource(
            pb.DeployResourceRequest(resources=resources), timeout=CALL_SECONDS, metadata=metadata
        )
