"""Checks of a new password: OWASP ASVS 5, 6.2, NIST SP 800-63B-4 §3.1.1.2.

Cheap checks come first. The comparison with earlier hashes comes last, with as many hashes as the policy requires.
"""

from datetime import timedelta
from typing import Protocol

from identity.directory.chosen_password import ChosenPassword
from identity.directory.passwords import Passwords
from identity.directory.tenants.password_policy import PasswordPolicy
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument


class Policies(Protocol):
    async def of(self, tenant: Tenant) -> PasswordPolicy: ...


class PasswordChoice:
    def __init__(self, policies: Policies, passwords: Passwords, clock: Clock) -> None:
        self._policies = policies
        self._passwords = passwords
        self._clock = clock

    async def choose(self, tenant: Tenant, user: User, password: str) -> ChosenPassword:
        """Raises InvalidArgument for one that the person may not have, ResourceExhausted."""
        policy = await self._policies.of(tenant)
        policy.expect(password)
        if await self._passwords.is_easily_guessed(password, _about(user)):
            raise InvalidArgument("the password is easily guessed; choose a longer or less common one")
        await self._expect_new(policy, user, password)
        valid_for = timedelta(days=policy.valid_days)
        return ChosenPassword(
            password_hash=await self._passwords.hash(password),
            until=self._clock.now() + valid_for if valid_for else None,
            remembered=max(policy.not_recently_used - 1, 0),
        )

    async def _expect_new(self, policy: PasswordPolicy, user: User, password: str) -> None:
        used = filter(None, (user.password_hash, *user.previous_password_hashes))
        for password_hash in tuple(used)[: policy.not_recently_used]:
            if await self._passwords.verify(password_hash, password):
                raise InvalidArgument(
                    f"the password is one of the last {policy.not_recently_used}; choose a new one"
                )


def _about(user: User) -> tuple[str, ...]:
    known = (user.email, *user.email.split("@"), user.preferred_username, user.given_name, user.family_name)
    return tuple(filter(None, known))
