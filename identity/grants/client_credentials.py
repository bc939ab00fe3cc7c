"""A client asks in its own name: RFC 6749 §4.4."""

from identity.clients.client import Client
from identity.grants.grant import Authorization, TokenRequest
from identity.vocabulary import GrantType


class ClientCredentialsGrant:
    """No refresh token (§4.4.3): the client can ask again."""

    grant_type = GrantType.CLIENT_CREDENTIALS

    async def authorize(self, _request: TokenRequest, client: Client) -> Authorization:
        return Authorization(client.client_id, client.oauth_scopes)
