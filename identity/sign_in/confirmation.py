"""Whether people who registered themselves have to confirm their address before they sign in."""

from identity.tenants import Tenant


class NobodyConfirms:
    """As long as there is no registration, nobody has anything to confirm."""

    async def requires_email_confirmation(self, _tenant: Tenant) -> bool:
        return False
