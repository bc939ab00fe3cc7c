"""Sets a password, or a passkey instead, by a link.

The link is used up first, so that one of several concurrent requests succeeds. The link proves access to the mailbox,
so the address is confirmed. Second factors stay, and a user with a passkey must show it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from identity.access.callers import Actor, ActorKind
from identity.access.login_protection.protection import LoginProtection
from identity.access.person import Person
from identity.access.sign_out import SignOut
from identity.authentication.passkeys.registration import PasskeyRegistration
from identity.directory.user import AccountType, User
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.record_changes import rewritten
from identity.foundation.tenants import Tenant
from identity.people.account.password_choice import PasswordChoice
from identity.people.reset.ceremony import LinkCeremony
from identity.people.reset.magic_links import HeldLink, MagicLinks, ShownLink
from server.platform.clock import Clock
from server.platform.errors import InvalidState, NotFound
from server.platform.records import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountActivation:
    magic_links: MagicLinks
    ceremony: LinkCeremony
    registration: PasskeyRegistration
    password_choice: PasswordChoice
    users: Records[User]
    version: DirectoryVersion
    sign_out: SignOut
    protection: LoginProtection
    events: Events
    clock: Clock

    async def with_password(
        self, tenant: Tenant, shown: ShownLink, *, password: str, passkey_code: str, peer_address: str
    ) -> str:
        """Set the password, and return the address to continue at.

        Raises the errors of MagicLinks.expect_held, InvalidArgument for a refused password, PermissionDenied when the
        user has a passkey and did not show it, and ResourceExhausted.
        """
        held = await self.magic_links.expect_held(tenant, shown)
        chosen = await self.password_choice.choose(tenant, held.user, password)
        await self.ceremony.expect_shown(tenant, held, passkey_code)
        await self.magic_links.redeem(held)
        user = await self._changed(tenant, held, chosen.of)
        await self.events.emit(
            tenant.tenant_id,
            EventType.USER_PASSWORD_RESET,
            ip=peer_address or None,
            text=user.email,
            user_id=user.id,
        )
        # Earlier failures guessed the old password, and many were the user's own.
        await self.protection.succeeded(tenant, peer_address, account=user.email)
        return _way_on(tenant, held)

    async def start_passkey(self, tenant: Tenant, shown: ShownLink, name: str) -> str:
        """Return the creation options as JSON.

        Raises the errors of MagicLinks.expect_held, InvalidArgument for a name, and InvalidState when the account is
        not new.
        """
        held = await self._expect_new(tenant, shown)
        return await self.registration.begin(_in_ceremony(tenant, held), name, needs_user=True)

    async def finish_passkey(
        self, tenant: Tenant, shown: ShownLink, name: str, *, answer: str, peer_address: str
    ) -> str:
        """Store a passkey instead of a password, and return the address to continue at.

        Raises the errors of `start_passkey`, and Unauthenticated for an invalid response or one without user
        verification.
        """
        held = await self._expect_new(tenant, shown)
        attested = await self.registration.attested(
            _in_ceremony(tenant, held), name, answer=answer, needs_user=True
        )
        await self.magic_links.redeem(held)
        await self.registration.keep(_person(tenant, held, peer_address=peer_address), attested)
        await self._changed(tenant, held, _without_password)
        return _way_on(tenant, held)

    async def _expect_new(self, tenant: Tenant, shown: ShownLink) -> HeldLink:
        held = await self.magic_links.expect_held(tenant, shown)
        if not (held.is_of_new_account and held.user.has_no_way_in):
            raise InvalidState("expected the link of a new account")
        return held

    async def _changed(self, tenant: Tenant, held: HeldLink, change: Callable[[User], User]) -> User:
        """Change the user, end all sessions, and cancel all other links."""
        now, user_id = self.clock.now(), held.user.user_id

        async def found() -> User:
            user = await self.users.get(tenant.tenant_id, user_id)
            if user is None:
                raise NotFound("there is no such user")
            return user

        def confirmed(user: User) -> User:
            confirmed_at = user.confirmed_at if user.is_email_verified else now
            return replace(
                change(user),
                is_email_verified=True,
                confirmed_at=confirmed_at,
                changed_at=now,
                registration=None,
                not_before=now,
            )

        user = await rewritten(self.users, found, confirmed)
        await self.version.advance(user.id)
        await self.sign_out.finish(tenant, user_id)
        await self.magic_links.cancel_all(tenant, user_id)
        return user


def _without_password(user: User) -> User:
    return replace(user, account_type=AccountType.PASSKEY) if user.has_no_way_in else user


def _in_ceremony(tenant: Tenant, held: HeldLink) -> Person:
    return _person(tenant, held, session=held.sid)


def _person(tenant: Tenant, held: HeldLink, *, session: str = "", peer_address: str = "") -> Person:
    user = held.user
    actor = Actor(ActorKind.USER, user.id, user.email, session=session, peer_address=peer_address)
    return Person(tenant=tenant, actor=actor)


def _way_on(tenant: Tenant, held: HeldLink) -> str:
    return held.terms.redirect_uri or tenant.issuer
