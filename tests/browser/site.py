"""The provider at localhost, which browsers treat as a secure context, and a relying party."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from argon2 import PasswordHasher

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.delivery.mail.config import EmailConfig
from identity.directory.client import CLIENTS, Client
from identity.directory.user import USERS, AccountType, User
from identity.foundation.provider_config import ProviderConfig, Scheme
from identity.foundation.vocabulary import AuthenticationMethod, ConsentMode, GrantType
from identity.protocol.fed_cm.config import FedCmConfig
from server.platform.call import TenantId
from tests.identity.deployment import CONFIG, Deployment, deployed

EMAIL, PASSWORD = "alice@example.com", "correct horse battery staple"
ALICE = "k3RyTq9YbM2cLw7PzD5sXa1v"
# RFC 7636, appendix B.
_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@dataclass(frozen=True)
class Site:
    deployment: Deployment
    origin: str

    @property
    def callback(self) -> str:
        return f"{self.origin}/callback"

    def address(self, path: str) -> str:
        return f"{self.deployment.identity.issuer}{path}"

    def authorization(self, **parameters: str) -> str:
        asked = {
            "client_id": "app",
            "redirect_uri": self.callback,
            "response_type": "code",
            "scope": "openid email",
            "state": "s",
            "code_challenge": _CHALLENGE,
            "code_challenge_method": "S256",
        }
        return self.address(f"oidc/authorize?{urlencode(asked | parameters)}")


@asynccontextmanager
async def site(
    consent: ConsentMode = ConsentMode.NEVER, letters: Path | None = None, **sections: Any
) -> AsyncIterator[Site]:
    """With letters there is mail, which becomes files there."""
    port = unused_port()
    address = ProviderConfig(public_url=f"localhost:{port}", scheme=Scheme.HTTP)
    usual = replace(
        CONFIG,
        identity=address,
        fedcm=FedCmConfig(enabled=True),
        email=EmailConfig(directory=letters, from_address="id@example.com", poll_interval_secs=1),
    )
    config = replace(usual, **sections)
    async with deployed(config) as deployment:
        access = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE)
        app = web.Application()
        app.router.add_route("*", "/callback", _arrived)
        app.add_routes(
            routes(
                deployment.channel,
                OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
                access=access,
                has_fed_cm=True,
                has_session_frame=config.sessions.check_session_iframe,
            )
        )
        found = Site(deployment, f"http://localhost:{port}")
        await _furnish(found, consent)
        async with TestServer(app, host="localhost", port=port):
            yield found


async def _arrived(request: web.Request) -> web.Response:
    names = sorted({*request.query, *await request.post()})
    return web.Response(text=f"<h1 id=arrived>{' '.join(names)}</h1>", content_type="text/html")


async def _furnish(site: Site, consent: ConsentMode) -> None:
    store, tenant_id = site.deployment.store, TenantId("default")
    await store.of(USERS).insert(
        User(
            tenant_id=tenant_id,
            id=ALICE,
            email=EMAIL,
            is_email_verified=True,
            account_type=AccountType.PASSWORD,
            password_hash=PasswordHasher(1, 8, 1).hash(PASSWORD),
            tenant_ids=(tenant_id,),
        )
    )
    await store.of(CLIENTS).insert(
        Client(
            tenant_id=tenant_id,
            id="app",
            name="The app",
            tenant_ids=(tenant_id,),
            token_endpoint_auth_method=AuthenticationMethod.NONE,
            oauth_scopes=("openid", "email"),
            grant_types=frozenset({GrantType.AUTHORIZATION_CODE, GrantType.DEVICE_CODE}),
            redirect_uris=(site.callback,),
            consent=consent,
        )
    )
