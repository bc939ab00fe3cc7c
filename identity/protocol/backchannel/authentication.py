"""The backchannel authentication endpoint: a client asks for a user who is elsewhere, CIBA Core 1.0 §7."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from identity.access.backchannel import BACKCHANNEL_REQUESTS, BackchannelRequest
from identity.access.client_authentication.authenticator import ClientAuthenticator, ClientCredentials
from identity.access.login_protection.equal_duration import EqualDuration
from identity.authentication.requests.parameters import Parameters
from identity.delivery.mail.letter import Letter
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.client import Client
from identity.directory.secrets import SecretHasher
from identity.directory.user import User, UserId
from identity.foundation.errors import InvalidRequest, UnauthorizedClient
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType
from identity.protocol.backchannel.config import BackchannelConfig
from identity.protocol.backchannel.hints import Hinted, UserHints
from identity.protocol.backchannel.letters import request_waits
from identity.protocol.backchannel.limits import RequestLimits
from identity.protocol.backchannel.notifications import Notice, NotificationSafe
from identity.protocol.backchannel.parameters import Asked, asked_of
from identity.protocol.backchannel.signed_requests import SignedRequests
from server.platform.clock import Clock
from server.platform.languages import languages
from server.platform.records import RecordStore

PAGE = "sign-in-requests"
_AUTH_REQ_ID_LENGTH = 64
_LETTER_EVERY = timedelta(minutes=1)


class Mail(Protocol):
    async def post_seldom(
        self, tenant: Tenant, letter: Letter, *, subject_matter: str, every: timedelta
    ) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedAuthentication:
    """CIBA Core 1.0 §7.3."""

    auth_req_id: str = field(repr=False)
    lifetime: timedelta
    interval: int


class BackchannelAuthentications:
    def __init__(
        self,
        authenticator: ClientAuthenticator,
        records: RecordStore,
        *,
        hints: UserHints,
        limits: RequestLimits,
        signed_requests: SignedRequests,
        notifications: NotificationSafe,
        mail: Mail,
        equal_duration: EqualDuration,
        secrets: SecretHasher,
        config: BackchannelConfig,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._authenticator = authenticator
        self._requests = records.of(BACKCHANNEL_REQUESTS)
        self._hints = hints
        self._details = DetailTypes(records)
        self._limits = limits
        self._signed_requests = signed_requests
        self._notifications = notifications
        self._mail = mail
        self._equal_duration = equal_duration
        self._secrets = secrets
        self._config = config
        self._clock = clock
        self._randomness = randomness

    async def start(
        self, tenant: Tenant, credentials: ClientCredentials, parameters: Parameters
    ) -> StartedAuthentication:
        """Store the request; raises a ProtocolError, and ResourceExhausted when too many wait for the user."""
        client = await self._authenticator.authenticate(credentials, tenant)
        if GrantType.CIBA not in client.grant_types:
            raise UnauthorizedClient("the client may not use this grant type")
        if parameters.are_malformed:
            raise InvalidRequest("a parameter is repeated or contains NUL")
        read = await self._signed_requests.read(tenant, client, parameters)
        asked = asked_of(read, client, self._config)
        details = await self._details.asked(tenant, client, read.one("authorization_details"))
        asked = replace(asked, authorization_details=details)
        # For a known user there are a few more writes.
        return await self._equal_duration.done(self._started(tenant, client, read, asked))

    async def _started(
        self, tenant: Tenant, client: Client, parameters: Parameters, asked: Asked
    ) -> StartedAuthentication:
        hinted = await self._hints.read(tenant, client, parameters)
        now = self._clock.now()
        until = self._counted_until(now, asked.lifetime)
        await self._limits.add(tenant, client.client_id, hinted.key, until=until)
        auth_req_id = self._randomness.alphanumeric(_AUTH_REQ_ID_LENGTH)
        request = await self._requests.insert(
            self._request(tenant, client, asked, hinted=hinted, auth_req_id=auth_req_id)
        )
        if hinted.user is not None:
            await self._post_letter(tenant, client, hinted.user, request)
        return StartedAuthentication(
            auth_req_id=auth_req_id, lifetime=asked.lifetime, interval=self._config.poll_interval_secs
        )

    def _counted_until(self, now: datetime, lifetime: timedelta) -> datetime:
        return now + max(lifetime, timedelta(seconds=self._config.lifetime_secs))

    def _request(
        self, tenant: Tenant, client: Client, asked: Asked, *, hinted: Hinted, auth_req_id: str
    ) -> BackchannelRequest:
        now, request_id = self._clock.now(), self._secrets.hash(auth_req_id).hex()
        notice = Notice(auth_req_id, asked.notification_token) if asked.notification_token else None
        return BackchannelRequest(
            tenant_id=tenant.tenant_id,
            id=request_id,
            expires_at=now + 2 * asked.lifetime,
            client_id=client.client_id,
            user_id=UserId("") if hinted.user is None else hinted.user.user_id,
            oauth_scopes=asked.oauth_scopes,
            binding_message=asked.binding_message,
            authorization_details=asked.authorization_details,
            acr_values=asked.acr_values,
            started_at=now,
            counted_until=self._counted_until(now, asked.lifetime),
            redeemable_until=now + asked.lifetime,
            interval=self._config.poll_interval_secs,
            # The first poll may come immediately.
            next_poll_at=now,
            notification=self._notifications.seal(notice, tenant.tenant_id, request_id) if notice else None,
        )

    async def _post_letter(
        self, tenant: Tenant, client: Client, user: User, request: BackchannelRequest
    ) -> None:
        letter = request_waits(
            user.email,
            client.name or client.client_id,
            f"{tenant.issuer}{PAGE}",
            request.redeemable_until,
            languages().of(user.language),
        )
        await self._mail.post_seldom(
            tenant, letter, subject_matter=f"request of {client.client_id}", every=_LETTER_EVERY
        )
