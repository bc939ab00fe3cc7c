"""A client: a service that is registered at the provider."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import NewType

from identity.jose.algorithms import SigningAlgorithm
from identity.tenants import Tenant
from identity.vocabulary import GrantType, Permission
from server.platform.call import TenantId

ClientId = NewType("ClientId", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """`oauth_scopes` are the scopes that it may ask for and is given when it asks for none."""

    client_id: ClientId
    secret_hash: bytes = field(repr=False)
    tenant_ids: tuple[TenantId, ...]
    permissions: tuple[Permission, ...]
    oauth_scopes: tuple[str, ...]
    grant_types: frozenset[GrantType] = frozenset({GrantType.CLIENT_CREDENTIALS})
    access_token_signed_response_alg: SigningAlgorithm = SigningAlgorithm.RS256
    access_token_lifetime: timedelta = timedelta(seconds=1800)
    is_enabled: bool = True

    def is_known_at(self, tenant: Tenant, *, default: Tenant) -> bool:
        """Whether the provider of `tenant` serves it: the default one serves all, the others their own."""
        return tenant == default or tenant.tenant_id in self.tenant_ids
