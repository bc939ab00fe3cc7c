"""What a provider is told about whom it is to sign in.

Only addresses of ours go on: what a relying party says about domains does not.
"""

from collections.abc import Iterator
from typing import Protocol

from identity.federation.provider import Provider, ProviderType
from identity.tenants import Tenant


class SignInDomains(Protocol):
    async def is_of_provider(self, tenant: Tenant, domain: str, provider_id: str) -> bool:
        """Whether the tenant has proved that the domain is its own, and has the provider sign its people in."""
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
