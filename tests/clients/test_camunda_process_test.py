"""Camunda's own library for tests of processes, unmodified, against a running server."""

import subprocess
from pathlib import Path

from tests.clients.maven import class_path_of
from tests.server_process import DEMO_ACCESS, server_in

RUN_SECONDS = 240
TESTS = 4


def test_process_tests_run_against_a_server_and_each_begins_without_data(tmp_path: Path) -> None:
    class_path = class_path_of("java_process_tests")

    with server_in("embedded", environment={**DEMO_ACCESS, "GNOMON_API__PROCESS_TESTS": "true"}) as addresses:
        properties = {
            "rest": addresses.http,
            "grpc": addresses.grpc,
            "token": f"{addresses.http}/auth/v1/oidc/token",
            "monitoring": addresses.http,
            "cache": str(tmp_path / "credentials"),
        }
        options = [f"-D{name}={value}" for name, value in properties.items()]
        command = ["java", *options, "-cp", class_path, "gnomon.RunProcessTests"]
        run = subprocess.run(
            command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True, timeout=RUN_SECONDS
        )

    results = [line.split("\t") for line in run.stdout.splitlines() if "\t" in line]
    assert [result for result in results if result[0] != "passed"] == []
    assert len(results) == TESTS
