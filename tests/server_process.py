"""A real `gnomon serve` on free ports, ended by its own id."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "server")
FREE_PORTS = {"GNOMON_EDGE__PORT": "0", "GNOMON_GRPC__PORT": "0"}
END_SECONDS = 10


@dataclass(frozen=True)
class Addresses:
    """As the ready line has them: a URL, and host:port."""

    http: str
    grpc: str

    @classmethod
    def read(cls, line: str) -> "Addresses":
        word, *facts = line.split()
        assert word == "ready", f"expected the ready line, found {line!r}"
        return cls(**dict(fact.split("=", 1) for fact in facts))


@contextmanager
def server_process(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Addresses]:
    """Ready when the block begins; `arguments` follow `serve`."""
    process = subprocess.Popen(
        [*COMMAND, "serve", *arguments],
        cwd=ROOT,
        env={**os.environ, **FREE_PORTS, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        try:
            yield Addresses.read(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(END_SECONDS) == 0
