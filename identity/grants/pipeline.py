"""The way of every token request, whatever its grant."""

from collections.abc import Mapping

from identity.clients.authentication import ClientAuthenticator
from identity.clients.client import Client
from identity.errors import InvalidRequest, InvalidTarget, UnauthorizedClient, UnsupportedGrantType
from identity.grants.grant import Grant, TokenRequest
from identity.grants.scopes import narrow
from identity.tokens.access_token import AccessToken, AccessTokens, Grantee
from identity.vocabulary import GrantType


class TokenPipeline:
    def __init__(
        self, authenticator: ClientAuthenticator, grants: Mapping[GrantType, Grant], tokens: AccessTokens
    ) -> None:
        self._authenticator = authenticator
        self._grants = grants
        self._tokens = tokens

    async def issue(self, request: TokenRequest) -> AccessToken:
        """Issue what the request asks for; raises a ProtocolError with the code of the step that refused."""
        if not request.grant_type:
            raise InvalidRequest("grant_type is missing")
        client = await self._authenticator.authenticate(request.credentials, request.tenant)
        grant = self._grant(request.grant_type, client)
        authorization = await grant.authorize(request, client)
        oauth_scopes = narrow(request.oauth_scopes, authorization.oauth_scopes)
        _refuse_resources(request)
        grantee = Grantee(
            tenant=request.tenant,
            client=client,
            subject=authorization.subject,
            oauth_scopes=oauth_scopes,
            audience=request.audience,
        )
        return await self._tokens.issue(grantee)

    def _grant(self, grant_type: str, client: Client) -> Grant:
        grant = next((grant for name, grant in self._grants.items() if name == grant_type), None)
        if grant is None:
            raise UnsupportedGrantType("the grant type is not supported")
        if grant.grant_type not in client.grant_types:
            raise UnauthorizedClient("the client may not use this grant type")
        return grant


def _refuse_resources(request: TokenRequest) -> None:
    # RFC 8707 §2: a resource is granted by the client's registration, and no registration names one.
    if request.resources:
        raise InvalidTarget("the resource is not granted to this client")
