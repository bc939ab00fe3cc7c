"""A host that opens connections and asks for nothing closes neither API to others."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.server_process import Addresses, server_process

OPEN_FILES = 256
CONNECTIONS = 400
PATIENCE_SECONDS = 20.0

# The shell lowers the limit of open files for what it becomes.
FEW_FILES = ("sh", "-c", f'ulimit -n {OPEN_FILES} && exec "$@"', "sh")
HALF_HEAD = b"GET /v2/status HTTP/1.1\r\nHost: a\r\n"


@pytest.fixture
def few_files() -> Iterator[Addresses]:
    with server_process(before=FEW_FILES) as addresses:
        yield addresses


@pytest.mark.parametrize("source", ["127.0.0.1", "127.0.0.2"])
def test_half_requests_keep_nobody_out(few_files: Addresses, source: str) -> None:
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            _open(stack, few_files.http.removeprefix("http://"), source).sendall(HALF_HEAD)

        statuses = {httpx.get(f"{few_files.http}/v2/status").status_code for _ in range(20)}
        health = _health(few_files.grpc)

    assert statuses == {204}
    assert health == health_pb2.HealthCheckResponse.SERVING


def test_silent_grpc_connections_do_not_close_http(few_files: Addresses) -> None:
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            _open(stack, few_files.grpc, "127.0.0.2")

        status = httpx.get(f"{few_files.http}/v2/status").status_code

    assert status == 204
    assert _health(few_files.grpc) == health_pb2.HealthCheckResponse.SERVING


def _open(stack: ExitStack, address: str, source: str) -> socket.socket:
    host, port = address.rsplit(":", 1)
    return stack.enter_context(
        socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS, source_address=(source, 0))
    )


def _health(address: str) -> int:
    with grpc.insecure_channel(address) as channel:
        request = health_pb2.HealthCheckRequest()
        stub: Any = health_pb2_grpc.HealthStub(channel)
        status: int = stub.Check(request, timeout=PATIENCE_SECONDS, wait_for_ready=True).status
        return status
