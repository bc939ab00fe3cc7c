"""Whether a tenant requires a confirmed e-mail address before sign-in."""

from typing import Protocol

from identity.directory.user import User
from identity.foundation.tenants import Tenant
from server.platform.errors import PermissionDenied


class ConfirmationPolicy(Protocol):
    """Settings of a tenant."""

    async def requires_email_confirmation(self, tenant: Tenant) -> bool: ...


async def expect_confirmed(policy: ConfirmationPolicy, tenant: Tenant, user: User) -> None:
    """Raise PermissionDenied with a metadata `cause` for a self-registered user with an unconfirmed address."""
    if await is_unconfirmed(policy, tenant, user):
        raise PermissionDenied(
            "confirm your e-mail address first", cause="EMAIL_NOT_CONFIRMED", resend="true"
        )


async def is_unconfirmed(policy: ConfirmationPolicy, tenant: Tenant, user: User) -> bool:
    """Whether the user must confirm the address before signing in.

    A user who signed in while the tenant required no confirmation may continue to do so.
    """
    if not user.must_confirm_email or user.has_signed_in_unconfirmed:
        return False
    return await policy.requires_email_confirmation(tenant)
