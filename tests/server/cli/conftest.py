import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner

from server.cli.app import app
from tests.server_process import COMMAND, DEMO_ACCESS, MODES, ROOT, Addresses, server_in

SECONDS = 60


@dataclass(frozen=True)
class Ended:
    """The exit code and output of a command."""

    exit_code: int
    output: str
    errors: str

    @property
    def json(self) -> Any:
        assert self.exit_code == 0, self.errors
        return json.loads(self.output)

    @property
    def lines(self) -> list[Any]:
        """One JSON document a line."""
        assert self.exit_code == 0, self.errors
        return [json.loads(line) for line in self.output.splitlines()]


@dataclass(frozen=True)
class Gnomon:
    """The command, as a person or a program calls it."""

    environment: dict[str, str]

    def __call__(self, *arguments: str) -> Ended:
        """In this process, which has read the program already."""
        ended = CliRunner().invoke(app, arguments, env=self.environment, catch_exceptions=False)
        return Ended(ended.exit_code, ended.stdout, ended.stderr)

    def process(self, *arguments: str) -> Ended:
        """In a process of its own, without anything to read."""
        ended = subprocess.run(
            [*COMMAND, *arguments],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            check=False,
            input="",
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `examples/` is."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def embedded_addresses() -> Iterator[Addresses]:
    with server_in("embedded") as found:
        yield found


@pytest.fixture(scope="session")
def bundled_addresses() -> Iterator[Addresses]:
    with server_in("bundled", environment=DEMO_ACCESS) as found:
        yield found


@pytest.fixture(scope="module", params=MODES)
def addresses(request: pytest.FixtureRequest) -> Addresses:
    """A server of each mode."""
    found: Addresses = request.getfixturevalue(f"{request.param}_addresses")
    return found


@pytest.fixture(scope="module")
def gnomon(addresses: Addresses) -> Gnomon:
    return Gnomon({"GNOMON_CLIENT__ADDRESS": addresses.grpc})


@pytest.fixture
def gnomon_alone() -> Gnomon:
    """Without a server."""
    return Gnomon({})
