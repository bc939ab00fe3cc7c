"""A passkey ceremony along with a link, so that access to the mailbox alone does not suffice."""

from dataclasses import dataclass

from identity.authentication.passkeys.assertion import Assertion
from identity.authentication.passkeys.ceremony import Ceremonies, Purpose
from identity.authentication.passkeys.passkeys import Passkeys
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from identity.people.reset.magic_links import HeldLink, MagicLinks
from server.platform.errors import PermissionDenied, Unauthenticated

# The link proves access to the mailbox, so the passkey need not verify its user.
_BY_LINK = ("link",)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCeremony:
    magic_links: MagicLinks
    passkeys: Passkeys
    ceremonies: Ceremonies
    assertion: Assertion

    async def is_needed(self, tenant: Tenant, user_id: UserId) -> bool:
        return bool(await self.passkeys.of(tenant, user_id))

    async def start(self, tenant: Tenant, user_id: UserId, cookie: str) -> tuple[str, str]:
        """Return the code of the ceremony and the request options; raises PermissionDenied."""
        held = await self.magic_links.find_by_cookie(tenant, user_id, cookie)
        code = await self.ceremonies.begin(tenant, held.sid, Purpose.LINK, user_id, amr=_BY_LINK)
        return code, await self.assertion.options(tenant, code, user_id, needs_user=False)

    async def is_begun(self, tenant: Tenant, code: str) -> bool:
        """Whether the code identifies a pending ceremony with a link."""
        return await self.ceremonies.purpose(tenant, code) is Purpose.LINK

    async def finish(self, tenant: Tenant, user_id: UserId, cookie: str, *, code: str, answer: str) -> str:
        """Return a code that proves the ceremony; raises PermissionDenied, Unauthenticated."""
        held = await self.magic_links.find_by_cookie(tenant, user_id, cookie)
        ceremony = await self.ceremonies.take(tenant, code, held.sid, Purpose.LINK)
        if ceremony.user_id != user_id:
            raise Unauthenticated("the ceremony belongs to another user")
        await self.assertion.verify(tenant, ceremony, code=code, answer=answer)
        return await self.ceremonies.begin(tenant, held.sid, Purpose.SHOWN_WITH_LINK, user_id)

    async def expect_shown(self, tenant: Tenant, held: HeldLink, code: str) -> None:
        """Redeem the result of `finish` if the user has a passkey.

        Raises PermissionDenied with a `cause`, Unauthenticated.
        """
        user_id = held.user.user_id
        if not await self.is_needed(tenant, user_id):
            return
        if not code:
            raise PermissionDenied("the account requires its passkey", cause="SECOND_FACTOR_REQUIRED")
        ceremony = await self.ceremonies.take(tenant, code, held.sid, Purpose.SHOWN_WITH_LINK)
        if ceremony.user_id != user_id:
            raise Unauthenticated("the passkey belongs to another user")
