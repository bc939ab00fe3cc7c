"""Showing a passkey once more while signed in: before a change of the account, or to see that it works."""

from dataclasses import dataclass

from identity.account.person import Person
from identity.passkeys.assertion import Assertion
from identity.passkeys.ceremony import Ceremonies, Purpose
from identity.tenants import Tenant

_PROOFS = (Purpose.PROOF, Purpose.TEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyProof:
    ceremonies: Ceremonies
    assertion: Assertion

    async def start(self, person: Person, purpose: Purpose) -> tuple[str, str]:
        """Return the code of the ceremony, and what the authenticator is asked."""
        code = await self.ceremonies.begin(person.tenant, person.actor.session, purpose, person.user_id)
        return code, await self.assertion.options(person.tenant, code, person.user_id, needs_user=True)

    async def is_begun(self, tenant: Tenant, code: str) -> bool:
        """Whether a proof is what the code names."""
        return await self.ceremonies.purpose(tenant, code) in _PROOFS

    async def finish(self, person: Person, code: str, *, answer: str) -> str:
        """Return what `spend` takes, empty when it was a test; raises Unauthenticated."""
        tenant, sid = person.tenant, person.actor.session
        ceremony = await self.ceremonies.take(tenant, code, sid, *_PROOFS)
        await self.assertion.verify(tenant, ceremony, code=code, answer=answer)
        if ceremony.purpose is Purpose.TEST:
            return ""
        return await self.ceremonies.begin(tenant, sid, Purpose.PROVED, person.user_id)

    async def spend(self, person: Person, code: str) -> None:
        """Use up what a finished proof returned; raises Unauthenticated."""
        await self.ceremonies.take(person.tenant, code, person.actor.session, Purpose.PROVED)
