"""Proving once more who one is, before what must not be done with somebody else's open browser: OWASP ASVS 5, 7.5.1.

A password that is wrong counts like a sign-in that failed, so that nobody guesses here what is held back there. It is no
proof in a session that did not show the second factor which its person has.
"""

from dataclasses import dataclass, field
from typing import Protocol

from identity.account.modification_tokens import IssuedToken, ModificationTokens
from identity.account.person import Person
from identity.account.shown_factors import ShownFactors
from identity.directory.passwords import Passwords
from identity.directory.users import Users
from identity.sign_in.protection import LoginProtection
from server.platform.errors import InvalidArgument, Unauthenticated


@dataclass(frozen=True, slots=True)
class Proof:
    """The password of now, or a modification token that came of another proof; empty without."""

    password: str = field(default="", repr=False)
    modification_token: str = field(default="", repr=False)


class FactorProofs(Protocol):
    async def spend(self, person: Person, code: str) -> None:
        """Use up what came of a second factor a moment ago; raises Unauthenticated, ResourceExhausted."""
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
        """Issue a token for one of both.

        Raises InvalidArgument for a wrong password, PermissionDenied for a password where a second factor has to be shown,
        Unauthenticated for a code of no second factor, ResourceExhausted while the sign-in is blocked or after too many
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
        """Raises what `expect_password_or_token` does, and PermissionDenied where a second factor has to be shown."""
        await self._shown_factors.expect(person)
        await self.expect_password_or_token(person, proof)

    async def expect_password_or_token(self, person: Person, proof: Proof) -> None:
        """Raises InvalidArgument for one that proves nothing, ResourceExhausted while the sign-in is blocked."""
        if proof.modification_token:
            await self._tokens.spend(person, proof.modification_token)
        elif proof.password:
            await self._expect_password(person, proof.password)
        else:
            raise InvalidArgument("expected the password of now or a modification token, found neither")

    async def _expect_password(self, person: Person, password: str) -> None:
        tenant, address = person.tenant, person.actor.peer_address
        user = await self._users.find(tenant, person.user_id)
        if user is None:
            raise Unauthenticated("there is no such user any more")
        await self._protection.admit(tenant, address, account=user.email)
        is_right = await self._passwords.verify(user.password_hash, password)
        # Guesses that were sent together passed the first check together: the block that they caused holds for all.
        await self._protection.admit(tenant, address, account=user.email)
        if not is_right:
            await self._protection.failed(
                tenant, address, account=user.email, secret=password, user_id=user.user_id
            )
            raise InvalidArgument("the password is wrong")
        await self._protection.succeeded(tenant, address, account=user.email)
