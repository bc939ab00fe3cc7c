"""Passkeys of a user: list, remove, and convert the account to passkeys only."""

from collections.abc import Sequence
from dataclasses import dataclass

from identity.access.callers import Actor
from identity.access.person import Person, person_of
from identity.access.sign_out import SignOut
from identity.authentication.passkeys.account import ModificationTokens, PasskeyAccounts
from identity.authentication.passkeys.passkey import Passkey
from identity.authentication.passkeys.passkeys import Passkeys
from identity.directory.user import AccountType, UserId
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidState, NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyAdministration:
    users: Users
    passkeys: Passkeys
    accounts: PasskeyAccounts
    modification_tokens: ModificationTokens
    sign_out: SignOut
    events: Events

    async def of_user(self, tenant: Tenant, user_id: UserId) -> Sequence[Passkey]:
        return await self.passkeys.of(tenant, user_id)

    async def remove(
        self, tenant: Tenant, user_id: UserId, name: str, *, modification_token: str, actor: Actor
    ) -> None:
        """Remove a passkey; its user needs a modification token.

        Raises NotFound, InvalidArgument, and InvalidState for the user's last way to sign in.
        """
        passkey = await self.passkeys.find_named(tenant, user_id, name)
        if passkey is None:
            raise NotFound("there is no such passkey")
        if person_of(tenant, actor, user_id) is not None:
            await self._expect_another_way(tenant, user_id)
        await self.modification_tokens.spend_own(tenant, user_id, modification_token, actor=actor)
        if not await self.passkeys.take(passkey):
            raise NotFound("there is no such passkey")
        await self.accounts.removed(tenant, user_id)
        await self.events.emit(
            tenant.tenant_id, EventType.PASSKEY_REMOVED, text=passkey.name, user_id=user_id, actor=actor
        )

    async def convert(self, person: Person, *, modification_token: str) -> None:
        """Replace the password by the passkeys, and sign out all other browsers.

        Raises InvalidArgument, NotFound, InvalidState.
        """
        await self.modification_tokens.spend(person, modification_token)
        user = await self.accounts.convert(person.tenant, person.user_id)
        await self.sign_out.everywhere(person.tenant, person.user_id, but=person.actor.session)
        await self.events.emit(
            person.tenant.tenant_id,
            EventType.ACCOUNT_CONVERTED_TO_PASSKEY,
            text=user.email,
            ip=person.actor.peer_address,
            user_id=person.user_id,
            session=person.actor.session,
        )

    async def _expect_another_way(self, tenant: Tenant, user_id: UserId) -> None:
        user = await self.users.find(tenant, user_id)
        is_last = len(await self.passkeys.of(tenant, user_id)) == 1
        if is_last and user is not None and user.account_type is AccountType.PASSKEY:
            raise InvalidState("the account has no other way to sign in")
