from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from edge.config import EdgeConfig
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from identity.config import ProviderConfig, Scheme
from server.bundle import Config, serving
from server.platform.grpc_server import GrpcConfig

PORTS = {"edge": EdgeConfig(port=0), "grpc": GrpcConfig(port=0)}
PROXIES = ("10.0.0.0/8",)


@asynccontextmanager
async def served(config: Config) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(config) as addresses, httpx.AsyncClient(base_url=addresses.http) as client:
        yield client


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


async def test_the_issuer_is_where_the_process_listens() -> None:
    async with served(Config(**PORTS, identity=ProviderConfig(scheme=Scheme.HTTPS))) as client:
        metadata = (await client.get("/auth/v1/.well-known/openid-configuration")).json()

    assert metadata["issuer"] == f"https://127.0.0.1:{client.base_url.port}/auth/v1/"


async def test_a_request_to_the_provider_has_its_own_bounds() -> None:
    async with served(Config(**PORTS, oidc=OidcConfig(max_form_bytes=8))) as client:
        answer = await client.post("/auth/v1/oidc/token", data={"grant_type": "client_credentials"})

    assert answer.status_code == 413
