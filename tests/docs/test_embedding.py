import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks


@pytest.mark.parametrize("code", blocks("docs/embedding.md", "python"))
def test_the_tests_in_the_document_pass(code: str, tmp_path: Path) -> None:
    file = tmp_path / "test_block.py"
    file.write_text(code)

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT, file],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
