"""The interface of grants: token requests and authorizations."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.dpop.proofs import PresentedProof
from identity.access.sessions.session import Authentication
from identity.access.tokens.actor import Actor
from identity.access.tokens.token_set import TokenSet
from identity.directory.client import Client
from identity.directory.oauth_scopes import Extent
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType


@dataclass(frozen=True, slots=True)
class TypedToken:
    """A token with its type, as a client sends them: RFC 8693 §3."""

    text: str = field(default="", repr=False)
    type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRequest:
    """Parameters of a token exchange: RFC 8693 §2.1."""

    subject: TypedToken = TypedToken()
    actor: TypedToken = TypedToken()
    requested_token_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A parsed token request; grants do not see the form."""

    tenant: Tenant
    grant_type: str
    credentials: ClientCredentials
    oauth_scopes: tuple[str, ...] = ()
    audience: str = ""
    resources: tuple[str, ...] = ()
    code: str = field(default="", repr=False)
    redirect_uri: str = ""
    code_verifier: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    device_code: str = field(default="", repr=False)
    auth_req_id: str = field(default="", repr=False)
    assertion: str = field(default="", repr=False)
    exchange: ExchangeRequest = ExchangeRequest()
    authorization_details: str = ""
    dpop: PresentedProof | None = field(default=None, repr=False)


async def nothing_to_redeem(_token_set_id: str, /) -> None:
    """For grants whose code or token is not used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """User or client of the tokens, and bounds of their scopes, resources and authorization details.

    With `authentication` the subject is a user, and a token set begins, unless `refresh_token` continues one.
    `dpop_jkt` is the key that the client must prove, and `certificate` the thumbprint of the certificate that its
    connection must have. `redeem` uses up the code or token exactly once, for the token set
    with the given id. It raises InvalidGrant when another request redeemed it.

    With `joined` the access token belongs to that existing token set. It then expires at `ends_at` at the latest, in
    Unix seconds. Without `is_renewable` there is no refresh token. `actor` is the party that acts for the user, and
    `audience` a further audience of the token. `issued_token_type` names the type of token to a client that may not
    know it.
    """

    subject: str
    oauth_scopes: Extent
    resources: Extent = Extent()
    authorization_details: Extent = Extent(widest=())
    authentication: Authentication | None = None
    nonce: str = ""
    claims: str = ""
    dpop_jkt: str = ""
    certificate: str = ""
    device_id: str = ""
    refresh_token: str = field(default="", repr=False)
    joined: TokenSet | None = None
    ends_at: int | None = None
    is_renewable: bool = True
    actor: Actor | None = None
    audience: str = ""
    issued_token_type: str = ""
    redeem: Callable[[str], Awaitable[None]] = nothing_to_redeem


class Grant(Protocol):
    """One grant type."""

    @property
    def grant_type(self) -> GrantType: ...

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        """Validate the parameters of this grant for an authenticated client, without using anything up."""
        ...
