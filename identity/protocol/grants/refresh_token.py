"""The refresh token grant: RFC 6749 §6."""

from identity.access.tokens.families import Families
from identity.directory.client import Client
from identity.directory.oauth_scopes import Extent
from identity.foundation.errors import InvalidRequest
from identity.foundation.vocabulary import GrantType
from identity.protocol.grants.grant import Authorization, TokenRequest


class RefreshTokenGrant:
    """A request may narrow the scope and details of one access token; the family keeps all that was granted."""

    grant_type = GrantType.REFRESH_TOKEN

    def __init__(self, families: Families) -> None:
        self._families = families

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        if not request.refresh_token:
            raise InvalidRequest("refresh_token is missing")
        token_set = await self._families.present(request.tenant, client, token=request.refresh_token)
        return Authorization(
            subject=token_set.user_id,
            oauth_scopes=Extent(token_set.oauth_scopes, token_set.oauth_scopes),
            resources=Extent(token_set.resources, token_set.resources),
            authorization_details=Extent(token_set.authorization_details, token_set.authorization_details),
            authentication=token_set.authentication,
            claims=token_set.claims,
            dpop_jkt=token_set.dpop_jkt,
            device_id=token_set.device_id,
            refresh_token=request.refresh_token,
        )
