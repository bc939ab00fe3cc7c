"""A real server process for each module."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.servers import CONFIGURATION, Models, Server
from tests.server_process import server_process


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serves with CONFIGURATION, and with the `ENVIRONMENT` that the module defines."""
    file = tmp_path_factory.mktemp("server") / "gnomon.toml"
    file.write_text(CONFIGURATION)
    environment = getattr(request.module, "ENVIRONMENT", {})
    with server_process("--config", str(file), environment=environment) as addresses:
        yield Server(addresses.http, addresses.grpc)


@pytest.fixture
def model() -> Models:
    return Models()
