"""Imports of commands: they decide how long a person waits."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.server_process import ROOT

PROGRAM = """
import json, sys
from server.__main__ import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
SERVER = (
    "identity",
    "edge",
    "server.app",
    "server.bundle",
    "server.launcher",
    "server.sections",
    "server.engine",
)
LIBRARIES = ("aiohttp", "asyncpg", "cryptography", "lxml", "protovalidate", "uvloop")
WIRE = ("grpc", "google.protobuf", "gnomon")
MODELS = ("server.bpmn", "server.dmn", "server.feel")
NOBODY = "127.0.0.1:1"


def imported(*arguments: str, environment: Mapping[str, str] | None = None) -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        check=False,
        capture_output=True,
        text=True,
    )
    return list(json.loads(ended.stderr.splitlines()[-1]))


def of(packages: tuple[str, ...], modules: list[str]) -> list[str]:
    return [
        module for module in modules if any(f"{module}.".startswith(f"{package}.") for package in packages)
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("version",),
        ("--help",),
        ("admin", "--help"),
        ("jobs", "--help"),
        ("incidents", "--help"),
        ("batch", "--help"),
        ("tasks", "--help"),
        ("unheard-of",),
    ],
    ids=" ".join,
)
def test_what_is_no_command_imports_no_command(arguments: tuple[str, ...]) -> None:
    modules = imported(*arguments)

    assert of((*SERVER, *LIBRARIES, *WIRE, *MODELS), modules) == []


def test_completing_a_name_imports_no_command() -> None:
    typed = {"_GNOMON_COMPLETE": "complete_bash", "COMP_WORDS": "gnomon inst", "COMP_CWORD": "1"}

    modules = imported(environment=typed)

    assert of((*SERVER, *LIBRARIES, *WIRE, *MODELS), modules) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("instances",),
        ("instances", "1"),
        ("instances", "show", "1"),
        ("instances", "cancel", "1"),
        ("instances", "migrate", "1", "--to", "2"),
        ("jobs", "list"),
        ("jobs", "work", "charge", "--exec", "true"),
        ("incidents",),
        ("incidents", "resolve", "1"),
        ("batch",),
        ("batch", "suspend", "1"),
        ("tasks",),
        ("tasks", "claim", "1", "ann"),
        ("tasks", "complete", "1"),
        ("deploy", "examples/invoice-payment.bpmn"),
        ("start", "invoice-payment"),
        ("demo",),
    ],
    ids=" ".join,
)
def test_a_client_imports_the_contract_and_nothing_of_the_server(arguments: tuple[str, ...]) -> None:
    modules = imported(*arguments, "--address", NOBODY)

    assert of((*SERVER, *LIBRARIES, *MODELS), modules) == []
    assert "grpc" in modules


@pytest.mark.parametrize("command", ["serve", "survive"])
def test_the_help_of_what_starts_a_server_imports_nothing_of_it(command: str) -> None:
    assert of((*SERVER, *LIBRARIES, *MODELS), imported(command, "--help")) == []


def test_an_expression_imports_no_wire_and_no_decisions() -> None:
    modules = imported("feel", "1 + 1")

    assert of((*SERVER, *LIBRARIES, "grpc", "gnomon.engine", "server.bpmn", "server.dmn"), modules) == []


def test_an_operator_imports_the_sections_of_the_configuration_and_nothing_that_serves() -> None:
    nowhere = {"GNOMON_DATABASE__DSN": "postgresql://127.0.0.1:1/gnomon"}

    modules = imported("admin", "partitions", environment=nowhere)

    assert of(("server.bundle", "server.app", "identity.app", "edge.app", "aiohttp"), modules) == []


def test_the_launcher_of_processes_imports_nothing_that_serves() -> None:
    nowhere = {"GNOMON_DATABASE__DSN": "postgresql://127.0.0.1:1/gnomon"}

    modules = imported("serve", "--mode", "bundled", environment=nowhere)

    assert "server.launcher" in modules
    assert of(("server.bundle", "server.app", "identity.app", "edge.app", "aiohttp"), modules) == []
