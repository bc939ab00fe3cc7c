"""Proving once more who one is, before what must not be done with somebody else's open browser: OWASP ASVS 5, 7.5.1.

A password that is wrong counts like a sign-in that failed, so that nobody guesses here what is held back there.
"""

from dataclasses import dataclass, field
from typing import Protocol

from identity.account.modification_tokens import IssuedToken, ModificationTokens
from identity.account.person import Person
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
        protection: LoginProtection,
        tokens: ModificationTokens,
    ) -> None:
        self._factors = factors
        self._users = users
        self._passwords = passwords
        self._protection = protection
        self._tokens = tokens

    async def issue(self, person: Person, *, password: str, factor_code: str) -> IssuedToken:
        """Issue a token for one of both.

        Raises InvalidArgument for a wrong password, Unauthenticated for a code of no second factor, ResourceExhausted
        while the address is blocked or after too many wrong codes.
        """
        if factor_code:
            await self._factors.spend(person, factor_code)
        else:
            await self._expect_password(person, password)
        return await self._tokens.issue(person)

    async def expect(self, person: Person, proof: Proof) -> None:
        """Raises InvalidArgument for one that proves nothing, ResourceExhausted while the address is blocked."""
        if proof.modification_token:
            await self._tokens.spend(person, proof.modification_token)
        elif proof.password:
            await self._expect_password(person, proof.password)
        else:
            raise InvalidArgument("expected the password of now or a modification token, found neither")

    async def _expect_password(self, person: Person, password: str) -> None:
        tenant, address = person.tenant, person.actor.peer_address
        await self._protection.admit(tenant, address)
        user = await self._users.find(tenant, person.user_id)
        if user is None:
            raise Unauthenticated("there is no such user any more")
        if not await self._passwords.verify(user.password_hash, password):
            await self._protection.failed(
                tenant, address, email=user.email, password=password, user_id=user.user_id
            )
            raise InvalidArgument("the password is wrong")
        await self._protection.succeeded(tenant, address, email=user.email)
