"""The refresh token grant: RFC 6749 §6."""

from identity.clients.client import Client
from identity.clients.scopes import Extent
from identity.errors import InvalidRequest
from identity.grants.grant import Authorization, TokenRequest
from identity.tokens.families import Families
from identity.vocabulary import GrantType


class RefreshTokenGrant:
    """A request may narrow the scope of one access token; the family keeps all granted scopes."""

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
            authentication=token_set.authentication,
            claims=token_set.claims,
            dpop_jkt=token_set.dpop_jkt,
            device_id=token_set.device_id,
            refresh_token=request.refresh_token,
        )
