"""Addresses whose users sign in through an upstream provider only, and so have no password here."""

from typing import Protocol

from identity.directory.tenants.providers import Provider
from identity.foundation.tenants import Tenant
from server.platform.errors import PermissionDenied


class Targets(Protocol):
    async def provider_in_charge(self, tenant: Tenant, email: str) -> Provider | None: ...


async def expect_no_company(targets: Targets, tenant: Tenant, email: str) -> None:
    """Raise PermissionDenied with the `cause` COMPANY_SIGN_IN, the provider, the issuer and the address.

    The result depends on the domain of the address, not on whether there is such an account.
    """
    provider = await targets.provider_in_charge(tenant, email)
    if provider is not None:
        raise PermissionDenied(
            "users with this address sign in through their organization",
            cause="COMPANY_SIGN_IN",
            provider_id=provider.id,
            provider=provider.name,
            # Edges of the previous version forward it.
            location=f"{tenant.issuer}sign-in",
            issuer=tenant.issuer,
            email=email,
        )
