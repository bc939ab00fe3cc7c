"""The contracts of .importlinter hold what they say: a planted import breaks them."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = sysconfig.get_path("purelib")
# Without `site`, the path configuration of this checkout does not add a second tree to the copy's.
LINT_IMPORTS = (sys.executable, "-S", "-c", "from importlinter.cli import lint_imports_command as run; run()")
WITHOUT_CACHES = shutil.ignore_patterns("__pycache__")

PURE = "The core is pure: no waiting, no wire, no time, no chance, no log"
LAYERS = "The server's layers"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of everything that the contracts look at."""
    for package in ("server", "identity", "edge", "gen/gnomon", "client/gnomon"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=WITHOUT_CACHES)
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


def broken_contracts(tree: Path) -> str:
    """The linter's report, empty when every contract is kept."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (tree, tree / "gen", tree / "client", INSTALLED))),
        "COLUMNS": "200",
    }
    found = subprocess.run(
        [*LINT_IMPORTS, "--no-cache"],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Analyzed" in found.stdout, found.stdout + found.stderr
    return found.stdout if found.returncode else ""


def test_the_tree_as_it_is_keeps_every_contract(tree: Path) -> None:
    assert broken_contracts(tree) == ""


@pytest.mark.parametrize(
    ("file", "planted", "contract"),
    [
        ("server/engine/step.py", "import asyncio", PURE),
        ("server/engine/handlers/job.py", "import time", PURE),
        ("server/bpmn/reader.py", "import google.protobuf", PURE),
        ("server/feel/run.py", "import random", PURE),
        ("server/engine/step.py", "import server.partition.due", LAYERS),
        ("server/platform/clock.py", "import server.engine.keys", LAYERS),
        ("edge/app.py", "import server.engine.keys", "Edge and identity know the platform"),
        ("identity/app.py", "import edge.app", "Edge and identity do not know each other"),
        ("server/app.py", "import identity.app", "Inside the server only the launcher"),
        (
            "client/gnomon/client/worker.py",
            "import server.platform.clock",
            "The client knows the generated stubs",
        ),
    ],
)
def test_a_planted_import_breaks_its_contract(tree: Path, file: str, planted: str, contract: str) -> None:
    target = tree / file
    target.write_text(f"{target.read_text()}\n{planted}\n")

    report = broken_contracts(tree)

    (verdict,) = [line for line in report.splitlines() if line.startswith(contract) and "BROKEN" in line]
    assert verdict.endswith("BROKEN")
