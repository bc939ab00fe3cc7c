"""Sign-in hints in the authorization request to an upstream provider: `login_hint`, `domain_hint` and `hd`.

The hints come from an e-mail address and from the configuration. Domain hints of a relying party are not forwarded.
"""

from collections.abc import Iterator
from typing import Protocol

from identity.directory.provider import Provider, ProviderType
from identity.foundation.tenants import Tenant


class SignInDomains(Protocol):
    async def is_of_provider(self, tenant: Tenant, domain: str, provider_id: str) -> bool:
        """Whether the domain is verified by the tenant, and its users sign in through the provider."""
        ...


class Hints:
    def __init__(self, domains: SignInDomains) -> None:
        self._domains = domains

    async def of(self, tenant: Tenant, provider: Provider, address: str) -> tuple[tuple[str, str], ...]:
        if not provider.fields.forwards_sign_in_hints:
            return ()
        domain = address.partition("@")[2].lower()
        is_verified = bool(domain) and await self._domains.is_of_provider(tenant, domain, provider.id)
        return tuple(_hints(provider, address, domain if is_verified else ""))


def _hints(provider: Provider, address: str, verified_domain: str) -> Iterator[tuple[str, str]]:
    fields = provider.fields
    if address:
        yield "login_hint", address
    if verified_domain and fields.type is ProviderType.DIRECTORY:
        yield "domain_hint", verified_domain
    if fields.workspace_domain and fields.type in {ProviderType.WORKSPACE, ProviderType.GOOGLE}:
        yield "hd", fields.workspace_domain
