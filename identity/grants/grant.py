"""What a grant is asked for, and what it answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from identity.clients.authentication import ClientCredentials
from identity.clients.client import Client
from identity.clients.scopes import Extent
from identity.dpop.proofs import PresentedProof
from identity.sessions.session import Authentication
from identity.tenants import Tenant
from identity.vocabulary import GrantType


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A token request as it came in, parsed once; no grant sees the form."""

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
    dpop: PresentedProof | None = field(default=None, repr=False)


async def nothing_to_redeem(_token_set_id: str, /) -> None:
    """For grants that may be used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """Whom a grant gives tokens to, and how far they may go.

    With an `authentication` a person stands behind it, and a token set begins, unless `refresh_token` goes on with one.
    A `dpop_jkt` is the key that has to be proved. `redeem` uses up what was presented, in favour of the set with the
    given id, exactly once; it raises InvalidGrant for whoever comes second.
    """

    subject: str
    oauth_scopes: Extent
    resources: Extent = Extent()
    authentication: Authentication | None = None
    nonce: str = ""
    claims: str = ""
    dpop_jkt: str = ""
    device_id: str = ""
    refresh_token: str = field(default="", repr=False)
    redeem: Callable[[str], Awaitable[None]] = nothing_to_redeem


class Grant(Protocol):
    """Hooks of one grant type."""

    @property
    def grant_type(self) -> GrantType: ...

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        """Check what is the grant's own; `client` is authenticated and may use it. Nothing is used up yet."""
        ...
