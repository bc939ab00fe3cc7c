"""The running provider with FedCM, and a browser that requests tokens for a relying party's page."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.protocol.fed_cm.config import FedCmConfig
from tests.edge.oidc.people.provider import Administrator
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.identity.deployment import CONFIG, deployed

ORIGIN = "https://shop.example"
ITSELF = {"Sec-Fetch-Dest": "webidentity", "Sec-Fetch-Site": "cross-site", "Accept": "application/json"}
ALICE = {
    "email": "alice@example.com",
    "given_name": "Alice",
    "family_name": "Liddell",
    "language": "en",
    "roles": [],
    "password": PASSWORD,
}
SHOP = {"id": "shop", "name": "The shop", "confidential": False, "redirect_uris": [f"{ORIGIN}/callback"]}
WHOLE_SHOP = SHOP | {
    "enabled": True,
    "allowed_origins": [ORIGIN],
    "flows_enabled": ["authorization_code"],
    "scopes": ["openid", "profile", "email"],
    "default_scopes": ["openid"],
    "challenges": ["S256"],
    "consent": "once",
    "policy_uri": f"{ORIGIN}/privacy",
    "tos_uri": f"{ORIGIN}/terms",
}
_WAY = re.compile(r"GnomonFedCM(\.\w+)?=([^;]*); ")


@dataclass
class Browser:
    """`way` is its FedCM cookie, which browsers send over TLS only, so the test sends it explicitly."""

    admin: Administrator
    person: Somebody
    way: str = ""

    async def sign_in(self) -> ClientResponse:
        answer = await self.person.sign_in()
        self.keep(answer)
        return answer

    def keep(self, answer: ClientResponse) -> None:
        for cookie in answer.headers.getall("Set-Cookie", ()):
            found = _WAY.match(cookie)
            self.way = found[2].strip('"') if found else self.way

    async def get(self, path: str, **headers: str) -> ClientResponse:
        return await self.admin.http.get(path, headers=ITSELF | self._cookie | headers)

    async def accounts(self) -> tuple[int, list[dict[str, Any]]]:
        answer = await self.get("/auth/v1/fed_cm/accounts")
        return answer.status, (await answer.json())["accounts"]

    async def token(self, *, origin: str = ORIGIN, **form: str) -> ClientResponse:
        return await self._post(
            "token",
            origin,
            {
                "client_id": "shop",
                "nonce": "n1",
                "account_id": self.person.user_id,
                "disclosure_text_shown": "true",
                "is_auto_selected": "false",
                "mode": "passive",
                "fields": "name,email,picture",
                "disclosure_shown_for": "name,email,picture",
                **form,
            },
        )

    async def disconnect(self, *, origin: str = ORIGIN) -> ClientResponse:
        return await self._post(
            "disconnect", origin, {"client_id": "shop", "account_hint": self.person.email}
        )

    async def _post(self, path: str, origin: str, form: dict[str, str]) -> ClientResponse:
        headers = {"Origin": origin, "Content-Type": "application/x-www-form-urlencoded"}
        return await self.admin.http.post(
            f"/auth/v1/fed_cm/{path}", data=urlencode(form), headers=ITSELF | self._cookie | headers
        )

    @property
    def _cookie(self) -> dict[str, str]:
        return {"Cookie": f"GnomonFedCM={self.way}"} if self.way else {}


@asynccontextmanager
async def browser(*, is_enabled: bool = True) -> AsyncIterator[Browser]:
    """Alice's browser before the sign-in; the shop is a client."""
    config = replace(CONFIG, fedcm=FedCmConfig(enabled=is_enabled))
    async with deployed(config) as deployment:
        app = web.Application()
        access = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE)
        app.add_routes(
            routes(
                deployment.channel,
                OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
                access=access,
                has_fed_cm=True,
            )
        )
        token = (await deployment.issue()).access_token
        async with TestClient(TestServer(app)) as http:
            admin = Administrator(deployment, http, {"Authorization": f"Bearer {token}"})
            await admin.send("POST", "/clients", json=SHOP)
            changed = await admin.send("PUT", "/clients/shop", json=WHOLE_SHOP)
            assert changed.status == 200, await changed.text()
            _, alice = await admin.ask("POST", "/users", json=ALICE)
            person = Somebody(http, deployment.identity.issuer, ALICE["email"], alice["id"])
            yield Browser(admin, person)
