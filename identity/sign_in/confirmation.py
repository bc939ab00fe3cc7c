"""Whether somebody has to confirm an address before signing in: the tenant's settings say so."""

from typing import Protocol

from identity.directory.user import User
from identity.tenants import Tenant
from server.platform.errors import PermissionDenied


class ConfirmationPolicy(Protocol):
    """Settings of a tenant."""

    async def requires_email_confirmation(self, tenant: Tenant) -> bool: ...


async def expect_confirmed(policy: ConfirmationPolicy, tenant: Tenant, user: User) -> None:
    """Raises PermissionDenied for a person who registered without, with the metadata `cause`."""
    if await is_unconfirmed(policy, tenant, user):
        raise PermissionDenied(
            "confirm your e-mail address first", cause="EMAIL_NOT_CONFIRMED", resend="true"
        )


async def is_unconfirmed(policy: ConfirmationPolicy, tenant: Tenant, user: User) -> bool:
    """Whether the person has to confirm the address before anything else."""
    return user.must_confirm_email and await policy.requires_email_confirmation(tenant)
