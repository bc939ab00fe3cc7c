"""Zeebe as a peer of the engine: its gateways, its clock, and the records that it writes.

The gateway's stubs are generated from its contract whenever the target runs.
A debug exporter of the broker writes each record as a line of JSON to the standard output, which is read here.
"""

import importlib
import json
import queue
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import grpc
import msgspec
from grpc_tools import protoc

from tests.peer.broker import CONTRACT, broker

_QUIET_SECONDS = 90
_MARK_SECONDS = 120
_LOGGING = """<Configuration status="WARN">
  <Appenders>
    <Console name="records" target="SYSTEM_OUT"><PatternLayout pattern="%m%n"/></Console>
    <Console name="others" target="SYSTEM_ERR"><PatternLayout pattern="%d %p %c %m %ex{9}%n"/></Console>
  </Appenders>
  <Loggers>
    <Logger name="io.camunda.zeebe.broker.exporter" level="info" additivity="false">
      <AppenderRef ref="records"/>
    </Logger>
    <Root level="warn"><AppenderRef ref="others"/></Root>
  </Loggers>
</Configuration>
"""

_SETTINGS: Mapping[str, str] = {
    "ZEEBE_BROKER_GATEWAY_CLUSTER_REQUESTTIMEOUT": "60s",
    "ZEEBE_BROKER_DATA_LOGSEGMENTSIZE": "32MB",
    "ZEEBE_BROKER_CLUSTER_RAFT_FLUSH_ENABLED": "false",
    "ZEEBE_BROKER_EXPERIMENTAL_ROCKSDB_MEMORYLIMIT": "64MB",
    "ZEEBE_BROKER_BACKPRESSURE_ENABLED": "false",
    "ZEEBE_BROKER_EXPERIMENTAL_ENGINE_JOBS_TIMEOUTCHECKERPOLLINGINTERVAL": "100ms",
    "ZEEBE_BROKER_EXPORTERS_RECORDS_CLASSNAME": "io.camunda.zeebe.broker.exporter.debug.DebugLogExporter",
    "ZEEBE_BROKER_EXPORTERS_RECORDS_ARGS_LOGLEVEL": "info",
    "ZEEBE_CLOCK_CONTROLLED": "true",
}

Record = Mapping[str, Any]


class NotQuiet(Exception):
    """The broker has not answered, or not written the records that it owes."""


class Zeebe:
    """`requests` and `gateway` are the generated messages and the stub; `server` has what gRPC does not have."""

    def __init__(
        self,
        requests: Any,
        gateway: Any,
        server: str,
        management: str,
        records: "queue.SimpleQueue[Record | None]",
    ) -> None:
        self.requests = requests
        self.gateway = gateway
        self._server = f"{server}/v2"
        self._calls = ThreadPoolExecutor(8)
        self._clock = f"{management}/actuator/clock"
        self._records = records
        self._marks = 0

    def now(self) -> datetime:
        with urllib.request.urlopen(self._clock, timeout=_QUIET_SECONDS) as response:  # noqa: S310
            return datetime.fromtimestamp(json.load(response)["epochMilli"] // 1000, UTC)

    def pin(self, milliseconds: int) -> None:
        """Stop its clock at this time."""
        body = json.dumps({"epochMilli": milliseconds}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._clock}/pin", body, headers)  # noqa: S310  # of this machine
        with urllib.request.urlopen(request, timeout=_QUIET_SECONDS) as response:  # noqa: S310
            response.read()

    def call(self, method: str, path: str, body: Mapping[str, Any]) -> "Future[int]":
        """The status of an HTTP request."""
        return self._calls.submit(self._status, method, path, json.dumps(body).encode())

    def _status(self, method: str, path: str, body: bytes) -> int:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        request = urllib.request.Request(f"{self._server}{path}", body, headers, method=method)  # noqa: S310  # of this machine
        try:
            with urllib.request.urlopen(request, timeout=_QUIET_SECONDS) as response:  # noqa: S310
                return int(response.status)
        except urllib.error.HTTPError as refusal:
            return refusal.code

    def records(self) -> Iterator[Record]:
        """The records since the last call.

        A message is published now, and the records are read up to its own: by then the broker has carried out all that it
        was asked before. Raises NotQuiet.
        """
        self._marks += 1
        name = f"mark-{self._marks}"
        self.gateway.PublishMessage(self.requests.PublishMessageRequest(name=name), timeout=_QUIET_SECONDS)
        end = time.monotonic() + _MARK_SECONDS
        while time.monotonic() < end:
            record = self._next()
            if record["valueType"] == "MESSAGE" and record["value"]["name"] == name:
                if record["intent"] == "EXPIRED":
                    return
            else:
                yield record
        raise NotQuiet("records without an end")

    def _next(self) -> Record:
        try:
            record = self._records.get(timeout=_QUIET_SECONDS)
        except queue.Empty as nothing:
            raise NotQuiet("no record") from nothing
        if record is None:
            raise NotQuiet("the broker has ended")
        return record


@contextmanager
def zeebe() -> Iterator[Zeebe]:
    """A broker with nothing in it; its log goes to the standard error."""
    with TemporaryDirectory(prefix="gnomon-peer-") as name, _generated(Path(name)) as (requests, stubs):
        folder = Path(name)
        (folder / "log4j2.xml").write_text(_LOGGING)
        options = (
            "-Xmx1g",
            "-XX:+UseSerialGC",
            f"-Dlog4j2.configurationFile={folder / 'log4j2.xml'}",
        )
        records: queue.SimpleQueue[Record | None] = queue.SimpleQueue()
        with broker(folder, _SETTINGS, options, partial(_read, records.put)) as running:
            unbounded = [("grpc.max_receive_message_length", -1)]
            with grpc.insecure_channel(running.gateway, options=unbounded) as channel:
                yield Zeebe(requests, stubs.GatewayStub(channel), running.http, running.management, records)


@contextmanager
def _generated(folder: Path) -> Iterator[tuple[Any, Any]]:
    """The modules of the gateway's contract."""
    with zipfile.ZipFile(CONTRACT) as jar:
        jar.extract("gateway.proto", folder)
    arguments = [f"-I{folder}", f"--python_out={folder}", f"--grpc_python_out={folder}"]
    if protoc.main(["protoc", *arguments, str(folder / "gateway.proto")]):
        raise RuntimeError("the contract of the gateway cannot be compiled")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("gateway_pb2"), importlib.import_module("gateway_pb2_grpc")
    finally:
        sys.path.remove(str(folder))


def _read(put: Callable[[Record | None], None], output: IO[bytes]) -> None:
    """Records are lines of JSON among others."""
    for line in output:
        if line.startswith(b"{"):
            put(msgspec.json.decode(line))
    put(None)
