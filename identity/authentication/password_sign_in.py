"""Sign-in with an e-mail address or a username and a password, or with a user name that a directory of the tenant knows.

The response does not reveal whether an account exists. Response and work are the same for an unknown address, a wrong
password, a disabled account and an expired one. Other reasons are reported only after the right password. An account with
its own password is verified here; whoever is not is asked for at the directories.
"""

from dataclasses import replace
from typing import Protocol

from identity.access.login_protection.protection import LoginProtection
from identity.authentication.confirmation import ConfirmationPolicy, expect_confirmed
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.passwords import Passwords
from identity.directory.user import User
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied, ResourceExhausted, Unauthenticated, Unavailable


class Directories(Protocol):
    async def find(self, tenant: Tenant, *, name: str, password: str, known: User | None) -> User | None:
        """Return the account of a user of a directory, None for nobody; raises Unavailable, PermissionDenied."""
        ...


class KnownBrowsers(Protocol):
    async def knows(self, tenant: Tenant, email: str, device: str) -> bool:
        """Whether a user with this address signed in with this browser before."""
        ...


class PasswordSignIn:
    """`directories` are None where no directories are used."""

    def __init__(
        self,
        users: Users,
        passwords: Passwords,
        *,
        protection: LoginProtection,
        browsers: KnownBrowsers,
        confirmation: ConfirmationPolicy,
        clock: Clock,
        events: Events,
        costliest: CostliestHashes,
        directories: Directories | None = None,
    ) -> None:
        self._users = users
        self._passwords = passwords
        self._protection = protection
        self._browsers = browsers
        self._confirmation = confirmation
        self._clock = clock
        self._events = events
        self._costliest = costliest
        self._directories = directories

    async def verify(
        self, tenant: Tenant, *, email: str, password: str, peer_address: str, device: str = ""
    ) -> User:
        """Return the user with these credentials; `email` may be a username, here or in a directory.

        `device` is the cookie that recognizes the browser.

        Raises Unauthenticated for wrong credentials, ResourceExhausted while the sign-in is blocked, and
        PermissionDenied when the password has expired, the address must be confirmed or the user of a directory has no
        account; its metadata `cause` gives the reason. Raises Unavailable when a directory does not answer.
        """
        may_be_listed = await self._admitted(tenant, peer_address, email, device)
        known = await self._users.find_to_sign_in(tenant, email)
        is_right = await self._is_right(tenant, known, password)
        # A user of a directory may have a name that somebody chose as a username here.
        addressed = known if "@" in email else None
        user = (
            known if is_right else await self._of_directory(tenant, email, password, peer_address, addressed)
        )
        # Concurrent guesses all passed the first check. If one of them causes a block, it applies to all of them.
        await self._protection.admit(tenant, peer_address, account=email, may_be_listed=may_be_listed)
        if user is None or not user.is_active(self._clock.now()):
            user_id = None if known is None else known.user_id
            await self._protection.failed(
                tenant, peer_address, account=email, secret=password, user_id=user_id
            )
            raise Unauthenticated("the e-mail address or the password is wrong")
        await self._protection.succeeded(tenant, peer_address, account=email)
        if not is_right:
            return await self._users.note_sign_in(user, self._clock.now())
        try:
            await self._expect_usable(tenant, user)
        except PermissionDenied as refusal:
            await self._note_refusal(tenant, peer_address, refusal, user)
            raise
        return await self._signed_in(user, password)

    async def _is_right(self, tenant: Tenant, known: User | None, password: str) -> bool:
        password_hash = known.password_hash if known else ""
        if password_hash and self._passwords.is_outdated(password_hash):
            # Imports of earlier versions noted no cost.
            await self._costliest.note(tenant.tenant_id, [password_hash])
        decoy = await self._costliest.of(tenant.tenant_id)
        return await self._passwords.verify(tenant.tenant_id, password_hash, password, decoy=decoy)

    async def _admitted(self, tenant: Tenant, peer_address: str, email: str, device: str) -> bool:
        """Return whether the credentials may be from a list; raises ResourceExhausted while the sign-in is blocked."""
        try:
            await self._protection.admit(tenant, peer_address, account=email)
        except ResourceExhausted:
            if not device or not await self._browsers.knows(tenant, email, device):
                raise
            await self._protection.admit(tenant, peer_address, account=email, may_be_listed=False)
            return False
        return True

    async def _of_directory(
        self, tenant: Tenant, name: str, password: str, peer_address: str, known: User | None
    ) -> User | None:
        if self._directories is None:
            return None
        try:
            return await self._directories.find(tenant, name=name, password=password, known=known)
        except PermissionDenied as refusal:
            await self._note_refusal(tenant, peer_address, refusal, known)
            raise
        except Unavailable:
            if known is not None and known.password_hash:
                # While directories do not answer, guesses of a password that is verified here count as ever.
                await self._protection.failed(
                    tenant, peer_address, account=name, secret=password, user_id=known.user_id
                )
            raise

    async def _note_refusal(
        self, tenant: Tenant, peer_address: str, refusal: PermissionDenied, user: User | None
    ) -> None:
        await self._events.emit(
            tenant.tenant_id,
            EventType.LOGIN_REFUSED,
            ip=peer_address,
            text=refusal.metadata["cause"],
            user_id=None if user is None else user.user_id,
        )

    async def _expect_usable(self, tenant: Tenant, user: User) -> None:
        await expect_confirmed(self._confirmation, tenant, user)
        if user.password_until is not None and user.password_until <= self._clock.now():
            raise PermissionDenied("the password has expired", cause="PASSWORD_EXPIRED")

    async def _signed_in(self, user: User, password: str) -> User:
        password_hash = user.password_hash
        if self._passwords.is_outdated(password_hash):
            password_hash = await self._passwords.hash(user.tenant_id, password)
        return await self._users.note_sign_in(replace(user, password_hash=password_hash), self._clock.now())
