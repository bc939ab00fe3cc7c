"""Camunda's own SDK for Node, unmodified, against the gRPC port of a running server."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server_process import DEMO_ACCESS, MODES, ROOT, server_in

PROJECT = Path(__file__).parent / "node"
KEPT = ROOT / ".venv" / "node-client"
EXAMPLES = ROOT / "examples"
INSTALL = ("npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
INSTALL_SECONDS = 300
RUN_SECONDS = 120
CHECKS = 9


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


@pytest.mark.parametrize("mode", MODES)
def test_the_node_sdk_works_as_its_users_work_with_it(project: Path, mode: str) -> None:
    with server_in(mode, environment=DEMO_ACCESS) as addresses:
        token_url = f"{addresses.http}/auth/v1/oidc/token"
        command = ["node", "main.mjs", addresses.grpc, token_url, str(EXAMPLES)]

        run = subprocess.run(
            command, cwd=project, stdout=subprocess.PIPE, text=True, check=True, timeout=RUN_SECONDS
        )

    # The SDK writes its log there, too.
    lines = [
        line.split("\t") for line in run.stdout.splitlines() if line.startswith(("passed\t", "failed\t"))
    ]
    assert [line for line in lines if line[0] != "passed"] == []
    assert len(lines) == CHECKS
