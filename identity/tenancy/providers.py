"""The upstream providers of a tenant, as its domains know them."""

from typing import Protocol

from identity.tenants import Tenant


class Provider(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def is_enabled(self) -> bool: ...


class ProviderDirectory(Protocol):
    async def find(self, tenant: Tenant, provider_id: str) -> Provider | None:
        """Return the tenant's own provider, enabled or not."""
        ...


class NoProviders:
    """No tenant has any."""

    async def find(self, _tenant: Tenant, _provider_id: str, /) -> None:
        return None
