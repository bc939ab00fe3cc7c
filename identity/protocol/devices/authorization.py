"""The device authorization endpoint: issues a device code and a user code, RFC 8628 §3.1, §3.2."""

from dataclasses import dataclass, field
from datetime import timedelta

from identity.access.client_authentication.authenticator import ClientAuthenticator, ClientCredentials
from identity.access.device import DEVICE_CODES, DeviceCode
from identity.access.tokens.config import DeviceGrantConfig
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.authorization_details.details import Details
from identity.directory.client import Client
from identity.directory.oauth_scopes import extent_of, granted_scopes
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import UnauthorizedClient
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType
from identity.protocol.devices.limits import DeviceStarts
from identity.protocol.devices.user_codes import new_user_code, shown
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, RecordStore

_DEVICE_CODE_LENGTH = 64
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    tenant: Tenant
    credentials: ClientCredentials
    oauth_scopes: tuple[str, ...] = ()
    nonce: str = ""
    peer_address: str = ""
    authorization_details: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedAuthorization:
    device_code: str = field(repr=False)
    user_code: str = field(repr=False)
    verification_uri: str
    lifetime: timedelta
    interval: int

    @property
    def verification_uri_complete(self) -> str:
        return f"{self.verification_uri}?code={self.user_code}"


@dataclass(frozen=True, slots=True)
class _Asked:
    oauth_scopes: tuple[str, ...]
    details: Details


class DeviceAuthorizations:
    def __init__(
        self,
        authenticator: ClientAuthenticator,
        records: RecordStore,
        *,
        starts: DeviceStarts,
        secrets: SecretHasher,
        config: DeviceGrantConfig,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._authenticator = authenticator
        self._codes = records.of(DEVICE_CODES)
        self._starts = starts
        self._details = DetailTypes(records)
        self._secrets = secrets
        self._config = config
        self._clock = clock
        self._randomness = randomness

    async def start(self, request: StartRequest) -> StartedAuthorization:
        """Issue both codes; raises a ProtocolError, and ResourceExhausted."""
        client = await self._authenticator.authenticate(request.credentials, request.tenant)
        if GrantType.DEVICE_CODE not in client.grant_types:
            raise UnauthorizedClient("the client may not use this grant type")
        extent = extent_of(client, without_defaults=client.oauth_scopes)
        asked = _Asked(
            granted_scopes(request.oauth_scopes, extent),
            await self._details.asked(request.tenant, client, request.authorization_details),
        )
        await self._starts.note(request.tenant, request.peer_address)
        device_code = self._randomness.alphanumeric(_DEVICE_CODE_LENGTH)
        user_code = await self._keep(request, client, device_code=device_code, asked=asked)
        return StartedAuthorization(
            device_code=device_code,
            user_code=shown(user_code),
            verification_uri=f"{request.tenant.issuer}device",
            lifetime=timedelta(seconds=self._config.lifetime_secs),
            interval=self._config.poll_interval_secs,
        )

    async def _keep(self, request: StartRequest, client: Client, *, device_code: str, asked: "_Asked") -> str:
        """Store both codes and return the user code, which no other valid record has."""
        for _ in range(_ATTEMPTS):
            user_code = new_user_code(self._randomness, self._config.user_code_length)
            try:
                await self._codes.insert(self._code(request, client, (device_code, user_code), asked))
            except AlreadyThere:
                continue
            return user_code
        raise Unavailable.untouched("no user code is free")

    def _code(
        self, request: StartRequest, client: Client, codes: tuple[str, str], asked: "_Asked"
    ) -> DeviceCode:
        device_code, user_code = codes
        now, lifetime = self._clock.now(), timedelta(seconds=self._config.lifetime_secs)
        return DeviceCode(
            tenant_id=request.tenant.tenant_id,
            id=self._secrets.hash(device_code).hex(),
            expires_at=now + 2 * lifetime,
            client_id=client.client_id,
            user_code_hash=self._secrets.hash(user_code).hex(),
            oauth_scopes=asked.oauth_scopes,
            authorization_details=asked.details,
            nonce=request.nonce,
            peer_address=request.peer_address,
            started_at=now,
            redeemable_until=now + lifetime,
            interval=self._config.poll_interval_secs,
            # The first poll may come at once.
            next_poll_at=now,
        )
