"""deploy/: the settings of each file start a server."""

import base64
import configparser
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from server.platform.sockets import free_port
from tests.postgres import open_directory, postgres_server
from tests.server_process import ROOT, server_process

DEPLOY = ROOT / "deploy"
LOOPBACK = {"GNOMON_EDGE__HOST": "127.0.0.1", "GNOMON_GRPC__HOST": "127.0.0.1"}
SECRETS = {
    "GNOMON_DATABASE_PASSWORD": "a-password",
    "GNOMON_CLUSTER_SECRET": "a-secret-of-the-cluster",
    "GNOMON_EDGE_SECRET": "a-secret-of-the-edges",
    "GNOMON_ENCRYPTION_KEYS": f"first/{base64.b64encode(bytes(range(200, 232))).decode()}",
    "GNOMON_CLIENT_SECRET": "a-secret-of-the-client",
    "GNOMON_ADMIN_PASSWORD": "a-password-of-the-administrator",
}

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*)|:\?)?\}")


def composed(file: str) -> Mapping[str, Any]:
    """Services of a compose file, with its variables filled in as compose does."""
    text = _VARIABLE.sub(
        lambda found: SECRETS[found["name"]] if found["default"] is None else found["default"],
        (DEPLOY / file).read_text(),
    )
    services: Mapping[str, Any] = yaml.safe_load(text)["services"]
    return services


def environment(service: Mapping[str, Any], **replaced: str) -> dict[str, str]:
    written = {name: str(value) for name, value in service["environment"].items()}
    return {**image_environment(), **written, **LOOPBACK, **replaced}


def image_environment() -> dict[str, str]:
    settings = re.findall(r"(GNOMON_\w+)=(\S+)", (DEPLOY / "Containerfile").read_text())
    return dict(settings)


def test_the_bundled_container_serves() -> None:
    (service,) = composed("compose.bundled.yaml").values()

    with (
        open_directory() as data,
        server_process(
            "--mode", "bundled", environment=environment(service, GNOMON_DATA_DIR=str(data))
        ) as server,
    ):
        assert discovered_issuer(server.http) == "http://localhost:8080/auth/v1/"
        assert (data / "bootstrap-secrets").exists()


def test_the_nodes_and_the_edge_of_the_cluster_serve() -> None:
    services = composed("compose.cluster.yaml")
    cluster_ports = [free_port("127.0.0.1") for _ in range(2)]

    with postgres_server() as dsn, ExitStack() as stack:
        nodes = [
            stack.enter_context(server_process(environment=node_environment(services[name], dsn, port)))
            for name, port in zip(("node-1", "node-2"), cluster_ports, strict=True)
        ]
        addresses = ",".join(node.grpc for node in nodes)
        edge_environment = environment(services["edge"], GNOMON_EDGE__SERVICES=addresses)
        edge = stack.enter_context(server_process(environment=edge_environment))

        assert discovered_issuer(edge.http) == "http://localhost:8080/auth/v1/"


def node_environment(service: Mapping[str, Any], dsn: str, port: int) -> dict[str, str]:
    return environment(
        service,
        GNOMON_DATABASE__DSN=dsn,
        GNOMON_CLUSTER__HOST="127.0.0.1",
        GNOMON_CLUSTER__PORT=str(port),
        GNOMON_CLUSTER__ADDRESS=f"127.0.0.1:{port}",
    )


def discovered_issuer(address: str) -> str:
    with urlopen(f"{address}/auth/v1/.well-known/openid-configuration") as response:  # noqa: S310  # the server of this test
        found = re.search(r'"issuer": ?"([^"]+)"', response.read().decode())
        assert found
        return found[1]


def test_the_settings_of_the_unit_serve() -> None:
    with open_directory() as data:
        ports = {"GNOMON_DATA_DIR": str(data), "GNOMON_EDGE__PORT": "0", "GNOMON_GRPC__PORT": "0"}
        with server_process(
            "--config", str(DEPLOY / "gnomon.toml"), "--mode", "bundled", environment=ports
        ) as server:
            assert discovered_issuer(server.http) == "https://processes.example.org/auth/v1/"


def test_the_unit_starts_the_installed_command_with_its_settings() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    unit.read(DEPLOY / "gnomon.service")

    assert unit["Service"]["ExecStart"] == "/opt/gnomon/bin/gnomon serve --config /etc/gnomon/gnomon.toml"
    assert unit["Service"]["Environment"] == f"GNOMON_DATA_DIR=/var/lib/{unit['Service']['StateDirectory']}"


SERVICES = [
    pytest.param(file, name, id=f"{name} of {file}")
    for file in ("compose.bundled.yaml", "compose.cluster.yaml")
    for name in composed(file)
]


@pytest.mark.parametrize(("file", "name"), SERVICES)
def test_a_container_has_no_capabilities_and_writes_to_volumes_only(file: str, name: str) -> None:
    service = composed(file)[name]

    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert "/tmp" in service["tmpfs"]  # noqa: S108  # of the container
    assert "privileged" not in service


HARDENED = {
    "UMask": "0077",
    "LimitCORE": "0",
    "NoNewPrivileges": "yes",
    "PrivateDevices": "yes",
    "PrivateTmp": "yes",
    "PrivateUsers": "yes",
    "ProtectHome": "yes",
    "ProtectSystem": "strict",
    "RestrictAddressFamilies": "AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "RestrictNamespaces": "yes",
    "RestrictSUIDSGID": "yes",
    "CapabilityBoundingSet": "",
    "AmbientCapabilities": "",
    "SystemCallArchitectures": "native",
    "SystemCallErrorNumber": "EPERM",
}


def test_the_unit_restricts_what_the_server_may_do() -> None:
    lines = (DEPLOY / "gnomon.service").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))

    assert {name: settings.get(name) for name in HARDENED} == HARDENED
    assert [line for line in lines if line.startswith("SystemCallFilter=")] == [
        "SystemCallFilter=@system-service",
        "SystemCallFilter=~@privileged",
    ]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_finds_little_exposure_in_the_unit() -> None:
    assessed = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", DEPLOY / "gnomon.service"],  # noqa: S607  # as an operator has it
        check=False,
        capture_output=True,
        text=True,
    )

    assert assessed.returncode == 0, assessed.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "gnomon.service"
    written = (DEPLOY / "gnomon.service").read_text()
    unit.write_text(written.replace("/opt/gnomon/bin/gnomon", shutil.which("true") or "/bin/true"))

    verified = subprocess.run(
        ["systemd-analyze", "verify", unit],  # noqa: S607  # as an operator has it
        check=False,
        capture_output=True,
        text=True,
    )

    assert (verified.returncode, verified.stderr) == (0, "")


def test_the_image_copies_everything_that_its_build_needs() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    sources = [source for line in copied for source in line.split()]

    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert sorted({source.split("/")[0] for source in sources}) == sorted(sent_to_the_build() - {"deploy"})


def sent_to_the_build() -> set[str]:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    return {line.removeprefix("!") for line in lines if line.startswith("!")}
