"""Reauthentication by a second factor while signed in."""

from dataclasses import dataclass

from identity.access.person import Person
from identity.authentication.one_time_codes.typed import kind_of
from identity.authentication.one_time_codes.verification import CodeVerification
from identity.authentication.reauthentication.proofs import FactorProofs


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorProofs:
    """Distinguishes the result of a passkey ceremony from a typed code by its format."""

    passkeys: FactorProofs
    codes: CodeVerification

    async def spend(self, person: Person, code: str) -> None:
        """Redeem the proof; raises Unauthenticated, ResourceExhausted after too many wrong codes."""
        if kind_of(code) is None:
            await self.passkeys.spend(person, code)
            return
        await self.codes.verify(person.tenant, person.user_id, code, peer_address=person.actor.peer_address)
