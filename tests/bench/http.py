"""HTTP requests per second of one server process, beside a bare aiohttp echo in the same run.

Server and load each have a core where there are two. Every job failure is a command on a job of its own, decoded,
authenticated, run by the engine and committed before it is answered; the search answers with a hundred items.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import httpx
from rich.table import Table

from server.bpmn.builder import process
from tests.bench.load import LENGTH
from tests.bench.processes import process as process_of
from tests.bench.served import token_of

FAILURES = 20_000
SEARCHES = 3_000
ECHOES = 20_000
WARM_UP = 500
ITEMS = 100
HOST = "127.0.0.1"


def table() -> Table:
    table = Table(title="HTTP requests, one server process, 64 connections")
    for column in ("request", "per second", "echo of the same size", "ratio", "CPU µs", "echo", "ratio"):
        table.add_column(column, justify="left" if column == "request" else "right")
    with echo() as limit, gnomon() as server:
        _prepare(server)
        failures = _failures(server)
        search = _search(server)
        measured = [
            ("POST /v2/jobs/{key}/failure", _load(server, failures), _load(limit, _echoes(b"{}"))),
            (
                f"POST /v2/incidents/search, {ITEMS} items",
                _load(server, search),
                _load(limit, _echoes(_answer(server))),
            ),
        ]
    for name, own, echoed in measured:
        rates = (f"{own.rate:,.0f}", f"{echoed.rate:,.0f}", f"{own.rate / echoed.rate:.2f}")
        costs = (f"{own.cpu:.0f}", f"{echoed.cpu:.0f}", f"{echoed.cpu / own.cpu:.2f}")
        table.add_row(name, *rates, *costs)
    return table


class Cost(NamedTuple):
    """Requests per second, and microseconds of the server's CPU for one, which depend less on other load."""

    rate: float
    cpu: float


class Server:
    """A server process; `token` authenticates requests."""

    def __init__(self, port: int, token: str = "", pid: int = 0) -> None:
        self.port, self.token, self.pid = port, token, pid

    @property
    def client(self) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"http://{HOST}:{self.port}", headers=headers, timeout=60)

    def request(self, path: str, body: bytes) -> bytes:
        return (
            f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body


@contextmanager
def gnomon() -> Iterator[Server]:
    environment = {**os.environ, "GNOMON_EDGE__PORT": "0", "GNOMON_GRPC__PORT": "0"}
    command = [*_pinned(1), sys.executable, "-m", "server", "serve"]
    with _process(command, environment) as process_:
        assert process_.stdout is not None
        ready = process_.stdout.readline().split()
        port = int(ready[1].rpartition(":")[2])
        yield Server(port, token_of(f"http://{HOST}:{port}"), process_.pid)


@contextmanager
def echo() -> Iterator[Server]:
    with socket.create_server((HOST, 0)) as reserved:
        port = reserved.getsockname()[1]
    command = [*_pinned(1), sys.executable, "-m", "tests.bench.echo", str(port)]
    with _process(command, dict(os.environ)) as process_:
        _wait(port)
        yield Server(port, pid=process_.pid)


@contextmanager
def _process(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=15)


def _pinned(core: int) -> Sequence[str]:
    return ("taskset", "-c", str(core)) if (os.cpu_count() or 1) > core else ()


def _wait(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.05)  # a process that is starting gives no other sign
    raise TimeoutError(f"nothing listens on {port}")


def _prepare(server: Server) -> None:
    """Instances whose jobs can be failed, and enough incidents for a page."""
    fragile = process("fragile").start().service_task("task", type="work").end().to_xml()
    with server.client as client:
        client.post("/v2/deployments", files={"resources": ("fragile.bpmn", fragile)}).raise_for_status()
    start = server.request("/v2/process-instances", b'{"processDefinitionId":"fragile"}')
    _load(server, [start] * (FAILURES + ITEMS + WARM_UP))
    with server.client as client:
        for key in _activated(client, ITEMS):
            client.post(f"/v2/jobs/{key}/failure", json={"errorMessage": "measured"}).raise_for_status()


def _failures(server: Server) -> list[bytes]:
    body = b'{"retries":1,"errorMessage":"measured","retryBackOff":600000}'
    with server.client as client:
        keys = _activated(client, FAILURES + WARM_UP)
    requests = [server.request(f"/v2/jobs/{key}/failure", body) for key in keys]
    _load(server, requests[:WARM_UP])
    return requests[WARM_UP:]


def _activated(client: httpx.Client, wanted: int) -> list[str]:
    keys: list[str] = []
    while len(keys) < wanted:
        most = min(wanted - len(keys), 1000)
        request = {"type": "work", "timeout": 600_000, "maxJobsToActivate": most}
        answer = client.post("/v2/jobs/activation", json=request).raise_for_status()
        keys += [job["jobKey"] for job in answer.json()["jobs"]]
    return keys


def _search(server: Server) -> list[bytes]:
    body = b'{"filter":{"state":"ACTIVE"},"page":{"limit":100}}'
    return [server.request("/v2/incidents/search", body)] * SEARCHES


def _answer(server: Server) -> bytes:
    with server.client as client:
        answer = client.post("/v2/incidents/search", json={"page": {"limit": ITEMS}}).raise_for_status()
    assert len(answer.json()["items"]) == ITEMS
    return answer.content


def _echoes(body: bytes) -> list[bytes]:
    return [Server(0).request("/echo", body)] * (ECHOES if len(body) < 1000 else SEARCHES)


def _load(server: Server, requests: Sequence[bytes]) -> Cost:
    before = process_of(server.pid).own
    rate = load(server.port, requests)
    return Cost(rate, (process_of(server.pid).own - before) / len(requests) * 1e6)


def load(port: int, requests: Sequence[bytes]) -> float:
    """Requests per second; every one has to succeed."""
    command = [*_pinned(0), sys.executable, "-m", "tests.bench.load", HOST, str(port), str(len(requests))]
    body = b"".join(LENGTH.pack(len(request)) + request for request in requests)
    done = subprocess.run(command, input=body, capture_output=True, check=True)
    result = json.loads(done.stdout)
    failed = {
        status: count
        for status, count in result["statuses"].items()
        if not status.startswith("2") and status != "304"
    }
    assert not failed, f"expected success only, found {failed}"
    return float(result["rate"])
