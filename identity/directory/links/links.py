"""Links that were mailed to users. Used and expired ones are kept for a while, so that they are recognized."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from identity.directory.links.link import LINKS, Link, Usage
from identity.directory.secrets import SecretHasher
from identity.directory.user import UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import Changed, RecordStore

CODE_LENGTH = 64
_KNOWN_FOR = timedelta(days=7)


class Links:
    def __init__(
        self, store: RecordStore, hasher: SecretHasher, *, clock: Clock, randomness: Randomness
    ) -> None:
        self._records = store.of(LINKS)
        self._hasher = hasher
        self._clock = clock
        self._randomness = randomness

    async def issue(
        self, tenant: Tenant, user_id: UserId, usage: Usage, *, until: datetime, value: str = ""
    ) -> str:
        """Return the code of a new link, of 64 letters and digits; earlier links stay valid."""
        code = self._randomness.alphanumeric(CODE_LENGTH)
        await self._records.insert(
            Link(
                tenant_id=tenant.tenant_id,
                id=self._id(code),
                expires_at=until + _KNOWN_FOR,
                user_id=user_id,
                usage=usage,
                holder=holder_of(user_id, usage),
                good_until=until,
                value=value,
            )
        )
        return code

    async def find(self, tenant: Tenant, user_id: UserId, usage: Usage, code: str) -> Link | None:
        """Return the user's link without using it up; used and expired ones too."""
        link = await self._records.get(tenant.tenant_id, self._id(code))
        return link if link is not None and link.holder == holder_of(user_id, usage) else None

    async def find_by_code(self, tenant: Tenant, code: str) -> Link | None:
        """Return a link by its code alone, of any user and usage."""
        return await self._records.get(tenant.tenant_id, self._id(code))

    async def of_user(self, tenant: Tenant, user_id: UserId, usage: Usage) -> Sequence[Link]:
        """Return all links of a user for this usage; used and expired ones too."""
        return await self._records.find(tenant.tenant_id, "holder", holder_of(user_id, usage))

    async def bind(self, link: Link, binding: str) -> Link:
        """Bind the link to one browser; raises Changed when another was first."""
        return await self._records.replace(replace(link, binding=binding))

    async def redeem(self, link: Link) -> bool:
        """Use a valid link up; True for exactly one of several concurrent callers."""
        if not link.is_good(self._clock.now()):
            return False
        try:
            await self._records.replace(replace(link, is_used=True))
        except Changed:
            return False
        return True

    async def withdraw(self, tenant: Tenant, code: str) -> None:
        """Delete a link that was not sent."""
        await self._records.take(tenant.tenant_id, self._id(code))

    async def cancel(self, tenant: Tenant, user_id: UserId, usage: Usage) -> None:
        """Delete all links of a user for this usage."""
        await self._records.remove(tenant.tenant_id, "holder", holder_of(user_id, usage))

    def _id(self, code: str) -> str:
        return self._hasher.hash(code).hex()


def holder_of(user_id: UserId, usage: Usage) -> str:
    """Return the text by which links of a user with one usage are found."""
    return f"{user_id} {usage}"
