"""A client asks in its own name: RFC 6749 §4.4."""

import re

from identity.clients.client import Client
from identity.clients.scopes import Extent, extent_of
from identity.errors import UnauthorizedClient
from identity.grants.grant import Authorization, TokenRequest
from identity.vocabulary import GrantType

# What people's subjects look like.
_OF_A_PERSON = re.compile(r"[A-Za-z0-9]{24}")


class ClientCredentialsGrant:
    """No refresh token (§4.4.3): the client can ask again."""

    grant_type = GrantType.CLIENT_CREDENTIALS

    async def authorize(self, _request: TokenRequest, client: Client) -> Authorization:
        if client.is_public:
            raise UnauthorizedClient("a public client has no name of its own to ask in")
        # RFC 9700 §4.15: whoever chooses a client's id must not become somebody by it.
        if _OF_A_PERSON.fullmatch(client.client_id) is not None:
            raise UnauthorizedClient("the client's id could be taken for a person's")
        return Authorization(
            subject=client.client_id,
            oauth_scopes=extent_of(client, without_defaults=client.oauth_scopes),
            resources=Extent(widest=client.allowed_resources),
        )
