"""Third-party client libraries against the endpoints on a socket."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import httpx
import pytest
import requests
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from camunda_orchestration_sdk.runtime.auth import OAuthClientCredentialsAuthProvider
from joserfc import jwt
from joserfc.jwk import KeySet

from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes
from server.platform.caller import EDGE_SECRET, EdgeSecret
from server.platform.channels import TunnelChannel
from server.platform.grpc_server import GrpcConfig, GrpcServer
from tests.identity.deployment import SECRET, Deployment

Http = TestClient[web.Request, web.Application]


@pytest.fixture
def token_url(http: Http) -> str:
    return str(http.make_url("/auth/v1/oidc/token"))


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_authlib_gets_a_token_that_verifies_with_the_published_keys(
    http: Http, token_url: str, method: str
) -> None:
    def fetch() -> dict[str, str]:
        with OAuth2Session("service", SECRET, token_endpoint_auth_method=method, scope="job:work") as session:
            return session.fetch_token(token_url, grant_type="client_credentials")

    issued = await asyncio.to_thread(fetch)

    published = await (await http.get("/auth/v1/oidc/certs")).json()
    token = jwt.decode(issued["access_token"], KeySet.import_key_set(published), algorithms=["RS256"])
    assert (token.claims["sub"], token.claims["scope"]) == ("service", "job:work")


async def test_authlib_understands_a_refusal(token_url: str) -> None:
    def fetch() -> None:
        with OAuth2Session("service", "wrong") as session:
            session.fetch_token(token_url, grant_type="client_credentials")

    with pytest.raises(OAuthError) as refused:
        await asyncio.to_thread(fetch)

    assert refused.value.error == "invalid_client"


async def test_requests_get_a_token_with_its_own_basic_authentication(token_url: str) -> None:
    def post() -> requests.Response:
        form = {"grant_type": "client_credentials"}
        return requests.post(token_url, data=form, auth=("service", SECRET), timeout=10)

    response = await asyncio.to_thread(post)

    assert response.status_code == 200


async def test_the_orchestration_sdk_gets_a_token_for_its_audience(http: Http, token_url: str) -> None:
    def headers() -> dict[str, str]:
        with OAuthClientCredentialsAuthProvider(
            oauth_url=token_url, client_id="service", client_secret=SECRET, audience="zeebe-api"
        ) as provider:
            return dict(provider.get_headers())

    authorization = (await asyncio.to_thread(headers))["Authorization"]

    published = await (await http.get("/auth/v1/oidc/certs")).json()
    token = jwt.decode(authorization.removeprefix("Bearer "), KeySet.import_key_set(published), ["RS256"])
    assert token.claims["aud"] == ["service", "zeebe-api"]


@pytest.fixture
async def remote(deployment: Deployment) -> AsyncIterator[Http]:
    """An edge in front of a provider that it reaches over gRPC."""
    secret = EdgeSecret("known to the edge")
    server = GrpcServer(deployment.dispatcher, GrpcConfig(port=0, drain_seconds=0), secret)
    port = await server.start()
    app = web.Application()
    proof = ((EDGE_SECRET, secret.text),)
    async with TunnelChannel(f"127.0.0.1:{port}", metadata=proof) as channel:
        app.add_routes(routes(channel, OidcConfig()))
        async with TestClient(TestServer(app)) as client:
            yield client
    await server.stop()


@pytest.mark.parametrize(
    ("secret", "status", "error"), [(SECRET, 200, None), ("wrong", 401, "invalid_client")]
)
async def test_the_answers_are_the_same_through_a_tunnel(
    remote: Http, secret: str, status: int, error: str | None
) -> None:
    async with httpx.AsyncClient(auth=("service", secret)) as client:
        response = await client.post(
            str(remote.make_url("/auth/v1/oidc/token")), data={"grant_type": "client_credentials"}
        )

    assert (status, error) == (response.status_code, response.json().get("error"))


async def test_a_provider_that_is_away_is_temporarily_unavailable() -> None:
    app = web.Application()
    async with grpc.aio.insecure_channel("127.0.0.1:9") as channel:
        app.add_routes(routes(channel, OidcConfig(call_timeout_seconds=5)))
        async with TestClient(TestServer(app)) as http:
            token = await http.post("/auth/v1/oidc/token", data={"grant_type": "client_credentials"})
            keys = await http.get("/auth/v1/oidc/certs")

            assert (token.status, (await token.json())["error"]) == (503, "temporarily_unavailable")
            assert (keys.status, (await keys.json())["error"]) == (503, "Unavailable")
