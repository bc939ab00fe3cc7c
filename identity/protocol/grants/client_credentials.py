"""The client credentials grant: RFC 6749 §4.4."""

import re
from typing import Protocol

from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.client import Client
from identity.directory.holdings import Standing
from identity.directory.oauth_scopes import Extent, own_extent_of
from identity.foundation.errors import UnauthorizedClient
from identity.foundation.vocabulary import GrantType
from identity.protocol.grants.grant import Authorization, TokenRequest

# Format of users' subjects.
_OF_A_PERSON = re.compile(r"[A-Za-z0-9]{24}")


class Standings(Protocol):
    async def of(self, holder: Client) -> Standing: ...


class ClientCredentialsGrant:
    """Issues no refresh token (§4.4.3): the client can request another access token."""

    grant_type = GrantType.CLIENT_CREDENTIALS

    def __init__(self, standings: Standings, details: DetailTypes) -> None:
        self._standings = standings
        self._details = details

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        if client.is_public:
            raise UnauthorizedClient("a public client cannot use client_credentials")
        # RFC 9700 §4.15: the id of a client must not equal the subject of a user.
        if _OF_A_PERSON.fullmatch(client.client_id) is not None:
            raise UnauthorizedClient("the client's id has the format of a user's subject")
        permissions = frozenset(client.permissions)
        if client.roles or client.groups:
            permissions = (await self._standings.of(client)).permissions
        details = await self._details.asked(request.tenant, client, request.authorization_details)
        return Authorization(
            subject=client.client_id,
            oauth_scopes=own_extent_of(client, permissions),
            resources=Extent(widest=client.allowed_resources),
            authorization_details=Extent(widest=details),
        )
