"""Processes of a provider over one store, as far as the sign-out of all users of a tenant needs them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from identity.access.callers import Actor, ActorKind
from identity.access.sessions.config import SessionConfig, SessionLifetimes
from identity.access.sessions.logout_config import LogoutConfig
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS
from identity.access.sessions.session import SESSIONS, Authentication, Session
from identity.access.sessions.session_end import SessionTermination
from identity.access.sessions.sessions import Sessions
from identity.access.tokens.config import DeviceGrantConfig, TokenConfig
from identity.access.tokens.families import Families
from identity.access.tokens.refresh_token import RefreshTokens
from identity.access.tokens.token_set import TokenSet
from identity.access.tokens.token_sets import TokenSets
from identity.administration.tenant_sign_out import TenantSignOut
from identity.directory.client import CLIENTS, ClientId
from identity.directory.clients import Clients
from identity.directory.secrets import SecretHasher
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.directory.user import USERS, UserId
from identity.directory.version import DirectoryVersion
from identity.foundation.errors import InvalidGrant
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.events import Events
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.records import RecordStore

ADDRESS = "192.0.2.7"
ROOT = Actor(ActorKind.USER, "root", "root@example.com")
APP = "app"
_HASHER = SecretHasher(b"k" * 32)


class Termination(Protocol):
    async def announce(self, tenant: Tenant, refused: Sequence[Session]) -> None: ...


class Process:
    """One process of a provider, as far as sign-outs need it."""

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self.store, self.clock, self.randomness = store, clock, SystemRandomness()
        sources = {"clock": clock, "randomness": self.randomness}
        self.tenants = Tenants("https://id.example.com", TenantId("default"), (TenantId("acme"),))
        self.directory = TenantDirectory(self.tenants, store, clock)
        self.version = DirectoryVersion(store)
        self.sessions = Sessions(
            store.of(SESSIONS),
            _HASHER,
            users=store.of(USERS),
            version=self.version,
            lifetimes=SessionLifetimes(),
            config=SessionConfig(),
            **sources,
        )
        events = Events(store, EventsConfig().levels, **sources)
        self.termination = SessionTermination(
            *(self.sessions, Clients(store, self.tenants), TokenSets(store, self.version)),
            queue=store.of(BACK_CHANNEL_LOGOUTS),
            config=LogoutConfig(),
            events=events,
            **sources,
        )
        self.families = Families(
            TokenSets(store, self.version),
            RefreshTokens(_HASHER, self.randomness),
            token=TokenConfig(),
            device_grant=DeviceGrantConfig(),
            report_reuse=_expect_no_reuse,
            clock=clock,
        )
        self.events = events
        self.sign_out = self.sweeper(self.termination)

    def sweeper(self, termination: Termination) -> TenantSignOut:
        return TenantSignOut(
            self.tenants,
            self.directory,
            termination,
            store=self.store,
            version=self.version,
            events=self.events,
            clock=self.clock,
            randomness=self.randomness,
        )

    @property
    def tenant(self) -> Tenant:
        return self.tenants.find("acme")

    async def sign_in(self, user_id: str) -> str:
        """Return the cookie of a new session in which the app got tokens."""
        cookie, session = await self.sessions.sign_in(
            self.tenant, None, UserId(user_id), amr=("pwd",), acr="urn:example:pwd", peer_address=ADDRESS
        )
        await self.sessions.note_client(session, ClientId(APP))
        return cookie

    async def is_signed_in(self, cookie: str) -> bool:
        return await self.sessions.find(self.tenant, cookie, ADDRESS) is not None

    async def grant(self, user_id: str, *, set_id: str = "") -> str:
        """Return the refresh token of a new grant with offline access."""
        authentication = Authentication(
            user_id=UserId(user_id), at=self.clock.now(), amr=("pwd",), acr="urn:example:pwd"
        )
        family = await self.families.open(
            TokenSet(
                tenant_id=self.tenant.tenant_id,
                id=set_id or self.randomness.alphanumeric(24),
                client_id=ClientId(APP),
                authentication=authentication,
                oauth_scopes=("openid", "offline_access"),
                user_id=user_id,
                ends_at=self.clock.now() + timedelta(days=30),
            )
        )
        return family.refresh_token

    async def refreshes(self, refresh_token: str) -> bool:
        client = await self.store.of(CLIENTS).get(self.tenant.tenant_id, APP)
        assert client is not None
        try:
            await self.families.rotate(self.tenant, client, token=refresh_token, dpop_jkt="")
        except InvalidGrant:
            return False
        return True

    async def sweep(self) -> None:
        """Sweep until nothing is left."""
        while await self.sign_out.work():
            pass


async def _expect_no_reuse(_tenant: Tenant, _token_set: TokenSet, /) -> None:
    raise AssertionError("no refresh token is used twice")
