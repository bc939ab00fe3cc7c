"""Zeebe's own client for Go, unmodified, against the gRPC port of a running server."""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server_process import DEMO_ACCESS, MODES, ROOT, server_in

PROJECT = Path(__file__).parent / "go"
KEPT = ROOT / ".venv" / "go-client"
EXAMPLES = ROOT / "examples"
BUILD_SECONDS = 400
RUN_SECONDS = 150
CHECKS = 8


@pytest.fixture(scope="session")
def program() -> Path:
    """The compiled checks, made once for each version of the project."""
    if shutil.which("go") is None:
        pytest.skip("the Go client was not tried: there is no go on this machine")
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(PROJECT.iterdir()))).hexdigest()[
        :16
    ]
    program, draft = KEPT / digest, KEPT / f"{digest}.draft"
    KEPT.mkdir(exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be making it
        if not program.exists():
            command = ["go", "build", "-mod=readonly", "-o", str(draft), "."]
            subprocess.run(command, cwd=PROJECT, check=True, timeout=BUILD_SECONDS)
            draft.rename(program)
    return program


@pytest.mark.parametrize("mode", MODES)
def test_the_go_client_works_as_its_users_work_with_it(program: Path, tmp_path: Path, mode: str) -> None:
    with server_in(mode, environment=DEMO_ACCESS) as addresses:
        token_url = f"{addresses.http}/auth/v1/oidc/token"
        command = [program, addresses.grpc, token_url, str(EXAMPLES), str(tmp_path)]

        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=RUN_SECONDS)

    lines = [line.split("\t") for line in run.stdout.splitlines()]
    assert [line for line in lines if line[0] != "passed"] == []
    assert len(lines) == CHECKS
