"""The CIBA grant: a client polls for the decision of a user who is elsewhere, CIBA Core 1.0 §10.1, §11."""

from identity.access.backchannel import BACKCHANNEL_REQUESTS, BackchannelRequest, BackchannelState
from identity.access.sessions.session import Authentication
from identity.directory.client import Client
from identity.directory.oauth_scopes import Extent
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import AccessDenied, ExpiredToken, InvalidGrant, InvalidRequest
from identity.foundation.vocabulary import GrantType
from identity.protocol.grants.early_poll import refuse_poll
from identity.protocol.grants.grant import Authorization, TokenRequest
from server.platform.clock import Clock
from server.platform.records import RecordStore


class BackchannelGrant:
    """A client that polls too often gets `slow_down` and a longer interval; its request stays valid."""

    grant_type = GrantType.CIBA

    def __init__(self, records: RecordStore, secrets: SecretHasher, *, clock: Clock) -> None:
        self._requests = records.of(BACKCHANNEL_REQUESTS)
        self._secrets = secrets
        self._clock = clock

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        if not request.auth_req_id:
            raise InvalidRequest("auth_req_id is missing")
        tenant_id = request.tenant.tenant_id
        asked = await self._requests.get(tenant_id, self._secrets.hash(request.auth_req_id).hex())
        if asked is None or asked.client_id != client.client_id:
            raise InvalidGrant("the auth_req_id is unknown or used")
        authentication = await self._decision(asked)

        async def redeem(_token_set_id: str) -> None:
            if await self._requests.take(tenant_id, asked.id) is None:
                raise InvalidGrant("the auth_req_id is unknown or used")

        return Authorization(
            subject=authentication.user_id,
            oauth_scopes=Extent(asked.oauth_scopes),
            resources=Extent(widest=client.allowed_resources),
            authorization_details=Extent(asked.authorization_details, asked.authorization_details),
            authentication=authentication,
            redeem=redeem,
        )

    async def _decision(self, asked: BackchannelRequest) -> Authentication:
        """Return the user's authentication; raises the error of CIBA Core 1.0 §11 while there is no acceptance."""
        if self._clock.now() >= asked.redeemable_until:
            raise ExpiredToken("the auth_req_id is expired")
        if asked.state is BackchannelState.DECLINED:
            raise AccessDenied("the user declined")
        if asked.authentication is None:
            await refuse_poll(self._requests, asked, self._clock.now())
        return asked.authentication
