"""Real servers of each mode: every test here talks to both."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from server.platform.policy import Mode
from tests.end_to_end.servers import CONFIGURATION, MODES, Models, Server
from tests.server_process import server_in


@contextmanager
def started(mode: Mode, configuration: Path, environment: Mapping[str, str]) -> Iterator[Server]:
    with server_in(mode, "--config", str(configuration), environment=environment) as addresses:
        yield Server(mode, addresses.http, addresses.grpc)


@pytest.fixture(scope="session")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("server") / "gnomon.toml"
    file.write_text(CONFIGURATION)
    return file


@pytest.fixture(scope="session")
def embedded_server(configuration: Path) -> Iterator[Server]:
    with started(Mode.EMBEDDED, configuration, {}) as server:
        yield server


@pytest.fixture(scope="session")
def bundled_server(configuration: Path) -> Iterator[Server]:
    with started(Mode.BUNDLED, configuration, {}) as server:
        yield server


@pytest.fixture(scope="module", params=MODES)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The session's, or one of its own for a module that defines an `ENVIRONMENT` for it."""
    mode: Mode = request.param
    if not hasattr(request.module, "ENVIRONMENT"):
        yield request.getfixturevalue(f"{mode}_server")
        return
    configuration: Path = request.getfixturevalue("configuration")
    with started(mode, configuration, request.module.ENVIRONMENT) as server:
        yield server


@pytest.fixture
def model() -> Models:
    return Models()
