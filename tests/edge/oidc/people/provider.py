"""The running provider behind its endpoints on a socket, and a client that administers it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes
from tests.identity.deployment import Deployment, deployed

BASE = "/auth/v1"


@dataclass(frozen=True)
class Administrator:
    deployment: Deployment
    http: TestClient[web.Request, web.Application]
    headers: dict[str, str]

    async def send(self, method: str, path: str, **options: Any) -> ClientResponse:
        return await self.http.request(method, f"{BASE}{path}", headers=self.headers, **options)

    async def typs(self) -> list[str]:
        """Return the types of all events, newest first."""
        _, events = await self.ask("POST", "/events", json={"from": 0})
        return [event["typ"] for event in events]

    async def ask(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        """Send a request; returns the status and the document of the response."""
        response = await self.send(method, path, **options)
        return response.status, await response.json()


@asynccontextmanager
async def administrator() -> AsyncIterator[Administrator]:
    async with deployed() as deployment:
        app = web.Application()
        app.add_routes(
            routes(
                deployment.channel,
                OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
            )
        )
        token = (await deployment.issue()).access_token
        async with TestClient(TestServer(app)) as http:
            yield Administrator(deployment, http, {"Authorization": f"Bearer {token}"})
