"""Camunda's own Java client, unmodified, against a running server."""

import subprocess
from pathlib import Path

import pytest

from tests.clients.maven import class_path_of
from tests.server_process import DEMO_ACCESS, MODES, ROOT, server_in

EXAMPLES = ROOT / "examples"
RUN_SECONDS = 120
CHECKS = 68
CHECKS_OVER_GRPC = 29


@pytest.fixture(scope="session")
def class_path() -> str:
    return class_path_of("java")


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
