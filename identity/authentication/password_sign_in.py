"""Sign-in with an e-mail address and a password.

The response does not reveal whether an account exists. Response and work are the same for an unknown address, a wrong
password, a disabled account and an expired one. Other reasons are reported only after the right password.
"""

from dataclasses import replace

from identity.access.login_protection.protection import LoginProtection
from identity.authentication.confirmation import ConfirmationPolicy, expect_confirmed
from identity.directory.passwords import Passwords
from identity.directory.user import User
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied, Unauthenticated


class PasswordSignIn:
    def __init__(
        self,
        users: Users,
        passwords: Passwords,
        *,
        protection: LoginProtection,
        confirmation: ConfirmationPolicy,
        clock: Clock,
        events: Events,
    ) -> None:
        self._users = users
        self._passwords = passwords
        self._protection = protection
        self._confirmation = confirmation
        self._clock = clock
        self._events = events

    async def verify(self, tenant: Tenant, *, email: str, password: str, peer_address: str) -> User:
        """Return the user with these credentials.

        Raises Unauthenticated for wrong credentials, ResourceExhausted while the sign-in is blocked, and
        PermissionDenied when the password has expired or the address must be confirmed; its metadata `cause` gives the
        reason.
        """
        await self._protection.admit(tenant, peer_address, account=email)
        user = await self._users.find_by_email(tenant, email)
        is_right = await self._passwords.verify(user.password_hash if user else None, password)
        # Concurrent guesses all passed the first check. If one of them causes a block, it applies to all of them.
        await self._protection.admit(tenant, peer_address, account=email)
        if user is None or not is_right or not user.is_active(self._clock.now()):
            user_id = None if user is None else user.user_id
            await self._protection.failed(
                tenant, peer_address, account=email, secret=password, user_id=user_id
            )
            raise Unauthenticated("the e-mail address or the password is wrong")
        await self._protection.succeeded(tenant, peer_address, account=email)
        try:
            await self._expect_usable(tenant, user)
        except PermissionDenied as refusal:
            cause = refusal.metadata["cause"]
            await self._events.emit(
                tenant.tenant_id, EventType.LOGIN_REFUSED, ip=peer_address, text=cause, user_id=user.user_id
            )
            raise
        return await self._signed_in(user, password)

    async def _expect_usable(self, tenant: Tenant, user: User) -> None:
        await expect_confirmed(self._confirmation, tenant, user)
        if user.password_until is not None and user.password_until <= self._clock.now():
            raise PermissionDenied("the password has expired", cause="PASSWORD_EXPIRED")

    async def _signed_in(self, user: User, password: str) -> User:
        password_hash = user.password_hash
        if self._passwords.is_outdated(password_hash):
            password_hash = await self._passwords.hash(password)
        return await self._users.note_sign_in(replace(user, password_hash=password_hash), self._clock.now())
