import json
import subprocess
import sys

import pytest

from tests.docs.conftest import Reader
from tests.docs.markdown import ROOT, blocks


def commands(file: str) -> list[str]:
    """Shell blocks that are not about this checkout's own environment."""
    return [code.replace(".venv/bin/gnomon", f"{sys.executable} -m server") for code in blocks(file, "sh")]


def targets() -> list[str]:
    makefile = (ROOT / "Makefile").read_text().splitlines()
    return [line.partition(":")[0] for line in makefile if "##" in line and not line.startswith("#")]


def typed(file: str) -> str:
    return "echo\n".join(code for code in commands(file) if not code.startswith("make "))


def test_the_shell_blocks_of_the_readme_do_what_it_says(reader: Reader) -> None:
    output = reader.type(typed("README.md"))

    started, found = (json.loads(line) for line in output.splitlines() if '"processInstanceKey"' in line)
    assert started["processInstanceKey"] == found["items"][0]["processInstanceKey"]
    assert "COMPLETED" in output.splitlines()[-1]


def test_the_shell_blocks_of_the_examples_do_what_they_say(reader: Reader) -> None:
    output = reader.type(typed("examples/README.md"))

    assert "JOB_NO_RETRIES" in output
    assert "COMPLETED" in output.splitlines()[-1]


def test_the_readme_names_targets_that_exist() -> None:
    named = [code.split()[1] for code in commands("README.md") if code.startswith("make ")]

    assert named == ["run", "demo", "durable", "survive", "test"]
    assert set(named) <= set(targets())


@pytest.mark.parametrize("code", blocks("README.md", "python"))
def test_the_python_blocks_of_the_readme_run(code: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True
    )

    assert (ended.returncode, ended.stdout) == (0, "COMPLETED\n"), ended.stderr
