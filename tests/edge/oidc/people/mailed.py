"""A provider with mail, Alice who has an account, and Bob whose account is created."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.authentication.federation.config import FederationConfig
from identity.delivery.mail.config import EmailConfig
from tests.edge.oidc.people.letters import Letters
from tests.edge.oidc.people.provider import BASE, Administrator
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.identity.deployment import CONFIG, deployed
from tests.people.proof_of_work import solved

NEW_PASSWORD = "a new and quite long one"
COOKIE = "rauthy-pwd-reset"
JSON = {"Accept": "application/json"}

ALICE = {"email": "alice@example.com", "language": "en", "roles": [], "password": PASSWORD}
BOB = {"email": "bob@example.com", "language": "en", "roles": []}

COMPANY = {
    "name": "Umbrella's people",
    "typ": "oidc",
    "enabled": True,
    "issuer": "https://up.example.com",
    "authorization_endpoint": "https://up.example.com/authorize",
    "token_endpoint": "https://up.example.com/token",
    "userinfo_endpoint": "https://up.example.com/userinfo",
    "jwks_endpoint": "https://up.example.com/keys",
    "client_id": "gnomon",
    "client_secret": "s3cret-of-ours",
    "client_secret_basic": True,
    "client_secret_post": False,
    "scope": "openid email",
}

Http = TestClient[web.Request, web.Application]


@dataclass
class Mailed:
    admin: Administrator
    server: TestServer
    letters: Letters
    user_id: str
    browsers: list[Http] = field(default_factory=list)

    def browser(self) -> Http:
        """Return a fresh browser."""
        self.browsers.append(TestClient(self.server))
        return self.browsers[-1]

    def alice(self, *, email: str = "alice@example.com") -> Somebody:
        """Return another browser of Alice, not signed in."""
        return Somebody(self.browser(), self.admin.deployment.identity.issuer, email, self.user_id)

    async def signed_in(self, password: str = PASSWORD) -> Somebody:
        alice = self.alice()
        answer = await alice.sign_in(password)
        assert answer.status == 202, await answer.text()
        return alice

    async def ask(self, email: str = "alice@example.com", **members: str) -> ClientResponse:
        """Request a link to set a password."""
        challenge = await (await self.admin.http.post(f"{BASE}/pow")).text()
        asked = {"email": email, "pow": solved(challenge)} | members
        return await self.admin.http.post(f"{BASE}/users/request_reset", json=asked)

    async def put_in_charge(self, domain: str) -> None:
        """Make a provider the sign-in target of a domain."""
        _, provider = await self.admin.ask("POST", "/providers/create", json=COMPANY)
        asked = {"domain": domain, "target": {"type": "provider", "providers": [provider["id"]]}}
        made = await self.admin.send("POST", "/tenants/default/domains", json=asked)
        verified = await self.admin.send(
            "POST", f"/tenants/default/domains/{domain}/verify", json={"without_dns": True}
        )
        assert (made.status, verified.status) == (201, 200), await verified.text()

    async def made(self) -> tuple[str, str]:
        """Create an account without a password; returns its id, and the path of its first link."""
        status, bob = await self.admin.ask("POST", "/users", json=BOB)
        assert status == 200, bob
        return bob["id"], await self.letters.path("Your new account", to="bob@example.com")


@dataclass
class Opened:
    """A link in the browser that opened it."""

    http: Http
    path: str
    document: Mapping[str, Any]

    @property
    def code(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def person(self) -> str:
        return self.path.partition("/reset/")[0]

    @property
    def headers(self) -> dict[str, str]:
        return {"x-pwd-csrf-token": self.document["csrf_token"]}

    async def put(self, password: str = NEW_PASSWORD, **members: str) -> ClientResponse:
        sent = {"magic_link_id": self.code, "password": password} | members
        return await self.http.put(f"{self.person}/reset", json=sent, headers=self.headers)

    async def post(self, path: str, **members: Any) -> ClientResponse:
        return await self.http.post(f"{self.person}{path}", json=members, headers=self.headers)


async def opened(http: Http, path: str) -> Opened:
    answer = await http.get(path, headers=JSON)
    assert answer.status == 200, await answer.text()
    return Opened(http, path, await answer.json())


@asynccontextmanager
async def mailed(directory: Path, **sections: Any) -> AsyncIterator[Mailed]:
    """Run the provider with these sections of its configuration."""
    config = replace(
        CONFIG,
        email=EmailConfig(directory=directory, from_address="id@example.com", poll_interval_secs=1),
        federation=FederationConfig(enabled=True),
        **sections,
    )
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
            )
        )
        token = (await deployment.issue()).access_token
        server = TestServer(app)
        async with TestClient(server) as http:
            admin = Administrator(deployment, http, {"Authorization": f"Bearer {token}"})
            _, alice = await admin.ask("POST", "/users", json=ALICE)
            world = Mailed(admin, server, Letters(directory), alice["id"])
            yield world
            for browser in world.browsers:
                await browser.session.close()
