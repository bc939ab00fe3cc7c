from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes
from tests.identity.deployment import Deployment, deployed

Http = TestClient[web.Request, web.Application]


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with deployed() as running:
        yield running


@pytest.fixture
async def http(deployment: Deployment) -> AsyncIterator[Http]:
    app = web.Application()
    app.add_routes(
        routes(
            deployment.channel,
            OidcConfig(),
            deployment.clock,
            kept=KeptDocuments(deployment.identity.revision),
        )
    )
    async with TestClient(TestServer(app)) as client:
        yield client
