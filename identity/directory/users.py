"""The users of a tenant."""

import logging
import unicodedata
from datetime import datetime

from identity.directory.user import User, UserId
from identity.foundation.mail_address import email_key
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.records import Changed, Guard, Records

logger = logging.getLogger(__name__)


class Users:
    """With `takes_usernames` users sign in with their username as well."""

    def __init__(self, records: Records[User], *, takes_usernames: bool = False) -> None:
        self._records = records
        self.takes_usernames = takes_usernames

    async def find(self, tenant: Tenant, user_id: UserId) -> User | None:
        return await self._records.get(tenant.tenant_id, user_id)

    async def find_by_email(self, tenant: Tenant, email: str) -> User | None:
        """Return the account with this e-mail address, compared without case."""
        found = await self._records.find(tenant.tenant_id, "email", email_key(email), most=1)
        if not found and not email.isascii():
            # Stored in normalization form NFC, which few keyboards guarantee.
            composed = email_key(unicodedata.normalize("NFC", email))
            found = await self._records.find(tenant.tenant_id, "email", composed, most=1)
        return found[0] if found else None

    async def find_by_username(self, tenant: Tenant, username: str) -> User | None:
        found = await self._records.find(tenant.tenant_id, "preferred_username", username, most=1)
        return found[0] if found else None

    async def find_to_sign_in(self, tenant: Tenant, name: str) -> User | None:
        """Return the account that a typed address or username names; no username has an @."""
        if self.takes_usernames and "@" not in name:
            return await self.find_by_username(tenant, name.strip().lower())
        return await self.find_by_email(tenant, name)

    async def add(self, user: User) -> User:
        """Raises AlreadyThere when the address or the name is taken."""
        return await self._records.insert(user)

    async def note_sign_in(self, user: User, at: datetime) -> User:
        """Store the time of a sign-in, unless another caller changes the record at that moment."""
        try:
            return await self._records.replace(user.signed_in(at))
        except Changed:
            logger.info("the time of a sign-in was not stored", extra={"user_id": user.id})
            return user

    async def replace(self, user: User, guard: Guard | None = None) -> User:
        """Raises Changed when another caller was faster, AlreadyThere when the address or the name is taken."""
        return await self._records.replace(user, guard=guard)


async def find_by_name(records: Records[User], tenant_id: TenantId, username: str) -> User | None:
    """Return the account with this name in the process API."""
    field = "email" if "@" in username else "preferred_username"
    found = await records.find(tenant_id, field, username, most=1)
    user = found[0] if found else await records.get(tenant_id, username)
    return user if user is not None and user.username == username else None
