"""A real server process for each module, on free ports, ended by its own id."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.end_to_end.servers import CONFIGURATION, ROOT, Models, Server


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serves with CONFIGURATION, and with the `ENVIRONMENT` that the module defines."""
    file = tmp_path_factory.mktemp("server") / "gnomon.toml"
    file.write_text(CONFIGURATION)
    ports = {"GNOMON_EDGE__PORT": "0", "GNOMON_GRPC__PORT": "0"}
    environment = {**os.environ, **ports, **getattr(request.module, "ENVIRONMENT", {})}
    with subprocess.Popen(
        [sys.executable, "-m", "server", "serve", "--config", str(file)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        try:
            ready = process.stdout.readline().split()
            assert ready[:1] == ["ready"], f"expected ready, found {ready}, exit code {process.poll()}"
            addresses = dict(word.split("=", 1) for word in ready[1:])
            yield Server(addresses["http"], addresses["grpc"])
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


@pytest.fixture
def model() -> Models:
    return Models()
