"""What a grant is asked for, and what it answers."""

from dataclasses import dataclass
from typing import Protocol

from identity.clients.authentication import ClientCredentials
from identity.clients.client import Client
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


@dataclass(frozen=True, slots=True)
class Authorization:
    """Whom a grant gives a token to, and the widest scope that it may have."""

    subject: str
    oauth_scopes: tuple[str, ...]


class Grant(Protocol):
    """Hooks of one grant type."""

    @property
    def grant_type(self) -> GrantType: ...

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        """Check what is the grant's own; `client` is authenticated and may use it."""
        ...
