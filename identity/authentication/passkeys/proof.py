"""Reauthentication by passkey while signed in: before a change of the account, or as a test of the passkey."""

from dataclasses import dataclass

from identity.access.person import Person
from identity.authentication.passkeys.assertion import Assertion
from identity.authentication.passkeys.ceremony import Ceremonies, Purpose
from identity.foundation.tenants import Tenant

_PROOFS = (Purpose.PROOF, Purpose.TEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyProof:
    ceremonies: Ceremonies
    assertion: Assertion

    async def start(self, person: Person, purpose: Purpose) -> tuple[str, str]:
        """Return the code of the ceremony and the request options."""
        code = await self.ceremonies.begin(person.tenant, person.actor.session, purpose, person.user_id)
        return code, await self.assertion.options(person.tenant, code, person.user_id, needs_user=True)

    async def is_begun(self, tenant: Tenant, code: str) -> bool:
        """Whether the code identifies a pending proof."""
        return await self.ceremonies.purpose(tenant, code) in _PROOFS

    async def finish(self, person: Person, code: str, *, answer: str) -> str:
        """Return the code for `spend`, empty after a test; raises Unauthenticated."""
        tenant, sid = person.tenant, person.actor.session
        ceremony = await self.ceremonies.take(tenant, code, sid, *_PROOFS)
        await self.assertion.verify(tenant, ceremony, code=code, answer=answer)
        if ceremony.purpose is Purpose.TEST:
            return ""
        return await self.ceremonies.begin(tenant, sid, Purpose.PROVED, person.user_id)

    async def spend(self, person: Person, code: str) -> None:
        """Redeem the result of a finished proof; raises Unauthenticated."""
        await self.ceremonies.take(person.tenant, code, person.actor.session, Purpose.PROVED)
