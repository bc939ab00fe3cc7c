"""Proving once more who one is by a second factor, while signed in."""

from dataclasses import dataclass

from identity.account.person import Person
from identity.account.proofs import FactorProofs
from identity.one_time_codes.typed import kind_of
from identity.one_time_codes.verification import CodeVerification


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorProofs:
    """What came of a passkey and what a person types look different."""

    passkeys: FactorProofs
    codes: CodeVerification

    async def spend(self, person: Person, code: str) -> None:
        """Use it up; raises Unauthenticated, ResourceExhausted after too many wrong codes."""
        if kind_of(code) is None:
            await self.passkeys.spend(person, code)
            return
        await self.codes.verify(person.tenant, person.user_id, code, peer_address=person.actor.peer_address)
