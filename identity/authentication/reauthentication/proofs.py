"""Reauthentication before sensitive changes, in case another person uses the open browser: OWASP ASVS 5, 7.5.1.

A wrong password counts as a failed sign-in, so login protection limits guesses here as well. If the user has a second
factor that the session did not show, the password is no sufficient proof.
"""

from dataclasses import dataclass, field
from typing import Protocol

from identity.access.login_protection.protection import LoginProtection
from identity.access.person import Person
from identity.authentication.reauthentication.modification_tokens import IssuedToken, ModificationTokens
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.directory.passwords import Passwords
from identity.directory.users import Users
from server.platform.errors import InvalidArgument, Unauthenticated


@dataclass(frozen=True, slots=True)
class Proof:
    """The present password, or a modification token from an earlier proof; both are empty without a proof."""

    password: str = field(default="", repr=False)
    modification_token: str = field(default="", repr=False)


class FactorProofs(Protocol):
    async def spend(self, person: Person, code: str) -> None:
        """Redeem the result of a second factor that was just shown; raises Unauthenticated, ResourceExhausted."""
        ...


class Proofs:
    def __init__(
        self,
        users: Users,
        passwords: Passwords,
        *,
        factors: FactorProofs,
        shown_factors: ShownFactors,
        protection: LoginProtection,
        tokens: ModificationTokens,
    ) -> None:
        self._factors = factors
        self._shown_factors = shown_factors
        self._users = users
        self._passwords = passwords
        self._protection = protection
        self._tokens = tokens

    async def issue(self, person: Person, *, password: str, factor_code: str) -> IssuedToken:
        """Issue a modification token for a password or a second factor.

        Raises InvalidArgument for a wrong password, PermissionDenied for a password where a second factor is required,
        Unauthenticated for an invalid factor code, and ResourceExhausted while the sign-in is blocked or after too many
        wrong codes.
        """
        if factor_code:
            await self._factors.spend(person, factor_code)
            await self._shown_factors.note(person)
        else:
            await self._shown_factors.expect(person)
            await self._expect_password(person, password)
        return await self._tokens.issue(person)

    async def expect(self, person: Person, proof: Proof) -> None:
        """Raises the errors of `expect_password_or_token`, and PermissionDenied where a second factor is required."""
        await self._shown_factors.expect(person)
        await self.expect_password_or_token(person, proof)

    async def expect_password_or_token(self, person: Person, proof: Proof) -> None:
        """Raises InvalidArgument for an invalid proof, ResourceExhausted while the sign-in is blocked."""
        if proof.modification_token:
            await self._tokens.spend(person, proof.modification_token)
        elif proof.password:
            await self._expect_password(person, proof.password)
        else:
            raise InvalidArgument("expected the current password or a modification token, found neither")

    async def _expect_password(self, person: Person, password: str) -> None:
        tenant, address = person.tenant, person.actor.peer_address
        user = await self._users.find(tenant, person.user_id)
        if user is None:
            raise Unauthenticated("there is no such user any more")
        await self._protection.admit(tenant, address, account=user.email, may_be_listed=False)
        is_right = await self._passwords.verify(tenant.tenant_id, user.password_hash, password)
        # Concurrent guesses all passed the first check. If one of them causes a block, it applies to all of them.
        await self._protection.admit(tenant, address, account=user.email, may_be_listed=False)
        if not is_right:
            await self._protection.failed(
                tenant, address, account=user.email, secret=password, user_id=user.user_id
            )
            raise InvalidArgument("the password is wrong")
        await self._protection.succeeded(tenant, address, account=user.email)
