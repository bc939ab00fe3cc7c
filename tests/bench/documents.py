"""CPU time of documents that hardly ever change, beside a bare aiohttp echo of the same size in the same run.

Rounds of the documents and of the echo alternate, and a figure is the median of its rounds: other work on the machine
then weighs on both alike. CPU time is that of the server process.
"""

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

from rich.table import Table

from tests.bench.http import HOST, Server, echo, gnomon, load

ROUNDS = 5
REQUESTS = 6_000
DOCUMENTS = (
    "/auth/v1/.well-known/openid-configuration",
    "/auth/v1/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/auth/v1/oidc/certs",
)
# Large documents: fewer of them load as long.
OPENAPI = ("/openapi.json", "/auth/v1/openapi.json")
_LARGE = 100_000


@dataclass(slots=True)
class _Figures:
    """Microseconds of CPU time a request, one figure for each round."""

    own: list[float] = field(default_factory=list)
    echo: list[float] = field(default_factory=list)


def table() -> Table:
    table = Table(title="Documents: µs of CPU time a request, one server process, 64 connections")
    for column in ("document", "bytes", "own", "echo of the same size", "304", "ratio of rates"):
        table.add_column(column, justify="left" if column == "document" else "right")
    with echo() as limit, gnomon() as server:
        for path in (*DOCUMENTS, *OPENAPI):
            table.add_row(path, *_row(server, limit, path))
    return table


def _row(server: Server, limit: Server, path: str) -> Sequence[str]:
    with urlopen(f"http://{HOST}:{server.port}{path}") as answer:  # our own server
        body, etag = answer.read(), answer.headers.get("ETag", "")
    count = REQUESTS if len(body) < _LARGE else REQUESTS // 20
    whole, again = [_get(path)] * count, [_get(path, f"If-None-Match: {etag}\r\n")] * count
    echoed = [limit.request("/echo", body)] * count
    figures, not_modified = _Figures(), list[float]()
    for _ in range(ROUNDS):
        figures.own.append(_cpu_micros(server, whole))
        figures.echo.append(_cpu_micros(limit, echoed))
        not_modified.append(_cpu_micros(server, again) if etag else 0.0)
    own, bare = statistics.median(figures.own), statistics.median(figures.echo)
    return (
        f"{len(body):,}",
        f"{own:.0f}",
        f"{bare:.0f}",
        f"{statistics.median(not_modified):.0f}",
        f"{bare / own:.2f}",
    )


def _get(path: str, more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{more}\r\n".encode()


def _cpu_micros(server: Server, requests: Sequence[bytes]) -> float:
    begun = _cpu_seconds(server.pid)
    load(server.port, requests)
    return (_cpu_seconds(server.pid) - begun) / len(requests) * 1e6


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
