"""Checks of a new password: OWASP ASVS 5, 6.2, NIST SP 800-63B-4 §3.1.1.2.

Every new password passes here: of registration, reset, the account page, administrators and provisioning. Cheap checks
come first. The comparison with earlier hashes comes last, with as many hashes as the policy requires.
"""

from datetime import timedelta
from typing import Protocol

from identity.directory.chosen_password import ChosenPassword
from identity.directory.password_rules.refusal import PasswordReason, PasswordRefused
from identity.directory.passwords import Passwords
from identity.directory.tenants.ldap_directory import LdapLink
from identity.directory.tenants.password_policy import PasswordPolicy
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import Records


class Policies(Protocol):
    async def of(self, tenant: Tenant) -> PasswordPolicy: ...


class BreachList(Protocol):
    async def has(self, password: str) -> bool: ...


class PasswordChoice:
    """`ldap_links` are None where no user can belong to a directory."""

    def __init__(
        self,
        policies: Policies,
        passwords: Passwords,
        clock: Clock,
        *,
        breach_list: BreachList,
        ldap_links: Records[LdapLink] | None = None,
    ) -> None:
        self._policies = policies
        self._passwords = passwords
        self._clock = clock
        self._breach_list = breach_list
        self._ldap_links = ldap_links

    async def choose(self, tenant: Tenant, user: User, password: str) -> ChosenPassword:
        """Raises PasswordRefused for a forbidden password, ResourceExhausted."""
        await self._expect_kept_here(tenant, user)
        policy = await self._policies.of(tenant)
        policy.expect(password)
        _expect_no_name(user, password)
        if await self._passwords.is_easily_guessed(tenant.tenant_id, password, _about(user)):
            raise PasswordRefused(
                "the password is easily guessed; choose a longer or less common one",
                PasswordReason.EASILY_GUESSED,
            )
        if await self._breach_list.has(password):
            raise PasswordRefused(
                "the password is on a list of passwords that were stolen elsewhere; choose another one",
                PasswordReason.BREACHED,
            )
        await self._expect_new(policy, user, password)
        valid_for = timedelta(days=policy.valid_days)
        return ChosenPassword(
            password_hash=await self._passwords.hash(tenant.tenant_id, password),
            until=self._clock.now() + valid_for if valid_for else None,
            remembered=max(policy.not_recently_used - 1, 0),
        )

    async def _expect_kept_here(self, tenant: Tenant, user: User) -> None:
        if self._ldap_links is None or user.password_hash:
            return
        if await self._ldap_links.find(tenant.tenant_id, "user_id", user.id, most=1):
            raise PasswordRefused(
                "a directory keeps the password of this user; change it there", PasswordReason.KEPT_ELSEWHERE
            )

    async def _expect_new(self, policy: PasswordPolicy, user: User, password: str) -> None:
        used = filter(None, (user.password_hash, *user.previous_password_hashes))
        for password_hash in tuple(used)[: policy.not_recently_used]:
            if await self._passwords.verify(user.tenant_id, password_hash, password):
                raise PasswordRefused(
                    f"the password is one of the last {policy.not_recently_used}; choose a new one",
                    PasswordReason.USED_BEFORE,
                    count=policy.not_recently_used,
                )


def _expect_no_name(user: User, password: str) -> None:
    names = (user.email, user.email.partition("@")[0], user.preferred_username)
    if password.casefold() in (name.casefold() for name in names if name):
        raise PasswordRefused(
            "the password is the user name or the e-mail address; choose another one",
            PasswordReason.OWN_NAME,
        )


def _about(user: User) -> tuple[str, ...]:
    known = (user.email, *user.email.split("@"), user.preferred_username, user.given_name, user.family_name)
    return tuple(filter(None, known))
