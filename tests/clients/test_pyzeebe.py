"""Zeebe's own client for Python, unmodified, against a running server."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server_process import DEMO_ACCESS, MODES, ROOT, server_in

CHECKS_OF_PYZEEBE = Path(__file__).parent / "python"
REQUIREMENTS = ROOT / "requirements" / "zeebe.txt"
KEPT = ROOT / ".venv" / "pyzeebe"
EXAMPLES = ROOT / "examples"
BUILD_SECONDS = 300
RUN_SECONDS = 180
CHECKS = 19


@pytest.fixture(scope="session")
def python() -> Path:
    """An interpreter with the client, made once for each version of its requirements."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    folder = KEPT / digest
    if not folder.exists():
        draft = KEPT / f"{digest}-{os.getpid()}"
        _build(draft)
        try:
            draft.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(draft)
    return folder / "bin" / "python"


def _build(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=BUILD_SECONDS)
    install = ("-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(REQUIREMENTS))
    subprocess.run([folder / "bin" / "python", *install], check=True, timeout=BUILD_SECONDS)


@pytest.mark.parametrize("mode", MODES)
def test_pyzeebe_works_as_its_users_work_with_it(python: Path, tmp_path: Path, mode: str) -> None:
    with server_in(mode, environment=DEMO_ACCESS) as addresses:
        token_url = f"{addresses.http}/auth/v1/oidc/token"
        arguments = [addresses.grpc, token_url, str(EXAMPLES), str(tmp_path)]
        command = [python, str(CHECKS_OF_PYZEEBE), *arguments]

        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=RUN_SECONDS)

    lines = [line.split("\t") for line in run.stdout.splitlines()]
    assert [line for line in lines if line[0] != "passed"] == []
    assert len(lines) == CHECKS
