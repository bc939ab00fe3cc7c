"""Changes of a user's own account.

A new password ends all other sessions of the user, revokes all tokens, and gives this session a new id. A new e-mail
address takes effect once it is confirmed.
"""

from dataclasses import dataclass, field, replace
from typing import Protocol

from identity.access.callers import Actor
from identity.access.person import Person
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions
from identity.authentication.reauthentication.proofs import Proof, Proofs
from identity.directory.config import UsersConfig
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from identity.people.account.addresses import AddressChanges
from identity.people.user_changes import UserChange
from identity.people.users import UserAdministration
from server.platform.errors import PermissionDenied


@dataclass(frozen=True, slots=True)
class RenewedSession:
    """`cookie` is the value of the session cookie."""

    session: Session
    cookie: str = field(repr=False)


class Removal(Protocol):
    async def delete(self, tenant: Tenant, user_id: UserId, actor: Actor) -> None: ...


class OwnAccount:
    def __init__(
        self,
        administration: UserAdministration,
        proofs: Proofs,
        *,
        removal: Removal,
        addresses: AddressChanges,
        sessions: Sessions,
        config: UsersConfig,
    ) -> None:
        self._administration = administration
        self._proofs = proofs
        self._removal = removal
        self._addresses = addresses
        self._sessions = sessions
        self._config = config

    async def change(self, person: Person, change: UserChange, proof: Proof) -> User:
        """Change everything but the password. A new e-mail address needs a proof and waits for its confirmation.

        Raises InvalidArgument, ResourceExhausted, Unauthenticated, PermissionDenied.
        """
        user, address, change = await self._with_own_address(person, change)
        if address:
            await self._administration.expect_changeable(person.tenant, person.user_id, change)
            await self._proofs.expect(person, proof)
            await self._addresses.ask(person, user, address)
        return await self._administration.update(person.tenant, person.user_id, change, actor=person.actor)

    async def change_with_password(
        self, person: Person, change: UserChange, proof: Proof
    ) -> tuple[User, RenewedSession]:
        """Change the password too; the present password is a sufficient proof.

        Raises InvalidArgument, InvalidState, ResourceExhausted, Unauthenticated, PermissionDenied.
        """
        user, address, change = await self._with_own_address(person, change)
        await self._administration.expect_changeable(person.tenant, person.user_id, change)
        if address:
            await self._proofs.expect(person, proof)
        else:
            await self._proofs.expect_password_or_token(person, proof)
        updated = await self._administration.update(person.tenant, person.user_id, change, actor=person.actor)
        if address:
            await self._addresses.ask(person, user, address)
        cookie, session = await self._sessions.renew(person.tenant, person.actor.session)
        return updated, RenewedSession(session, cookie)

    async def change_username(
        self, tenant: Tenant, user_id: UserId, name: str, *, is_forced: bool, actor: Actor
    ) -> User:
        """Raises InvalidArgument, AlreadyExists, NotFound, and PermissionDenied where usernames cannot be changed.

        Administrators can replace a username nevertheless; users cannot.
        """
        before = (await self._administration.get(tenant, user_id)).preferred_username
        may_force = is_forced and (actor.id != user_id or actor.is_administrator)
        if self._config.preferred_username_immutable and before not in {"", name} and not may_force:
            raise PermissionDenied("the preferred username cannot be changed")
        change = UserChange(preferred_username=name)
        return await self._administration.update(tenant, user_id, change, actor=actor)

    def expect_deletable(self) -> None:
        """Raise PermissionDenied with the `cause` SELF_DELETE_OFF where users may not delete their own account."""
        if not self._config.self_delete:
            raise PermissionDenied("only administrators can delete accounts", cause="SELF_DELETE_OFF")

    async def delete(self, person: Person, proof: Proof) -> None:
        """Delete the account, and erase the person elsewhere; raises PermissionDenied, InvalidArgument."""
        self.expect_deletable()
        await self._proofs.expect(person, proof)
        await self._removal.delete(person.tenant, person.user_id, person.actor)

    async def _with_own_address(self, person: Person, change: UserChange) -> tuple[User, str, UserChange]:
        """Return the user, the new address if it differs, and the rest of the change; raises InvalidArgument."""
        user = await self._administration.get(person.tenant, person.user_id)
        address = self._addresses.checked(user, change.email)
        return user, address, replace(change, email=None)
