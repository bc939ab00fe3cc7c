"""Users of a tenant by their usernames, as callers of the process API name them.

A username with an @ is the address of the account, which has no other name. The last word of a name is the last name.
"""

from dataclasses import dataclass

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from identity.foundation.visible_text import visible_name
from identity.people.user_changes import UserChange
from identity.people.users import UserAdministration
from server.platform.audit import AuditNote
from server.platform.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class NewUser:
    username: str
    password: str
    name: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class UsersByUsername:
    people: UserAdministration
    administrators: Administrators

    async def create(self, tenant: Tenant, new: NewUser, actor: Actor, note: AuditNote) -> User:
        """Raises InvalidArgument, AlreadyExists, PermissionDenied."""
        return await self.people.create(tenant, account_of(new), actor, note=note)

    async def update(
        self,
        tenant: Tenant,
        username: str,
        actor: Actor,
        *,
        name: str | None,
        email: str | None,
        password: str,
        note: AuditNote,
    ) -> User:
        """Change what is given; None changes nothing, and neither does an empty password.

        Raises NotFound, InvalidArgument, AlreadyExists, InvalidState, PermissionDenied.
        """
        user = await self.people.get_by_username(tenant, username)
        given_name, family_name = (None, None) if name is None else _names(name)
        change = UserChange(
            email=_changed_email(user, email),
            given_name=given_name,
            family_name=family_name,
            password=password or None,
        )
        if change.password is not None or change.email is not None:
            await self.administrators.expect_may_take_over(user, actor)
        return await self.people.update(tenant, user.user_id, change, actor=actor, note=note)

    async def delete(self, tenant: Tenant, username: str, actor: Actor, note: AuditNote) -> None:
        """Raises NotFound, InvalidState, PermissionDenied."""
        user = await self.people.get_by_username(tenant, username)
        await self.people.delete(tenant, user.user_id, actor, note=note)


def account_of(new: NewUser) -> UserChange:
    """Raises InvalidArgument for a username that is another address."""
    is_address = "@" in new.username
    email = new.email or (new.username if is_address else "")
    if is_address and email != new.username:
        raise InvalidArgument(
            "username: expected the e-mail address or a name without @, found another address"
        )
    given_name, family_name = _names(new.name)
    return UserChange(
        email=email,
        preferred_username=None if is_address else new.username,
        given_name=given_name,
        family_name=family_name,
        password=new.password,
    )


def _changed_email(user: User, email: str | None) -> str | None:
    changed = None if email == user.email else email
    if changed is not None and user.username == user.email:
        raise InvalidArgument("email: the address is the username of this user, which cannot be changed")
    if changed == "":
        raise InvalidArgument("email: expected an address, found none")
    return changed


def _names(name: str) -> tuple[str, str]:
    """Return the first and the last name."""
    # A name with characters that nobody sees stays as it is, and is refused.
    shown = visible_name(name)
    *first, last = (name if shown is None else shown).split(" ")
    return (" ".join(first), last) if first else (last, "")
