"""The device code grant: a device polls for the user's decision, RFC 8628 §3.4, §3.5."""

from identity.access.device import DEVICE_CODES, DEVICES, Device, DeviceCode, DeviceCodeState
from identity.access.sessions.session import Authentication
from identity.directory.client import Client
from identity.directory.oauth_scopes import Extent
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import AccessDenied, ExpiredToken, InvalidGrant, InvalidRequest
from identity.foundation.randomness import Randomness
from identity.foundation.vocabulary import GrantType
from identity.protocol.grants.early_poll import refuse_poll
from identity.protocol.grants.grant import Authorization, TokenRequest
from server.platform.clock import Clock
from server.platform.records import RecordStore

_DEVICE_ID_LENGTH = 24


class DeviceCodeGrant:
    """A device that polls too often gets `slow_down` and a longer interval; its code stays valid."""

    grant_type = GrantType.DEVICE_CODE

    def __init__(
        self, records: RecordStore, secrets: SecretHasher, *, clock: Clock, randomness: Randomness
    ) -> None:
        self._codes = records.of(DEVICE_CODES)
        self._devices = records.of(DEVICES)
        self._secrets = secrets
        self._clock = clock
        self._randomness = randomness

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        if not request.device_code:
            raise InvalidRequest("device_code is missing")
        code_id = self._secrets.hash(request.device_code).hex()
        code = await self._codes.get(request.tenant.tenant_id, code_id)
        if code is None or code.client_id != client.client_id:
            raise InvalidGrant("the device code is unknown or used")
        return self._authorization(request, client, code=code, authentication=await self._decision(code))

    async def _decision(self, code: DeviceCode) -> Authentication:
        """Return the user's authentication; raises the error of RFC 8628 §3.5 while there is no acceptance."""
        if self._clock.now() >= code.redeemable_until:
            raise ExpiredToken("the device code is expired")
        if code.state is DeviceCodeState.DECLINED:
            raise AccessDenied("the user declined")
        if code.authentication is None:
            await refuse_poll(self._codes, code, self._clock.now())
        return code.authentication

    def _authorization(
        self, request: TokenRequest, client: Client, *, code: DeviceCode, authentication: Authentication
    ) -> Authorization:
        device_id = self._randomness.alphanumeric(_DEVICE_ID_LENGTH)

        async def redeem(_token_set_id: str) -> None:
            if await self._codes.take(request.tenant.tenant_id, code.id) is None:
                raise InvalidGrant("the device code is unknown or used")
            await self._devices.insert(self._device(code, authentication, device_id))

        return Authorization(
            subject=authentication.user_id,
            oauth_scopes=Extent(code.oauth_scopes),
            resources=Extent(widest=client.allowed_resources),
            authorization_details=Extent(code.authorization_details, code.authorization_details),
            authentication=authentication,
            nonce=code.nonce,
            device_id=device_id,
            redeem=redeem,
        )

    def _device(self, code: DeviceCode, authentication: Authentication, device_id: str) -> Device:
        return Device(
            tenant_id=code.tenant_id,
            id=device_id,
            user_id=authentication.user_id,
            client_id=code.client_id,
            name=device_id,
            peer_address=code.peer_address,
            created_at=self._clock.now(),
        )
