import dataclasses
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from edge.config import EdgeConfig
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from identity.foundation.provider_config import ProviderConfig, Scheme
from identity.seeds import BootstrapConfig
from server.bundle import serving
from server.config import ServerConfig
from server.partition.config import ClusterConfig, PartitionConfig
from server.platform.config import ConfigError, load
from server.platform.grpc_server import GrpcConfig
from server.platform.policy import Mode
from server.platform.sockets import PortTaken, authority, free_port, listen_addresses
from server.sections import Config

PORTS: dict[str, Any] = {"edge": EdgeConfig(port=0), "grpc": GrpcConfig(port=0)}
PROXIES = ("10.0.0.0/8",)
SECRET = "shared by edge and services"
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
STYLE = re.compile(r'rel="stylesheet" href="([^"]+)"')


@asynccontextmanager
async def served(config: Config) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(config) as addresses, httpx.AsyncClient(base_url=addresses.http) as client:
        yield client


def test_a_statement_that_outlasts_many_leases_is_refused_at_the_start() -> None:
    config = Config(
        **PORTS,
        server=ServerConfig(mode=Mode.CLUSTER),
        cluster=ClusterConfig(lease_seconds=2.0),
        partition=PartitionConfig(statement_seconds=41.0),
    )

    with pytest.raises(
        ConfigError, match=r"partition.statement_seconds: .* cluster.lease_seconds \(40\), found 41"
    ):
        serving(config)


def test_a_commit_that_may_be_later_than_its_statement_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match=r"\[partition\] commit_seconds: expected statement_seconds \(10\)"):
        load(Config, None, {"GNOMON_PARTITION__COMMIT_SECONDS": "11"})


@pytest.mark.parametrize(
    ("identity", "access", "name"),
    [
        (ProviderConfig(), AccessConfig(trusted_proxies=PROXIES), "GnomonSession"),
        (ProviderConfig(), AccessConfig(cookie_mode=CookieMode.SECURE), "__Secure-GnomonSession"),
        (ProviderConfig(scheme=Scheme.HTTPS), AccessConfig(), "__Host-GnomonSession"),
    ],
)
async def test_cookies_are_for_tls_where_browsers_have_it(
    identity: ProviderConfig, access: AccessConfig, name: str
) -> None:
    async with served(Config(**PORTS, identity=identity, access=access)) as client:
        answer = await client.post("/auth/v1/oidc/session")

    assert answer.headers["Set-Cookie"].partition("=")[0] == name


@pytest.mark.parametrize(
    ("host", "identity", "expected"),
    [
        pytest.param("localhost", ProviderConfig(), "http://localhost:{port}/auth/v1/", id="by default"),
        pytest.param(
            "localhost", ProviderConfig(scheme=Scheme.HTTPS), "https://localhost:{port}/auth/v1/", id="scheme"
        ),
        pytest.param("127.0.0.1", ProviderConfig(), "http://127.0.0.1:{port}/auth/v1/", id="an address"),
        pytest.param("::1", ProviderConfig(), "http://[::1]:{port}/auth/v1/", id="an address of IPv6"),
        pytest.param(
            "localhost",
            ProviderConfig(public_url="id.example"),
            "https://id.example/auth/v1/",
            id="public URL",
        ),
    ],
)
async def test_the_issuer_is_where_the_process_is_reached(
    host: str, identity: ProviderConfig, expected: str
) -> None:
    config = Config(edge=EdgeConfig(host=host, port=0), grpc=PORTS["grpc"], identity=identity)
    async with served(config) as client:
        metadata = (await client.get("/auth/v1/.well-known/openid-configuration")).json()

    assert metadata["issuer"] == expected.format(port=client.base_url.port)


async def test_the_addresses_are_those_of_localhost() -> None:
    async with serving(Config(**PORTS)) as addresses:
        http, grpc_port = addresses.http.rpartition(":"), addresses.grpc.rpartition(":")

    assert (http[0], grpc_port[0]) == ("http://localhost", "localhost")


@pytest.mark.parametrize("host", ["localhost", *listen_addresses("localhost")])
async def test_both_listeners_answer_at_every_name_of_the_machine(host: str) -> None:
    async with serving(Config(**PORTS)) as addresses:
        http_port, grpc_port = (int(each.rpartition(":")[2]) for each in (addresses.http, addresses.grpc))
        async with (
            httpx.AsyncClient() as client,
            grpc.aio.insecure_channel(authority(host, grpc_port)) as channel,
        ):
            status = await client.get(f"http://{authority(host, http_port)}/v2/status")
            stub: Any = HealthStub(channel)
            health = await stub.Check(HealthCheckRequest())

    assert (status.status_code, health.status) == (204, HealthCheckResponse.SERVING)


@pytest.mark.parametrize("section", ["edge", "grpc"])
@pytest.mark.parametrize("address", listen_addresses("localhost"))
async def test_a_port_that_is_in_use_at_one_address_of_localhost_ends_the_start(
    section: str, address: str
) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as other:
        port = other.getsockname()[1]
        config = Config(**PORTS | {section: dataclasses.replace(PORTS[section], port=port)})

        with pytest.raises(ExceptionGroup) as failed:
            async with serving(config):
                pass

    assert failed.group_contains(
        PortTaken, match=f"{section}.port or GNOMON_{section.upper()}__PORT", depth=None
    )


@pytest.mark.parametrize("host", listen_addresses("localhost"))
async def test_a_person_at_another_address_of_the_machine_is_sent_to_the_issuer(host: str) -> None:
    async with served(Config(**PORTS)) as client:
        port = client.base_url.port or 0
        page = await client.get(
            f"http://{authority(host, port)}/auth/v1/device?code=x", headers={"Accept": "text/html"}
        )

    assert (page.status_code, page.headers["Location"]) == (
        307,
        f"http://localhost:{port}/auth/v1/device?code=x",
    )


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(Config(**PORTS, identity=ProviderConfig(public_url="localhost:1")), id="public URL"),
        pytest.param(Config(**PORTS, identity=ProviderConfig(scheme=Scheme.HTTPS)), id="TLS before it"),
        pytest.param(Config(edge=EdgeConfig(host="127.0.0.1", port=0), grpc=PORTS["grpc"]), id="an address"),
    ],
)
async def test_no_one_is_sent_anywhere_where_the_operator_chose_the_address(config: Config) -> None:
    async with served(config) as client:
        port = client.base_url.port or 0
        page = await client.get(f"http://127.0.0.1:{port}/auth/v1/", headers={"Accept": "text/html"})

    assert page.status_code == 200


async def test_a_request_to_the_provider_has_its_own_bounds() -> None:
    async with served(Config(**PORTS, oidc=OidcConfig(max_form_bytes=8))) as client:
        answer = await client.post("/auth/v1/oidc/token", data={"grant_type": "client_credentials"})

    assert answer.status_code == 413


async def test_a_browser_finds_pages_with_their_style_at_every_address() -> None:
    async with served(Config(**PORTS)) as client:
        answers = [await client.get(path, headers=BROWSER) for path in ("/", "/nothing", "/v2/nothing")]
        [path] = {found for answer in answers for found in STYLE.findall(answer.text)}
        style = await client.get(path)

    assert [answer.status_code for answer in answers] == [200, 404, 404]
    assert {answer.headers["Content-Type"] for answer in answers} == {"text/html; charset=utf-8"}
    assert (style.status_code, style.headers["Content-Type"]) == (200, "text/css; charset=utf-8")


async def test_an_edge_that_runs_alone_has_the_same_start_page() -> None:
    behind = Config(edge=EdgeConfig(port=0, secret=SECRET), grpc=PORTS["grpc"])
    async with serving(behind) as addresses:
        alone = EdgeConfig(port=0, services=(addresses.grpc,), secret=SECRET)
        async with served(Config(edge=alone)) as client:
            page = await client.get("/", headers=BROWSER)
            links = (await client.get("/")).json()
            icon = await client.get("/favicon.ico")

    assert links["issuer"] == f"{addresses.http}/auth/v1/"
    assert (page.status_code, links["issuer"] in page.text) == (200, True)
    assert icon.status_code == 200


async def test_an_edge_whose_services_are_away_says_so_on_a_page() -> None:
    alone = EdgeConfig(port=0, services=(f"127.0.0.1:{free_port('127.0.0.1')}",), secret=SECRET)
    async with served(Config(edge=alone, oidc=OidcConfig(call_timeout_seconds=0.5))) as client:
        answers = [await client.get(path, headers=BROWSER) for path in ("/", "/auth/v1/", "/nothing")]
        [path] = {found for answer in answers for found in STYLE.findall(answer.text)}
        style = await client.get(path)

    assert [answer.status_code for answer in answers] == [503, 503, 404]
    assert {answer.headers["Content-Type"] for answer in answers} == {"text/html; charset=utf-8"}
    assert style.status_code == 200


async def test_the_tenant_that_is_created_at_start_changes_global_cluster_variables() -> None:
    bootstrap = BootstrapConfig(tenant="acme", client_secret=SECRET, admin_password=SECRET)

    async with served(Config(**PORTS, bootstrap=bootstrap)) as client:
        asked = {"grant_type": "client_credentials"}
        token = await client.post("/auth/v1/oidc/token", data=asked, auth=(bootstrap.client_id, SECRET))
        created = await client.post(
            "/v2/cluster-variables/global",
            json={"name": "url", "value": 1},
            headers={"Authorization": f"Bearer {token.json()['access_token']}"},
        )

    assert created.json() == {"name": "url", "scope": "GLOBAL", "tenantId": None, "value": "1"}
