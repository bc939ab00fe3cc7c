"""The token exchange grant: a client acts for a user of another client, RFC 8693.

The subject token is an access token of a user at this provider. The new token names the client in `act`, belongs to the
same token set and ends with it, and never outlives the subject token. The client gets no ID token or refresh token.
"""

from identity.access.tokens.active import ActiveToken, ActiveTokens
from identity.access.tokens.actor import Actor
from identity.authentication.authorization.session_check import refusal_of
from identity.directory.authorization_details.details import type_of
from identity.directory.client import Client
from identity.directory.oauth_scopes import Extent
from identity.foundation.errors import InvalidRequest, InvalidTarget, InvalidToken, UnauthorizedClient
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType, Scope
from identity.protocol.grants.grant import Authorization, TokenRequest, TypedToken
from server.platform.clock import Clock

ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105  # a type of token

# Longest chain of actors in a token.
MAX_ACTORS = 4

# These scopes lead to an ID token and to a refresh token.
_LEFT_OUT = frozenset({Scope.OPENID, Scope.OFFLINE_ACCESS})


class TokenExchangeGrant:
    """A client exchanges its own tokens, and those of clients that name it in `may_act`."""

    grant_type = GrantType.TOKEN_EXCHANGE

    def __init__(self, tokens: ActiveTokens, clock: Clock) -> None:
        self._tokens = tokens
        self._clock = clock

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        if client.is_public:
            raise UnauthorizedClient("a public client cannot use token exchange")
        exchange = request.exchange
        if exchange.requested_token_type not in {"", ACCESS_TOKEN}:
            raise InvalidRequest(f"requested_token_type: expected {ACCESS_TOKEN}")
        subject = await self._token(request.tenant, exchange.subject, parameter="subject_token")
        if subject.user is None or subject.token_set is None:
            raise InvalidRequest("subject_token: expected a token of a user")
        if subject.claims.exp <= self._clock.now().timestamp():
            # A few seconds are tolerated elsewhere, but here the new token would end before it begins.
            raise InvalidRequest("subject_token: the token is expired")
        if client.client_id not in {subject.client.client_id, *subject.client.may_act}:
            raise InvalidRequest("subject_token: its client does not allow this one to act for its users")
        authentication = subject.token_set.authentication
        if refusal := refusal_of(client, subject.user, authentication.amr):
            raise InvalidRequest(f"subject_token: {refusal.detail}")
        return Authorization(
            subject=subject.user.user_id,
            oauth_scopes=_scopes(subject, client),
            resources=Extent(widest=client.allowed_resources),
            authorization_details=_details(subject, client),
            authentication=authentication,
            # The token stays bound to its key and certificate: an exchange must not make a bearer token of it.
            dpop_jkt=subject.claims.cnf.jkt,
            certificate=subject.claims.cnf.certificate,
            joined=subject.token_set,
            ends_at=subject.claims.exp,
            actor=await self._actor(request, client, subject=subject),
            audience=_audience(request.audience, client),
            issued_token_type=ACCESS_TOKEN,
        )

    async def _token(self, tenant: Tenant, token: TypedToken, *, parameter: str) -> ActiveToken:
        """Return a valid access token; raises InvalidRequest, as RFC 8693 §2.2.2 demands."""
        if not token.text:
            raise InvalidRequest(f"{parameter} is missing")
        if token.type != ACCESS_TOKEN:
            raise InvalidRequest(f"{parameter}_type: expected {ACCESS_TOKEN}")
        try:
            return await self._tokens.find(token.text, tenant)
        except InvalidToken as error:
            raise InvalidRequest(f"{parameter}: {error.detail}") from error

    async def _actor(self, request: TokenRequest, client: Client, *, subject: ActiveToken) -> Actor | None:
        """Return the chain of actors; a client that exchanges its own token adds no actor."""
        before, presented = subject.claims.act, request.exchange.actor
        if presented.text or presented.type:
            found = await self._token(request.tenant, presented, parameter="actor_token")
            if found.client.client_id != client.client_id or found.claims.act is not None:
                raise InvalidRequest("actor_token: expected a token of the client itself")
            client_id = "" if found.user is None else client.client_id
            actor = Actor(found.claims.sub, client_id, before)
        elif subject.client.client_id == client.client_id:
            return before
        else:
            actor = Actor(client.client_id, act=before)
        if actor.depth > MAX_ACTORS:
            raise InvalidRequest(f"subject_token: expected fewer than {MAX_ACTORS} actors")
        return actor


def _scopes(subject: ActiveToken, client: Client) -> Extent:
    """Return scopes that both the subject token and the client have."""
    common = tuple(
        scope
        for scope in subject.claims.scope.split()
        if scope in client.oauth_scopes and scope not in _LEFT_OUT
    )
    return Extent(given=common, widest=common)


def _details(subject: ActiveToken, client: Client) -> Extent:
    """Return those details of the subject token whose types the client may ask for."""
    common = tuple(
        detail for detail in subject.claims.details if type_of(detail) in client.authorization_details_types
    )
    return Extent(given=common, widest=common)


def _audience(audience: str, client: Client) -> str:
    """Return the audience, empty for none; raises InvalidTarget for one that the client may not address."""
    if audience and audience not in {client.client_id, *client.default_aud, *client.allowed_resources}:
        raise InvalidTarget("the audience is not granted to this client")
    return audience
