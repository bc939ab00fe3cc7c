"""The account of a user of a directory, with what the entry says at each sign-in.

An entry is identified by the directory and its unique id alone. The address of an entry is used once, to link an existing
account, if the directory's administrators allow it. An administrator's account is never linked by address, because
administrators of the directory could take it over. An account with its own password belongs to no directory.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from identity.authentication.federation.account_changes import vouched_for, with_labels
from identity.authentication.ldap.person import LdapPerson, mapped
from identity.directory.tenants.ldap_directory import LdapDirectory, LdapLink, link_id_of
from identity.directory.user import AccountType, User, UserId
from identity.directory.users import Users
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied, Unavailable
from server.platform.records import AlreadyThere, Changed, Records

_ID_LENGTH = 24
_ATTEMPTS = 20
_NO_ACCOUNT = "NO_ACCOUNT"


class SignOut(Protocol):
    async def everywhere(self, tenant: Tenant, user_id: UserId) -> None: ...


class Passkeys(Protocol):
    async def remove_of_user(self, tenant: Tenant, user_id: UserId) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapAccounts:
    users: Users
    links: Records[LdapLink]
    administers: Callable[[User], Awaitable[bool]]
    version: DirectoryVersion
    sign_out: SignOut
    passkeys: Passkeys
    events: Events
    clock: Clock
    randomness: Randomness

    async def of(
        self, tenant: Tenant, directory: LdapDirectory, person: LdapPerson, groups: Sequence[str]
    ) -> User | None:
        """Return the account, updated from the entry; None for one that is disabled or has expired.

        Raises PermissionDenied when there is none, with the cause NO_ACCOUNT.
        """
        user = await self._linked(tenant, directory, person)
        if user is not None and has_own_password(user):
            raise PermissionDenied("the account has a password of its own", cause=_NO_ACCOUNT)
        if user is None:
            known = await self.users.find_by_email(tenant, person.email) if person.email else None
            if known is None:
                user = await self._new(tenant, directory, person)
            else:
                user = await self._link(tenant, directory, person, user=known)
        return await self._updated(tenant, directory, person, groups=groups, user_id=user.user_id)

    async def _linked(self, tenant: Tenant, directory: LdapDirectory, person: LdapPerson) -> User | None:
        link = await self.links.get(tenant.tenant_id, link_id_of(directory, person.id))
        if link is None:
            return None
        user = await self.users.find(tenant, UserId(link.user_id))
        if user is None:
            # The account was deleted, or its creation failed.
            await self.links.take(tenant.tenant_id, link.id)
        return user

    async def _link(
        self, tenant: Tenant, directory: LdapDirectory, person: LdapPerson, *, user: User
    ) -> User:
        if not directory.fields.links or has_own_password(user) or await self.administers(user):
            raise PermissionDenied(
                "there is an account of this address, which does not belong to the directory",
                cause=_NO_ACCOUNT,
            )
        if not user.is_email_verified:
            # The creator of the account never confirmed the address, so sessions and passkeys may be a stranger's.
            await self.sign_out.everywhere(tenant, user.user_id)
            await self.passkeys.remove_of_user(tenant, user.user_id)
        try:
            kept = await self.users.replace(vouched_for(user, self.clock.now()))
        except Changed as error:
            raise Unavailable.untouched("the account is being changed by another caller") from error
        await self._note(tenant, directory, person, user=kept)
        return kept

    async def _new(self, tenant: Tenant, directory: LdapDirectory, person: LdapPerson) -> User:
        if not directory.fields.onboards or not person.email:
            raise PermissionDenied("no account belongs to this user of the directory", cause=_NO_ACCOUNT)
        now = self.clock.now()
        user = User(
            tenant_id=tenant.tenant_id,
            id=self.randomness.alphanumeric(_ID_LENGTH),
            email=person.email,
            is_email_verified=True,
            account_type=AccountType.FEDERATED,
            tenant_ids=(tenant.tenant_id,),
            created_at=now,
            changed_at=now,
            confirmed_at=now,
        )
        # The link first: of two concurrent sign-ins only one can create the account.
        await self._note(tenant, directory, person, user=user)
        try:
            kept = await self.users.add(user)
        except AlreadyThere as error:
            await self.links.take(tenant.tenant_id, link_id_of(directory, person.id))
            raise PermissionDenied(
                "there is an account of this address already", cause=_NO_ACCOUNT
            ) from error
        await self.events.emit(
            tenant.tenant_id, EventType.NEW_USER_REGISTERED, text=kept.email, user_id=kept.id
        )
        return kept

    async def _note(
        self, tenant: Tenant, directory: LdapDirectory, person: LdapPerson, *, user: User
    ) -> None:
        link = LdapLink(
            tenant_id=tenant.tenant_id,
            id=link_id_of(directory, person.id),
            directory_id=directory.id,
            user_id=user.id,
        )
        try:
            await self.links.insert(link)
        except AlreadyThere as error:
            raise Unavailable("another sign-in of this user is in progress") from error

    async def _updated(
        self,
        tenant: Tenant,
        directory: LdapDirectory,
        person: LdapPerson,
        *,
        groups: Sequence[str],
        user_id: UserId,
    ) -> User | None:
        wanted = person
        for _ in range(_ATTEMPTS):
            before = await self.users.find(tenant, user_id)
            if before is None or not before.is_active(self.clock.now()):
                return None
            after = _described(_labelled(before, directory, groups), wanted)
            if after == before:
                return before
            try:
                kept = await self.users.replace(after)
            except Changed:
                continue
            except AlreadyThere as taken:
                # Another account has the address or the name; this one keeps its own.
                wanted = replace(wanted, email="") if taken.field == "email" else replace(wanted, username="")
                continue
            await self._tell(tenant, before, kept)
            return kept
        raise Unavailable("too many requests change the account at the same time")

    async def _tell(self, tenant: Tenant, before: User, after: User) -> None:
        if (after.roles, after.groups) != (before.roles, before.groups):
            await self.version.advance()
        if await self.administers(after) and not await self.administers(before):
            await self.events.emit(
                tenant.tenant_id, EventType.NEW_ADMINISTRATOR, text=after.email, user_id=after.id
            )


def has_own_password(user: User) -> bool:
    """Whether the account is verified here. A password that an unconfirmed registration chose does not count."""
    return bool(user.password_hash) and not user.must_confirm_email


def _labelled(user: User, directory: LdapDirectory, groups: Sequence[str]) -> User:
    """Return the user with the roles and groups of the mappings that apply, and without those of the others."""
    roles, labels = mapped(directory.fields, groups)
    return with_labels(user, directory.fields.mappings, roles=roles, groups=labels)


def _described(user: User, person: LdapPerson) -> User:
    """Return the user with the values of the entry; where it has none, those of the account stay."""
    return replace(
        user,
        email=person.email or user.email,
        preferred_username=person.username or user.preferred_username,
        given_name=person.given_name or user.given_name,
        family_name=person.family_name or user.family_name,
    )
