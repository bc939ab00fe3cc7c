"""A caller of dynamic client registration, from any network address."""

import itertools
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient

from tests.identity.deployment import Deployment

REDIRECT_URI = "https://app.example.com/callback"
APP = {"client_name": "The app", "redirect_uris": [REDIRECT_URI]}


@dataclass
class Registrant:
    """`http` is behind a proxy that the provider trusts."""

    http: TestClient[web.Request, web.Application]
    deployment: Deployment
    addresses: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def register(
        self, body: object = APP, *, token: str = "", address: str = "", issuer: str = ""
    ) -> ClientResponse:
        """Register a client, from a fresh network address by default."""
        headers = {"X-Forwarded-For": address or f"192.0.2.{next(self.addresses)}"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        return await self.http.post(f"/auth/v1/{issuer}clients_dyn", json=body, headers=headers)

    async def registered(self, **metadata: object) -> dict[str, Any]:
        answer = await self.register(APP | metadata)
        assert answer.status == 201, await answer.text()
        return dict(await answer.json())

    async def at(
        self, method: str, client: dict[str, Any], body: object = None, *, token: str | None = None
    ) -> ClientResponse:
        """Send a request to the address of a registration, with its own token by default."""
        path = client["registration_client_uri"].removeprefix("https://id.example.com")
        headers = {"Authorization": f"Bearer {token or client['registration_access_token']}"}
        sent: dict[str, Any] = {} if body is None else {"json": body}
        return await self.http.request(method, path, headers=headers, **sent)

    async def is_known(self, client: dict[str, Any]) -> bool:
        """Whether the client authenticates with its secret."""
        form = {"client_id": client["client_id"], "client_secret": client["client_secret"], "token": "x"}
        return (await self.http.post("/auth/v1/oidc/introspect", data=form)).status == 200
