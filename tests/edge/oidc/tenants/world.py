"""A provider with several tenants on a socket, its administrator, and users who sign in."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlencode

import grpc
from aiohttp import ClientResponse, ClientSession, encode_basic_auth, web
from aiohttp.test_utils import TestServer, unused_port
from argon2 import PasswordHasher

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from gnomon.identity.v1 import directory_service_pb2
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from identity.administration.tenants.domain_config import SignInDomainConfig
from identity.authentication.federation.config import FederationConfig
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import new_master_key
from identity.directory.client import CLIENTS, Client
from identity.directory.images.config import PicturesConfig
from identity.directory.user import USERS, User
from identity.foundation.provider_config import ProviderConfig, Scheme
from identity.foundation.randomness import SystemRandomness
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Permission
from server.platform.call import TenantId
from server.platform.channels import LocalChannel, error_of
from server.platform.errors import Unauthenticated
from server.platform.mutual_tls import MutualTlsConfig
from server.platform.records import RecordStore
from tests.identity.deployment import CONFIG, LOOPBACK, SECRET, Deployment, deployed
from tests.people.person import Person

EMAIL, PASSWORD = "alice@example.com", "correct horse battery staple"
PASSWORD_HASH = PasswordHasher(1, 8, 1).hash(PASSWORD)
CALLBACK = "https://app.example.com/callback"
# RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
DISCOVERY = ".well-known/openid-configuration"

if TYPE_CHECKING:
    from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceAsyncStub

Result = TypeVar("Result")

_ENCRYPTION = EncryptionConfig(keys=(new_master_key(SystemRandomness()),))


@dataclass(frozen=True)
class World:
    deployment: Deployment
    http: ClientSession
    port: int

    @property
    def store(self) -> RecordStore:
        return self.deployment.store

    def issuer(self, tenant: str = "") -> str:
        return f"{self.deployment.identity.issuer}{tenant}{'/' if tenant else ''}"

    async def administer(
        self, method: str, path: str, *, json: object = None, params: Mapping[str, str] | None = None
    ) -> ClientResponse:
        """Send a request as the deployment's administrator."""
        token = (await self.deployment.issue()).access_token
        headers = {"Authorization": f"Bearer {token}"}
        return await self.http.request(method, f"/auth/v1/{path}", headers=headers, json=json, params=params)

    async def create(self, tenant: str, **members: object) -> None:
        answer = await self.administer("POST", "tenants", json={"id": tenant} | members)
        assert answer.status == 201, await answer.text()

    async def metadata(self, path: str = f"/auth/v1/{DISCOVERY}", **headers: str) -> dict[str, object]:
        answer = await self.http.get(
            path, headers={name.replace("_", "-"): text for name, text in headers.items()}
        )
        assert answer.status == 200, await answer.text()
        return dict(await answer.json())

    async def status(self, path: str, **headers: str) -> int:
        answer = await self.http.get(path, headers=headers, allow_redirects=False)
        return answer.status

    async def add_user(self, tenant: str, user_id: str, **fields: object) -> None:
        user = User(
            tenant_id=TenantId(tenant),
            id=user_id,
            email=EMAIL,
            is_email_verified=True,
            password_hash=PASSWORD_HASH,
            tenant_ids=(TenantId(tenant),),
        )
        await self.store.of(USERS).insert(replace(user, **fields))  # type: ignore[arg-type]

    async def add_app(self, tenant: str, **fields: object) -> None:
        """Add a public client `app` that signs users in."""
        app = Client(
            tenant_id=TenantId(tenant),
            id="app",
            name=f"The app of {tenant}",
            tenant_ids=(TenantId(tenant),),
            token_endpoint_auth_method=AuthenticationMethod.NONE,
            oauth_scopes=("openid", "email", Permission.JOB_WORK),
            grant_types=frozenset({GrantType.AUTHORIZATION_CODE, GrantType.DEVICE_CODE}),
            redirect_uris=(CALLBACK,),
        )
        await self.store.of(CLIENTS).insert(replace(app, **fields))  # type: ignore[arg-type]

    def authorization(self, tenant: str = "", *, client_id: str = "app") -> str:
        parameters = {
            "client_id": client_id,
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "scope": "openid email",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        return f"{self.issuer(tenant)}oidc/authorize?{urlencode(parameters)}"

    async def code(self, tenant: str = "") -> str:
        """Sign `alice` of the tenant in, and return the app's authorization code."""
        arrival = await self.person(tenant, lambda person: person.sign_in(self.authorization(tenant)))
        return arrival.parameters["code"]

    async def redeem(self, code: str, tenant: str = "") -> dict[str, object]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
            "client_id": "app",
        }
        return dict(await (await self.http.post(f"{self.issuer(tenant)}oidc/token", data=form)).json())

    async def access_token(self, tenant: str = "") -> str:
        return str((await self.redeem(await self.code(tenant), tenant))["access_token"])

    async def with_token(self, path: str, token: str, tenant: str = "") -> ClientResponse:
        headers = {"Authorization": f"Bearer {token}"}
        return await self.http.get(f"{self.issuer(tenant)}{path}", headers=headers)

    async def is_active(self, token: str, tenant: str = "") -> bool:
        """Introspect the token as `operator`, a client of the default tenant that every tenant's provider serves."""
        answer = await self.http.post(
            f"{self.issuer(tenant)}oidc/introspect",
            data={"token": token},
            headers={"Authorization": encode_basic_auth("operator", SECRET)},
        )
        return bool((await answer.json())["active"])

    async def is_admitted(self, authorization: str) -> bool:
        """Whether the process API accepts the caller's credentials."""
        request = directory_service_pb2.GetPrincipalRequest(subject="operator")
        metadata = (("authorization", authorization), ("x-tenant-id", "acme"))
        try:
            await directory_of(self.deployment.channel).GetPrincipal(request, metadata=metadata)
        except grpc.RpcError as failure:
            return not isinstance(error_of(failure), Unauthenticated)
        return True

    async def person(self, tenant: str, act: Callable[[Person], Result]) -> Result:
        """Run `act` with a user of that tenant at a browser."""
        person = Person(self.issuer(tenant), EMAIL, PASSWORD)
        try:
            return await asyncio.to_thread(act, person)
        finally:
            person.close()


def directory_of(channel: LocalChannel) -> "DirectoryServiceAsyncStub":
    # Stubs use no other method of a channel than ours has.
    return DirectoryServiceStub(cast("grpc.aio.Channel", channel))


@asynccontextmanager
async def world(
    *,
    store: RecordStore | None = None,
    trusted_proxies: tuple[str, ...] = (),
    nameservers: tuple[str, ...] = (),
    is_federated: bool = False,
    pictures: PicturesConfig | None = None,
    mutual_tls: MutualTlsConfig | None = None,
) -> AsyncIterator[World]:
    """Run one process of a deployment; worlds with the same store belong to one deployment."""
    port = unused_port()
    address = ProviderConfig(public_url=f"127.0.0.1:{port}", scheme=Scheme.HTTP)
    access = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE, trusted_proxies=trusted_proxies)
    config = replace(
        CONFIG,
        identity=address,
        encryption=_ENCRYPTION,
        sign_in_domains=SignInDomainConfig(nameservers=nameservers, timeout_secs=1),
        federation=FederationConfig(enabled=is_federated),
        outgoing=LOOPBACK,
        mutual_tls=mutual_tls or MutualTlsConfig(),
        pictures=pictures or PicturesConfig(),
    )
    async with deployed(config, store) as deployment:
        app = web.Application()
        app.add_routes(
            routes(
                deployment.channel,
                OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
                access=access,
                mutual_tls=config.mutual_tls,
            )
        )
        async with TestServer(app, port=port) as server, ClientSession(server.make_url("/")) as http:
            yield World(deployment, http, port)
