import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.docs.markdown import ROOT
from tests.server_process import Addresses, server_process

HTTP = "http://localhost:8080"


class Reader:
    """Somebody who types what a document says, beside a server of their own."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses

    def type(self, commands: str) -> str:
        """Standard output of commands that all have to succeed; the server's own ports stand in for the usual."""
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands.replace(HTTP, self._addresses.http)],  # noqa: S607  # as a reader has it
            cwd=ROOT,
            env={**os.environ, "GNOMON_CLIENT__ADDRESS": self._addresses.grpc},
            check=False,
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout


@pytest.fixture
def reader() -> Iterator[Reader]:
    with server_process() as addresses:
        yield Reader(addresses)
