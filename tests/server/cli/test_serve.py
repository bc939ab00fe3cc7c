import json
import os
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.postgres import open_directory
from tests.server.cli.conftest import Gnomon
from tests.server_process import (
    COMMAND,
    DEMO_ACCESS,
    END_SECONDS,
    FREE_PORTS,
    MODES,
    ROOT,
    Addresses,
    killed_at_the_end,
    server_process,
)

ONE_PARTITION = {"GNOMON_CLUSTER__PARTITIONS": "1"}
CLUSTER = {"GNOMON_SERVER__MODE": "cluster"}
DSN = {"GNOMON_DATABASE__DSN": "postgresql://127.0.0.1:1/gnomon"}
SECRET = {"GNOMON_CLUSTER__SECRET": "secret"}


@contextmanager
def started(*arguments: str) -> Iterator[tuple["subprocess.Popen[str]", Addresses]]:
    with open_directory() as directory:
        process = subprocess.Popen(
            [*COMMAND, "serve", *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                **FREE_PORTS,
                **DEMO_ACCESS,
                **ONE_PARTITION,
                "GNOMON_DATA_DIR": str(directory),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with killed_at_the_end(process):
            assert process.stdout is not None
            yield process, Addresses.read(process.stdout.readline())


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("mode", "number", "processes"),
    [
        pytest.param("embedded", signal.SIGTERM, 1, id="embedded-SIGTERM"),
        pytest.param("embedded", signal.SIGINT, 1, id="embedded-SIGINT"),
        # The program, and the process of its partition.
        pytest.param("bundled", signal.SIGTERM, 2, id="bundled-SIGTERM"),
    ],
)
def test_it_ends_cleanly_when_it_is_told_to(mode: str, number: signal.Signals, processes: int) -> None:
    with started("--mode", mode) as (process, _):
        process.send_signal(number)
        output, errors = process.communicate(timeout=END_SECONDS)

    lines = [json.loads(line) for line in errors.splitlines()]
    assert (process.returncode, output) == (0, "")
    assert {line["levelname"] for line in lines} == {"INFO"}
    said = [line["message"] for line in lines if line["name"] == "server.cli.process"]
    assert said == ["serving"] * processes + ["stopping"] * processes


@pytest.mark.parametrize("mode", MODES)
def test_it_ends_in_time_although_a_worker_waits_for_a_job(mode: str) -> None:
    with started("--mode", mode) as (process, addresses):
        client = Gnomon({"GNOMON_CLIENT__ADDRESS": addresses.grpc})
        client("deploy", "examples/invoice-payment.bpmn")
        client("start", "invoice-payment", "--variables", '{"invoice": {}}')
        worker = subprocess.Popen(
            [*COMMAND, "jobs", "work", "transfer-money", "--exec", "true", "--address", addresses.grpc],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with killed_at_the_end(worker):
            assert worker.stdout is not None
            line = worker.stdout.readline()
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=END_SECONDS)
            _, errors = worker.communicate(timeout=END_SECONDS)

    assert line.startswith("completed")
    assert process.returncode == 0
    assert worker.returncode == 1
    assert errors in {
        "error: UNAVAILABLE: the service cannot be reached\n",
        "error: UNAVAILABLE: the service cut the call off\n",
    }


def test_bundled_mode_makes_secrets_of_its_own_once() -> None:
    with open_directory() as directory:
        answers = [_tokens_with_secrets_of(directory) for _ in range(2)]
        mode = (directory / "bootstrap-secrets").stat().st_mode

    assert answers == [(200, 401)] * 2
    assert stat.S_IMODE(mode) == 0o600


def _tokens_with_secrets_of(directory: Path) -> tuple[int, int]:
    """How the client of the file is answered, and the one that everybody knows."""
    form = {"grant_type": "client_credentials"}
    environment = ONE_PARTITION | {"GNOMON_DATA_DIR": str(directory)}
    with server_process("--mode", "bundled", environment=environment) as addresses:
        lines = (directory / "bootstrap-secrets").read_text().splitlines()
        secret = dict(line.split("=") for line in lines)["client_secret"]
        url = f"{addresses.http}/auth/v1/oidc/token"
        own = httpx.post(url, data=form, auth=("gnomon", secret))
        known = httpx.post(url, data=form, auth=("demo", "demo-secret"))
    return own.status_code, known.status_code


def test_it_is_ready_when_it_says_so() -> None:
    with started() as (_, addresses):
        answer = httpx.get(f"{addresses.http}/v2/status")

    assert answer.status_code == 204


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "gnomon.toml"
    file.write_text('[edge]\nport = 1\n[logging]\nformat = "text"\n')

    with started("--config", str(file)) as (process, _):
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=END_SECONDS)

    assert process.returncode == 0
    assert "INFO    server.cli.process: serving" in errors.splitlines()[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("section", ["edge", "grpc"])
def test_a_port_in_use_is_told_in_one_line_with_the_way_out(
    section: str, mode: str, taken_port: int, tmp_path: Path
) -> None:
    setting = f"GNOMON_{section.upper()}__PORT"
    environment = {**FREE_PORTS, "GNOMON_DATA_DIR": str(tmp_path / "data"), setting: str(taken_port)}

    ended = Gnomon(environment).process("serve", "--mode", mode)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.errors.startswith(f"error: port {taken_port} is in use at 127.0.0.1: ")
    assert f"{section}.port or {setting}" in ended.errors
    assert len(ended.errors.splitlines()) == 1
    assert not (tmp_path / "data").exists()


def test_a_person_at_a_terminal_sees_where_to_go_as_whom_and_how_to_stop() -> None:
    seen = seen_in_a_terminal("serve")

    (ready,) = [line for line in seen if line.startswith("ready ")]
    http = Addresses.read(ready).http
    assert [line.split()[2:] for line in seen if "server.cli.process" in line] == [
        ["INFO", "server.cli.process:", "serving"],
        ["INFO", "server.cli.process:", "stopping"],
    ]
    assert f"{http}/auth/v1/" in " ".join(seen)
    assert "demo, secret demo-secret" in " ".join(seen)
    assert "admin@localhost, password demo" in " ".join(seen)
    assert "Press Ctrl-C to stop it." in seen


def test_no_terminal_sees_a_secret_that_somebody_chose() -> None:
    seen = " ".join(seen_in_a_terminal("serve", GNOMON_BOOTSTRAP__CLIENT_SECRET="chosen"))

    assert "secret" not in seen
    assert "chosen" not in seen
    assert "admin@localhost, password demo" in seen


def seen_in_a_terminal(*arguments: str, **environment: str) -> list[str]:
    """Lines that a process prints there, which is stopped as soon as it is ready."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env={**os.environ, **FREE_PORTS, **environment},
        stdout=theirs,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    lines: list[str] = []
    # The end of a terminal is an error of Linux (EIO), not an empty line.
    with killed_at_the_end(process), os.fdopen(ours, encoding="utf-8") as terminal, suppress(OSError):
        for line in terminal:
            lines.append(line.rstrip())
            if line.startswith("ready "):
                process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    return lines


BUNDLED = ["--mode", "bundled"]
BEHIND_TLS = {"GNOMON_IDENTITY__PUBLIC_URL": "id.example.com"}


@pytest.mark.parametrize(
    ("environment", "arguments", "warnings"),
    [
        pytest.param({}, [], 0, id="http"),
        pytest.param(BEHIND_TLS, [], 1, id="public address"),
        pytest.param({"GNOMON_IDENTITY__SCHEME": "https"}, BUNDLED, 1, id="scheme"),
        pytest.param(BEHIND_TLS | {"GNOMON_IDENTITY__SCHEME": "http"}, BUNDLED, 0, id="http behind a name"),
        pytest.param(BEHIND_TLS | {"GNOMON_ACCESS__TRUSTED_PROXIES": "10.0.0.0/8"}, BUNDLED, 0, id="trusted"),
        pytest.param(BEHIND_TLS, ["--owned"], 0, id="one of several processes"),
    ],
)
def test_https_without_trusted_proxies_is_warned_of_once(
    environment: dict[str, str], arguments: list[str], warnings: int, taken_port: int
) -> None:
    taken = {**FREE_PORTS, "GNOMON_EDGE__PORT": str(taken_port)}

    ended = Gnomon(taken | environment).process("serve", *arguments)

    *logged, _ = ended.errors.splitlines()
    assert [json.loads(line)["levelname"] for line in logged] == ["WARNING"] * warnings
    assert all("Set access.trusted_proxies" in json.loads(line)["message"] for line in logged)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        pytest.param({"GNOMON_GRPC__PROT": "1"}, "unknown key grpc.prot", id="unknown key"),
        pytest.param({"GNOMON_EDGE__PORT": "many"}, "expected edge.port to be int", id="wrong type"),
        pytest.param({"GNOMON_EDGE__PORT": "70000"}, "edge.port must be 0 to 65535", id="out of bounds"),
        pytest.param(CLUSTER, "expected database.dsn in cluster mode", id="no database"),
        pytest.param(CLUSTER | DSN, "expected cluster.secret in cluster mode", id="no secret"),
        pytest.param(
            CLUSTER | DSN | SECRET,
            "expected bootstrap.client_secret in cluster mode",
            id="no secret of the client",
        ),
        pytest.param(
            CLUSTER | DSN | SECRET | {"GNOMON_BOOTSTRAP__CLIENT_SECRET": "secret"},
            "expected bootstrap.admin_password in cluster mode",
            id="no password of the administrator",
        ),
        pytest.param(
            CLUSTER | DSN | SECRET | DEMO_ACCESS,
            "expected encryption.keys or encryption.key_file in cluster mode",
            id="no keys",
        ),
    ],
)
def test_a_configuration_that_cannot_be_served_is_told_in_one_line(
    environment: dict[str, str], message: str
) -> None:
    ended = Gnomon({**FREE_PORTS, **environment})("serve")

    assert (ended.exit_code, ended.output) == (2, "")
    assert message in ended.errors
    assert len(ended.errors.splitlines()) == 1


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        pytest.param({"GNOMON_LOGGING__LEVEL": "LOUD"}, "LOUD", id="unknown log level"),
        pytest.param({"GNOMON_BOOTSTRAP__TENANT": "oidc"}, "the name is reserved", id="reserved tenant"),
        pytest.param({"GNOMON_EDGE__HOST": "0.0.0.0"}, "well-known credentials", id="exposed"),  # noqa: S104  # refused
        pytest.param(
            {"GNOMON_SERVER__MODE": "bundled", "GNOMON_DATABASE__DSN": "postgresql://127.0.0.1:1/gnomon"},
            "no PostgreSQL answers at database.dsn",
            id="a database that does not answer",
        ),
        pytest.param(
            {"GNOMON_SERVER__MODE": "bundled", "GNOMON_DATABASE__INSTALLATION": "/nowhere"},
            "expected a PostgreSQL installation in /nowhere",
            id="no programs of the database",
        ),
        pytest.param(
            {"GNOMON_NETWORKS__COUNTRY_DATABASE": "/nowhere.mmdb"},
            "networks.country_database: cannot read /nowhere.mmdb: No such file or directory",
            id="no database of countries",
        ),
    ],
)
def test_what_only_a_start_finds_is_told_in_one_line(
    environment: dict[str, str], message: str, tmp_path: Path
) -> None:
    ended = Gnomon({**FREE_PORTS, "GNOMON_DATA_DIR": str(tmp_path), **environment}).process("serve")

    assert (ended.exit_code, ended.output) == (2, "")
    assert message in ended.errors
    assert len(ended.errors.splitlines()) == 1


def test_a_file_that_is_not_there_is_named(gnomon_alone: Gnomon, tmp_path: Path) -> None:
    missing = tmp_path / "nothing.toml"

    ended = gnomon_alone.process("serve", "--config", str(missing))

    assert ended.exit_code == 2
    assert f"cannot read {missing}" in ended.errors
