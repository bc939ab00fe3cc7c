"""Programs in Java beside the tests, built by Maven once for each version of their project."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server_process import ROOT

KEPT = ROOT / ".venv" / "java-client"
BUILD = ("mvn", "-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath")
BUILD_SECONDS = 300


def class_path_of(name: str) -> str:
    """Return the class path of a compiled project with its dependencies; skip the test where there is no Maven."""
    missing = [program for program in ("javac", "java", "mvn") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"the Java client was not tried: there is no {', '.join(missing)} on this machine")
    project = Path(__file__).parent / name
    sources = [project / "pom.xml", *sorted(project.rglob("*.java"))]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    folder = KEPT / digest
    if not folder.exists():
        draft = KEPT / f"{digest}-{os.getpid()}"
        shutil.copytree(project, draft)
        _build(draft)
        try:
            draft.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(draft)
    return f"{folder / 'target' / 'classes'}{os.pathsep}{(folder / 'classpath').read_text()}"


def _build(folder: Path) -> None:
    """Without the registry where everything is in the local repository."""
    if subprocess.run(
        [*BUILD, "-o"], cwd=folder, capture_output=True, timeout=BUILD_SECONDS, check=False
    ).returncode:
        subprocess.run(BUILD, cwd=folder, check=True, timeout=BUILD_SECONDS)
