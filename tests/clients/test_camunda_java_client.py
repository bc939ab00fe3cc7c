"""Camunda's own Java client, unmodified, against a running server."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server_process import DEMO_ACCESS, MODES, ROOT, server_in

PROJECT = Path(__file__).parent / "java"
KEPT = ROOT / ".venv" / "java-client"
EXAMPLES = ROOT / "examples"
BUILD = ("mvn", "-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath")
BUILD_SECONDS = 300
RUN_SECONDS = 120
CHECKS = 65
CHECKS_OVER_GRPC = 29


@pytest.fixture(scope="session")
def class_path() -> str:
    """The compiled checks and the client with its dependencies, made once for each version of the project."""
    missing = [program for program in ("javac", "java", "mvn") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"the Java client was not tried: there is no {', '.join(missing)} on this machine")
    sources = [PROJECT / "pom.xml", *sorted(PROJECT.rglob("*.java"))]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    folder = KEPT / digest
    if not folder.exists():
        draft = KEPT / f"{digest}-{os.getpid()}"
        shutil.copytree(PROJECT, draft)
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


@pytest.mark.parametrize("mode", MODES)
def test_the_java_client_works_as_its_users_work_with_it(class_path: str, tmp_path: Path, mode: str) -> None:
    lines = results("gnomon.Main", class_path, tmp_path, mode)

    assert [line for line in lines if line[0] != "passed"] == []
    assert len(lines) == CHECKS


@pytest.mark.parametrize("mode", MODES)
def test_the_java_client_sends_its_commands_over_grpc(class_path: str, tmp_path: Path, mode: str) -> None:
    lines = results("gnomon.Gateway", class_path, tmp_path, mode)

    assert [line for line in lines if line[0] != "passed"] == []
    assert len(lines) == CHECKS_OVER_GRPC


def results(main: str, class_path: str, folder: Path, mode: str) -> list[list[str]]:
    """Of each check: its result, its name and what went wrong."""
    with server_in(mode, environment=DEMO_ACCESS) as addresses:
        token_url = f"{addresses.http}/auth/v1/oidc/token"
        arguments = [addresses.http, token_url, str(EXAMPLES), str(folder), addresses.grpc]
        command = ["java", "-cp", class_path, main, *arguments]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=RUN_SECONDS)
    return [line.split("\t") for line in run.stdout.splitlines()]
