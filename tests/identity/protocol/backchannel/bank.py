"""Backchannel authentication as composed in production, with a mailbox, users and sessions."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from identity.access.backchannel import BACKCHANNEL_REQUESTS
from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.login_protection.delays import Delays
from identity.access.login_protection.equal_duration import EqualDuration
from identity.access.sessions.browser import Browser
from identity.access.sessions.hints import IdTokenHints
from identity.access.tokens.verification import verified
from identity.authentication.requests.parameters import Parameters
from identity.crypto.keys.master_keys import MasterKeys
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.tenants.confirmation import ConfirmationBySettings
from identity.directory.tenants.tenant_record import TENANTS
from identity.directory.user import USERS, UserId
from identity.directory.users import Users
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.events import Events
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationContext, GrantType
from identity.protocol.backchannel.authentication import BackchannelAuthentications, StartedAuthentication
from identity.protocol.backchannel.config import BackchannelConfig
from identity.protocol.backchannel.decisions import BackchannelDecisions, WaitingRequest
from identity.protocol.backchannel.hints import UserHints
from identity.protocol.backchannel.limits import RequestLimits
from identity.protocol.backchannel.notifications import NotificationQueue, NotificationSafe
from identity.protocol.backchannel.signed_requests import SignedRequests
from identity.protocol.grants.pipeline import IssuedTokens
from tests.identity.documents import KnownDocuments
from tests.identity.mailbox import Mailbox
from tests.identity.protocol.provider import ADA, AS_APP, SUBJECTS, TENANT, Provider

HERE = "198.51.100.2"
PASSWORD = AuthenticationContext.PASSWORD


@dataclass
class Bank:
    """A client that asks for Ada, who may be at a browser."""

    provider: Provider
    config: BackchannelConfig = BackchannelConfig()
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        provider = self.provider
        self.mailbox = Mailbox(provider.clock)
        users = Users(provider.records.of(USERS))
        keys = MasterKeys({"one": b"1" * 32}, "one", randomness=provider.randomness)
        self.safe = NotificationSafe(keys)
        limits = RequestLimits(provider.records, self.config, provider.clock)
        self.authentications = BackchannelAuthentications(
            provider.authenticator,
            provider.records,
            hints=UserHints(
                users,
                IdTokenHints(partial(verified, keys=provider.keys), provider.clients, SUBJECTS),
                confirmation=ConfirmationBySettings(provider.records.of(TENANTS)),
                secrets=provider.secrets,
                clock=provider.clock,
            ),
            limits=limits,
            signed_requests=SignedRequests(
                ClientKeys(PublishedKeys(KnownDocuments(), provider.clock)),
                SingleUse(provider.records),
                provider.clock,
            ),
            notifications=self.safe,
            mail=self.mailbox,
            equal_duration=EqualDuration(Delays(100, self._note_pause)),
            secrets=provider.secrets,
            config=self.config,
            clock=provider.clock,
            randomness=provider.randomness,
        )
        self.decisions = BackchannelDecisions(
            provider.sessions,
            users,
            clients=provider.clients,
            limits=limits,
            notifications=NotificationQueue(provider.records, provider.clock),
            events=Events(
                provider.records,
                EventsConfig().levels,
                clock=provider.clock,
                randomness=provider.randomness,
            ),
            records=provider.records,
            clock=provider.clock,
        )

    async def _note_pause(self, seconds: float, /) -> None:
        self.pauses.append(seconds)

    async def start(
        self, *, tenant: Tenant = TENANT, credentials: Any = AS_APP, **parameters: str | None
    ) -> StartedAuthentication:
        sent = {"scope": "openid email", "login_hint": ADA.email} | parameters
        if "id_token_hint" in parameters:
            sent["login_hint"] = parameters.get("login_hint")
        pairs = ((name, value) for name, value in sent.items() if value is not None)
        return await self.authentications.start(tenant, credentials, Parameters.of(pairs))

    async def poll(self, started: StartedAuthentication, **fields: Any) -> IssuedTokens:
        return await self.provider.ask(GrantType.CIBA, auth_req_id=started.auth_req_id, **fields)

    async def browser(
        self,
        user_id: str = ADA.id,
        *,
        amr: tuple[str, ...] = ("pwd",),
        acr: str = PASSWORD,
        tenant: Tenant = TENANT,
    ) -> Browser:
        """Return a browser in which this user is signed in."""
        cookie, session = await self.provider.sessions.sign_in(
            tenant, None, UserId(user_id), amr=amr, acr=acr, peer_address=HERE
        )
        return Browser(cookie=cookie, csrf_token=session.csrf_token, peer_address=HERE)

    async def waiting(
        self, browser: Browser | None = None, *, tenant: Tenant = TENANT
    ) -> list[WaitingRequest]:
        found = await self.decisions.waiting(tenant, browser or await self.browser(tenant=tenant))
        return list(found.requests)

    async def decide(
        self, started: StartedAuthentication, *, is_accepted: bool = True, browser: Browser | None = None
    ) -> None:
        await self.decisions.decide(
            TENANT, browser or await self.browser(), self.id_of(started), is_accepted=is_accepted
        )

    def id_of(self, started: StartedAuthentication) -> str:
        return self.provider.secrets.hash(started.auth_req_id).hex()

    async def kept(self) -> str:
        """Return everything that is stored about requests."""
        return repr(await self.provider.records.of(BACKCHANNEL_REQUESTS).page(TENANT.tenant_id))

    async def add_user(self, user_id: str, email: str, **fields: Any) -> None:
        user = replace(ADA, id=user_id, email=email, preferred_username=user_id, **fields)
        await self.provider.records.of(USERS).insert(user)
