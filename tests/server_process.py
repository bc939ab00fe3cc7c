"""Real processes of `gnomon`, above all `gnomon serve` on free ports, ended by their own id."""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TextIO

from tests.postgres import open_directory

ROOT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "server")
FREE_PORTS = {"GNOMON_EDGE__PORT": "0", "GNOMON_GRPC__PORT": "0"}
# In modes that have none that everybody knows.
DEMO_ACCESS = {
    "GNOMON_BOOTSTRAP__CLIENT_ID": "demo",
    "GNOMON_BOOTSTRAP__CLIENT_SECRET": "demo-secret",
    "GNOMON_BOOTSTRAP__ADMIN_PASSWORD": "demo",
}
MODES = ("embedded", "bundled")
END_SECONDS = 10
# Processes one after the other, and their database.
BUNDLED_END_SECONDS = 30
_LINES_TOLD = 20


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
def server_in(
    mode: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[Addresses]:
    """One with a data directory of its own, where its mode needs any; bundled mode has two processes."""
    with open_directory() as data:
        of_its_own = {"GNOMON_DATA_DIR": str(data), "GNOMON_CLUSTER__PARTITIONS": "2", **(environment or {})}
        with server_process("--mode", mode, *arguments, environment=of_its_own) as addresses:
            yield addresses


@contextmanager
def server_process(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
    command: Sequence[str] = COMMAND,
    directory: Path = ROOT,
) -> Iterator[Addresses]:
    """Ready when the block begins; `arguments` follow `serve`, and `before` is a command that runs another one."""
    with TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [*before, *command, "serve", *arguments],
            cwd=directory,
            env={**os.environ, **FREE_PORTS, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        with killed_at_the_end(process):
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, f"the server ended before it was ready:\n{_last_of(log)}"
            try:
                yield Addresses.read(line)
            finally:
                process.send_signal(signal.SIGTERM)
                code = process.wait(BUNDLED_END_SECONDS if "bundled" in arguments else END_SECONDS)
                assert code == 0, f"the server ended with {code}:\n{_last_of(log)}"


def _last_of(log: TextIO) -> str:
    log.seek(0)
    return "".join(deque(log, maxlen=_LINES_TOLD))


@contextmanager
def killed_at_the_end(process: "subprocess.Popen[str]") -> Iterator["subprocess.Popen[str]"]:
    """A process that is not left running, whatever fails in the block: `Popen` itself waits for its end."""
    with process:
        try:
            yield process
        finally:
            process.kill()
