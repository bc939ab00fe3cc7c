"""The upstream providers of a tenant, as sign-in domains use them."""

from typing import Protocol

from identity.foundation.tenants import Tenant


class Provider(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def is_enabled(self) -> bool: ...


class ProviderDirectory(Protocol):
    async def find(self, tenant: Tenant, provider_id: str) -> Provider | None:
        """Return a provider of the tenant, enabled or not."""
        ...


class NoProviders:
    """The directory of a deployment without upstream providers."""

    async def find(self, _tenant: Tenant, _provider_id: str, /) -> None:
        return None
