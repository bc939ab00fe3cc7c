"""Camunda's own clients for Node, unmodified, against a running server: its SDK, and that of the HTTP API alone."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.models import write_models
from tests.server_process import DEMO_ACCESS, MODES, ROOT, Addresses, server_in

PROJECT = Path(__file__).parent / "node"
KEPT = ROOT / ".venv" / "node-client"
EXAMPLES = ROOT / "examples"
INSTALL = ("npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
INSTALL_SECONDS = 300
RUN_SECONDS = 120
CHECKS_OVER_GRPC = 9
SCENARIO = 7


@pytest.fixture(scope="session")
def project() -> Path:
    """The checks and the SDK with its dependencies, made once for each version of the project."""
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"the Node SDK was not tried: there is no {', '.join(missing)} on this machine")
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(PROJECT.iterdir()))).hexdigest()[
        :16
    ]
    folder = KEPT / digest
    if not folder.exists():
        draft = KEPT / f"{digest}-{os.getpid()}"
        shutil.copytree(PROJECT, draft)
        subprocess.run(INSTALL, cwd=draft, check=True, timeout=INSTALL_SECONDS)
        try:
            draft.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(draft)
    return folder


@pytest.fixture(scope="module", params=MODES)
def addresses(request: pytest.FixtureRequest) -> Iterator[Addresses]:
    with server_in(request.param, environment=DEMO_ACCESS) as addresses:
        yield addresses


def test_the_node_sdk_works_over_grpc_as_its_users_work_with_it(project: Path, addresses: Addresses) -> None:
    lines = results(project, "main.mjs", addresses.grpc, addresses, EXAMPLES)

    assert [line for line in lines if line[0] != "passed"] == []
    assert len(lines) == CHECKS_OVER_GRPC


@pytest.mark.parametrize(
    ("script", "checks"),
    [
        pytest.param("rest.mjs", SCENARIO, id="@camunda8/sdk"),
        # The older client has no batch operations.
        pytest.param("cluster.mjs", SCENARIO + 1, id="@camunda8/orchestration-cluster-api"),
    ],
)
def test_clients_for_node_go_through_the_scenario_over_http(
    project: Path, addresses: Addresses, tmp_path: Path, script: str, checks: int
) -> None:
    write_models(tmp_path, script.removesuffix(".mjs"))

    lines = results(project, script, addresses.http, addresses, tmp_path)

    assert [line for line in lines if line[0] != "passed"] == []
    assert len(lines) == checks


def results(project: Path, script: str, address: str, addresses: Addresses, folder: Path) -> list[list[str]]:
    """Of each check: its result, its name and what went wrong."""
    command = ["node", script, address, f"{addresses.http}/auth/v1/oidc/token", str(folder)]
    run = subprocess.run(
        command, cwd=project, stdout=subprocess.PIPE, text=True, check=True, timeout=RUN_SECONDS
    )
    # The SDK writes its log there, too.
    return [line.split("\t") for line in run.stdout.splitlines() if line.startswith(("passed\t", "failed\t"))]
