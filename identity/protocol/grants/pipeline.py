"""The steps of every token request, for all grants.

All checks come before anything is used up, so that a client that lacks a DPoP nonce can repeat its request.
"""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from identity.access.client_authentication.authenticator import ClientAuthenticator
from identity.access.dpop.proofs import DpopProofs
from identity.directory.authorization_details.details import Details, granted_details, read
from identity.directory.client import Client
from identity.directory.oauth_scopes import granted_resources, granted_scopes
from identity.foundation.errors import (
    InvalidDpopProof,
    InvalidGrant,
    InvalidRequest,
    UnauthorizedClient,
    UnsupportedGrantType,
)
from identity.foundation.vocabulary import GrantType, TokenType
from identity.protocol.grants.continuation import Continuation, Order
from identity.protocol.grants.grant import Authorization, Grant, TokenRequest
from identity.protocol.grants.people import People
from identity.protocol.grants.token_signer import TokenSigner
from server.platform.mutual_tls import thumbprint_of


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedTokens:
    """RFC 6749 §5.1; a token that is not issued is empty."""

    access_token: str = field(repr=False)
    token_type: TokenType
    lifetime: timedelta
    oauth_scopes: tuple[str, ...]
    id_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    dpop_nonce: str = ""
    issued_token_type: str = ""
    authorization_details: Details = ()


class TokenPipeline:
    def __init__(
        self,
        authenticator: ClientAuthenticator,
        grants: Mapping[GrantType, Grant],
        *,
        people: People,
        proofs: DpopProofs,
        continuation: Continuation,
        signing: TokenSigner,
        report: Callable[[TokenRequest, Order], Awaitable[None]],
    ) -> None:
        self._authenticator = authenticator
        self._grants = grants
        self._people = people
        self._proofs = proofs
        self._continuation = continuation
        self._signing = signing
        self._report = report

    async def issue(self, request: TokenRequest) -> IssuedTokens:
        """Issue the tokens; raises a ProtocolError with the code of the step that refused."""
        if not request.grant_type:
            raise InvalidRequest("grant_type is missing")
        client = await self._authenticator.authenticate(request.credentials, request.tenant)
        authorization = await self._grant(request.grant_type, client).authorize(request, client)
        dpop_jkt = await self._proved_key(request, authorization, client)
        order = Order(
            tenant=request.tenant,
            client=client,
            authorization=authorization,
            user=await self._people.behind(authorization, request.tenant, client=client),
            oauth_scopes=granted_scopes(request.oauth_scopes, authorization.oauth_scopes),
            resources=granted_resources(request.resources, authorization.resources),
            authorization_details=granted_details(
                read(request.authorization_details), authorization.authorization_details
            ),
            # A user's tokens are limited to the granted resources: RFC 8707 §2.2.
            audience=request.audience if authorization.authentication is None else authorization.audience,
            dpop_jkt=dpop_jkt,
            certificate=_proved_certificate(request, authorization, client, has_key=bool(dpop_jkt)),
            is_narrowed=authorization.authentication is None and bool(request.oauth_scopes),
        )
        material = await self._signing.material(order)
        family = await self._continuation.settle(order)
        signed = await self._signing.sign(order, family, material=material)
        await self._report(request, order)
        return IssuedTokens(
            access_token=signed.access_token.token,
            token_type=signed.token_type,
            lifetime=signed.access_token.lifetime,
            oauth_scopes=order.oauth_scopes,
            id_token=signed.id_token,
            refresh_token=family.refresh_token if family else "",
            dpop_nonce=self._proofs.nonce(request.tenant) if order.dpop_jkt else "",
            issued_token_type=authorization.issued_token_type,
            authorization_details=order.authorization_details,
        )

    def _grant(self, grant_type: str, client: Client) -> Grant:
        grant = next((grant for name, grant in self._grants.items() if name == grant_type), None)
        if grant is None:
            raise UnsupportedGrantType("the grant type is not supported")
        if grant.grant_type not in client.grant_types:
            raise UnauthorizedClient("the client may not use this grant type")
        return grant

    async def _proved_key(self, request: TokenRequest, authorization: Authorization, client: Client) -> str:
        """Return the thumbprint of the DPoP key for the tokens, empty for none; a bound grant needs its key."""
        bound_to = authorization.dpop_jkt
        if request.dpop is None:
            if bound_to or client.requires_dpop:
                raise InvalidDpopProof("a DPoP proof is needed")
            return ""
        jkt = await self._proofs.thumbprint(
            request.tenant, request.dpop, algorithms=client.accepted_algorithms
        )
        if bound_to and not hmac.compare_digest(jkt.encode(), bound_to.encode()):
            raise InvalidDpopProof("the proof is of another key")
        return jkt


def _proved_certificate(
    request: TokenRequest, authorization: Authorization, client: Client, *, has_key: bool
) -> str:
    """Return the thumbprint of the certificate for the tokens, empty for none; a bound grant needs its certificate.

    FAPI 2.0 Security Profile §5.3.2.1: tokens of a client of this profile are bound to a key or to a certificate.
    """
    is_required = client.requires_certificate or (client.follows_fapi and not has_key)
    presented, bound_to = thumbprint_of(request.credentials.certificate), authorization.certificate
    if bound_to and not hmac.compare_digest(presented.encode(), bound_to.encode()):
        raise InvalidGrant("the grant is bound to another client certificate")
    if is_required and not presented:
        raise InvalidRequest(
            "a DPoP proof or a client certificate is needed"
            if client.follows_fapi
            else "a client certificate is needed"
        )
    return presented if bound_to or is_required else ""
