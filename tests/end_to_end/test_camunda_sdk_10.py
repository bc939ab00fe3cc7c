"""The scenario of test_camunda_sdk.py with Camunda's SDK for 8.10, against a server that answers as that release."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server_process import ROOT

SCENARIO = ROOT / "tests" / "end_to_end" / "test_camunda_sdk.py"
REQUIREMENTS = ROOT / "requirements" / "camunda-10.txt"
KEPT = ROOT / ".venv" / "camunda-sdk-10"
VERSION = "10.0.1"
BUILD_SECONDS = 120
RUN_SECONDS = 180
CHECKS = 26


@pytest.fixture(scope="session")
def sdk() -> Path:
    """A folder with the SDK alone, made once for each version of its requirements."""
    folder = KEPT / hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    if not folder.exists():
        draft = KEPT / f"{folder.name}-{os.getpid()}"
        install = ("-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target", str(draft))
        subprocess.run([sys.executable, *install, "-r", str(REQUIREMENTS)], check=True, timeout=BUILD_SECONDS)
        try:
            draft.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(draft)
    return folder


def test_the_sdk_for_8_10_works_as_its_users_work_with_it(sdk: Path) -> None:
    # The release changes what the edge writes, which is the same in all modes and at any load; the SDK warns of names
    # that it keeps for users of 9.
    which = ("-k", "embedded and not four")
    options = ("-n", "0", "-W", "ignore::DeprecationWarning")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(sdk), str(ROOT), str(ROOT / "gen")])
    environment["GNOMON_API__RELEASE"] = "8.10"

    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *which, str(SCENARIO)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )

    assert (sdk / f"camunda_orchestration_sdk-{VERSION}.dist-info").exists()
    assert run.returncode == 0, run.stdout
    counted = re.findall(r"([0-9]+) (passed|skipped)", run.stdout)
    assert sum(int(number) for number, _ in counted) == CHECKS
