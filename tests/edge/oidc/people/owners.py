"""Users with browsers, passwords and authenticators, and their provider."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.authentication.passkeys.config import WebauthnConfig
from tests.edge.oidc.people.provider import Administrator
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator
from tests.identity.deployment import CONFIG, deployed

ALICE = {"email": "alice@example.com", "language": "en", "roles": [], "password": PASSWORD}
BOB = {"email": "bob@example.com", "language": "en", "roles": [], "password": PASSWORD}


@dataclass
class Owner:
    """A user with a browser and an authenticator."""

    person: Somebody
    authenticator: SoftwareAuthenticator

    async def add(self, name: str = "laptop", proof: str | None = None) -> ClientResponse:
        token = await self.person.proof() if proof is None else proof
        started = await self.person.own(
            "POST", "/webauthn/register/start", passkey_name=name, mfa_mod_token_id=token
        )
        if started.status != 200:
            return started
        data = self.authenticator.create((await started.json())["publicKey"])
        return await self.person.own("POST", "/webauthn/register/finish", passkey_name=name, data=data)

    async def names(self) -> list[str]:
        return [each["name"] for each in await (await self.person.own("GET", "/webauthn")).json()]

    async def start(self, code: str, user_id: str = "") -> ClientResponse:
        path = f"/users/{user_id or self.person.user_id}/webauthn/auth/start"
        return await self.person.send("POST", path, purpose={"Login": code})

    async def finish(self, started: ClientResponse, user_id: str = "", **changed: Any) -> ClientResponse:
        begun = await started.json()
        data = self.authenticator.get(begun["rcr"]["publicKey"]) | changed
        path = f"/users/{user_id or self.person.user_id}/webauthn/auth/finish"
        finished = await self.person.send("POST", path, code=begun["code"], data=data)
        self.person.csrf_token = finished.headers.get("x-csrf-token", self.person.csrf_token)
        return finished

    async def sign_in(self, password: str | None = PASSWORD) -> ClientResponse:
        """Sign in with the password, then with the passkey."""
        asked = await self.person.sign_in(password)
        assert asked.status == 200, await asked.text()
        code = (await asked.json())["code"]
        return await self.finish(await self.start(code))


@dataclass
class World:
    admin: Administrator
    server: TestServer
    ids: dict[str, str]
    browsers: list[TestClient[web.Request, web.Application]] = field(default_factory=list)

    def browser(self, name: str = "alice", *, address: str = "") -> Somebody:
        """Return a new browser without a session, at its own network address behind the trusted proxy."""
        http = TestClient(self.server, headers={"X-Forwarded-For": address} if address else None)
        self.browsers.append(http)
        issuer = self.admin.deployment.identity.issuer
        return Somebody(http, issuer, f"{name}@example.com", self.ids.get(name, ""))

    async def owner(self, name: str = "alice", **traits: bool) -> Owner:
        """Return a signed-in user with a new authenticator."""
        person = self.browser(name)
        assert (await person.sign_in()).status == 202
        return Owner(person, SoftwareAuthenticator(self.origin, **traits))

    @property
    def origin(self) -> str:
        return self.admin.deployment.identity.issuer.removesuffix("/auth/v1/")

    def advance(self, **span: float) -> None:
        self.admin.deployment.clock.advance(timedelta(**span))


@asynccontextmanager
async def running(
    webauthn: WebauthnConfig = WebauthnConfig(),  # noqa: B008  # frozen
    *,
    trusted_proxies: tuple[str, ...] = (),
    **sections: Any,
) -> AsyncIterator[World]:
    config = replace(CONFIG, webauthn=webauthn, **sections)
    async with deployed(config) as deployment:
        app = web.Application()
        access = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE, trusted_proxies=trusted_proxies)
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
            people = {"alice": ALICE, "bob": BOB}
            ids = {
                name: (await admin.ask("POST", "/users", json=who))[1]["id"] for name, who in people.items()
            }
            world = World(admin, server, ids)
            yield world
            for browser in world.browsers:
                await browser.session.close()
