from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.clients.dynamic.config import DynamicClientsConfig
from identity.seeds import UserSeed
from tests.edge.oidc.clients.registrant import Registrant
from tests.edge.oidc.people.somebody import PASSWORD
from tests.identity.deployment import CONFIG, deployed

ALICE = UserSeed(email="alice@example.com", password=PASSWORD)
ACCESS = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE, trusted_proxies=("127.0.0.0/8",))


@asynccontextmanager
async def registering(dynamic_clients: DynamicClientsConfig, **sections: Any) -> AsyncIterator[Registrant]:
    config = replace(
        CONFIG,
        dynamic_clients=dynamic_clients,
        bootstrap=replace(CONFIG.bootstrap, users=(ALICE,)),
        **sections,
    )
    async with deployed(config) as deployment:
        app = web.Application()
        app.add_routes(
            routes(
                deployment.channel,
                OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
                access=ACCESS,
            )
        )
        async with TestClient(TestServer(app)) as http:
            yield Registrant(http, deployment)


@pytest.fixture
async def registrant() -> AsyncIterator[Registrant]:
    async with registering(DynamicClientsConfig(enabled=True)) as found:
        yield found
