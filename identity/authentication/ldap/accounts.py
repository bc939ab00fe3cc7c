"""The account of a user of a directory, with what the entry says at each sign-in.

An entry is identified by the directory and its unique id alone. The address of an entry is used once, to link an existing
account, if the directory's administrators allow it. An administrator's account is never linked by address, because
administrators of the directory could take it over. An account with its own password belongs to no directory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from identity.authentication.federation.account_changes import with_labels
from identity.authentication.federation.linked_accounts import LinkedAccounts
from identity.authentication.ldap.person import LdapPerson, mapped
from identity.directory.tenants.ldap_directory import LdapDirectory, LdapLink, link_id_of
from identity.directory.user import AccountType, User, UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied, Unavailable
from server.platform.records import AlreadyThere, Changed

_ID_LENGTH = 24
_ATTEMPTS = 20
_NO_ACCOUNT = "NO_ACCOUNT"


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapAccounts:
    linked: LinkedAccounts[LdapLink]
    clock: Clock
    randomness: Randomness

    async def of(
        self, tenant: Tenant, directory: LdapDirectory, person: LdapPerson, groups: Sequence[str]
    ) -> User | None:
        """Return the account, updated from the entry; None for one that is disabled or has expired.

        Raises PermissionDenied when there is none, with the cause NO_ACCOUNT.
        """
        user = await self.linked.find(tenant, link_id_of(directory, person.id))
        if user is not None and has_own_password(user):
            raise PermissionDenied("the account has a password of its own", cause=_NO_ACCOUNT)
        if user is None:
            users = self.linked.users
            user = await users.find_by_email(tenant, person.email) if person.email else None
            if user is None:
                user = await self._create(tenant, directory, person)
            else:
                await self._link(tenant, directory, person, user=user)
        return await self._updated(tenant, directory, person, groups=groups, user_id=user.user_id)

    async def _link(
        self, tenant: Tenant, directory: LdapDirectory, person: LdapPerson, *, user: User
    ) -> None:
        if not directory.fields.links or has_own_password(user) or await self.linked.administers(user):
            raise PermissionDenied(
                "there is an account of this address, which does not belong to the directory",
                cause=_NO_ACCOUNT,
            )
        await self.linked.link(tenant, user, _link_of(directory, person, user))

    async def _create(self, tenant: Tenant, directory: LdapDirectory, person: LdapPerson) -> User:
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
        try:
            await self.linked.create(user, _link_of(directory, person, user))
        except AlreadyThere as error:
            raise PermissionDenied(
                "there is an account of this address already", cause=_NO_ACCOUNT
            ) from error
        return user

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
            before = await self.linked.users.find(tenant, user_id)
            if before is None or not before.is_active(self.clock.now()):
                return None
            after = _described(_labelled(before, directory, groups), wanted)
            if after == before:
                return before
            try:
                kept = await self.linked.replace(before, after)
            except Changed:
                continue
            except AlreadyThere as taken:
                # Another account has the address or the name; this one keeps its own.
                wanted = replace(wanted, email="") if taken.field == "email" else replace(wanted, username="")
                continue
            await self.linked.tell(before, kept)
            return kept
        raise Unavailable("too many requests change the account at the same time")


def has_own_password(user: User) -> bool:
    """Whether the account is verified here. A password that an unconfirmed registration chose does not count."""
    return bool(user.password_hash) and not user.must_confirm_email


def _link_of(directory: LdapDirectory, person: LdapPerson, user: User) -> LdapLink:
    return LdapLink(
        tenant_id=user.tenant_id,
        id=link_id_of(directory, person.id),
        directory_id=directory.id,
        user_id=user.id,
    )


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
