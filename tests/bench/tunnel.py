"""gRPC calls per second between two processes: unary, and over a tunnel, in the same run.

Server and load each have a core where there are two. Each call is a job failure with a credential, passes every
interceptor and ends at a servicer that does nothing.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.table import Table

from tests.bench.grpc_load import CALLERS

HOST = "127.0.0.1"
UNARY_CALLS = 10_000
TUNNEL_CALLS = 100_000
END_SECONDS = 15


def table() -> Table:
    table = Table(title=f"gRPC calls per second between two processes, {CALLERS} callers")
    for column in ("way", "per second", "CPU of the caller, µs", "CPU of the server, µs", "ratio"):
        table.add_column(column, justify="left" if column == "way" else "right")
    unary = _measured("unary", UNARY_CALLS)
    for way, cost in (("unary", unary), ("tunnel", _measured("tunnel", TUNNEL_CALLS))):
        ratio = cost.rate / unary.rate
        table.add_row(way, f"{cost.rate:,.0f}", f"{cost.caller:.0f}", f"{cost.server:.0f}", f"{ratio:.1f}×")
    return table


@dataclass(frozen=True)
class _Cost:
    """Calls per second, and microseconds of CPU that a call took on either side."""

    rate: float
    caller: float
    server: float


def _measured(way: str, count: int) -> _Cost:
    with _server() as server:
        begun = server.cpu()
        load = [*_pinned(0), sys.executable, "-m", "tests.bench.grpc_load", way, server.target, str(count)]
        done = subprocess.run(load, capture_output=True, check=True)
        used = server.cpu() - begun
    measured = json.loads(done.stdout)
    return _Cost(measured["rate"], measured["cpu"], used / count * 1e6)


class _Server:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.target = f"{HOST}:{self._line()}"

    def cpu(self) -> float:
        """Seconds that it has used."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def _server() -> Iterator[_Server]:
    command = [*_pinned(1), sys.executable, "-m", "tests.bench.grpc_server"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield _Server(process)
    finally:
        process.communicate(timeout=END_SECONDS)


def _pinned(core: int) -> Sequence[str]:
    return ("taskset", "-c", str(core)) if (os.cpu_count() or 1) > core else ()
