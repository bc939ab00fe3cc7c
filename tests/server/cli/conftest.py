import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.server_process import COMMAND, ROOT, Addresses, server_process

SECONDS = 60


@dataclass(frozen=True)
class Ended:
    """What a command came to."""

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
        ended = subprocess.run(
            [*COMMAND, *arguments],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            check=False,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="module")
def addresses() -> Iterator[Addresses]:
    with server_process() as found:
        yield found


@pytest.fixture(scope="module")
def gnomon(addresses: Addresses) -> Gnomon:
    return Gnomon({"GNOMON_CLIENT__ADDRESS": addresses.grpc})


@pytest.fixture
def gnomon_alone() -> Gnomon:
    """Without a server."""
    return Gnomon({})
