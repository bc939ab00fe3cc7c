"""Modification tokens: short-lived proofs that a user has just authenticated again.

A token is valid once within two minutes, for one user in one session at one network address. It is stored as a keyed
hash. If the user has a second factor when the token is used, the session must have shown that factor.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from identity.access.callers import Actor
from identity.access.person import Person, person_of
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.directory.secrets import SecretHasher
from identity.directory.user import UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument
from server.platform.records import Kind, Owner, Record, Records

_LENGTH = 32
_LIFETIME = timedelta(seconds=120)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModificationToken(Record):
    """`id` is the keyed hash of the token; the other members are the user, session and address that it is valid for."""

    user_id: str
    session: str
    peer_address: str


MODIFICATION_TOKENS = Kind(ModificationToken, "modification_token", owners=(Owner("user", "user_id"),))


@dataclass(frozen=True, slots=True)
class IssuedToken:
    token: str = field(repr=False)
    expires_at: datetime


class ModificationTokens:
    def __init__(
        self,
        records: Records[ModificationToken],
        hasher: SecretHasher,
        *,
        shown_factors: ShownFactors,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._records = records
        self._hasher = hasher
        self._shown_factors = shown_factors
        self._clock = clock
        self._randomness = randomness

    async def issue(self, person: Person) -> IssuedToken:
        token, expires_at = self._randomness.alphanumeric(_LENGTH), self._clock.now() + _LIFETIME
        await self._records.insert(
            ModificationToken(
                tenant_id=person.tenant.tenant_id,
                id=self._id(token),
                expires_at=expires_at,
                user_id=person.user_id,
                session=person.actor.session,
                peer_address=person.actor.peer_address,
            )
        )
        return IssuedToken(token, expires_at)

    async def spend(self, person: Person, token: str) -> None:
        """Redeem a token; raises InvalidArgument for an invalid one, PermissionDenied without the second factor."""
        await self._shown_factors.expect(person)
        tenant_id = person.tenant.tenant_id
        kept = await self._records.get(tenant_id, self._id(token))
        # A token must not be used up by a caller for whom it is not valid.
        if kept is None or not _is_for(kept, person) or await self._records.take(tenant_id, kept.id) is None:
            raise InvalidArgument("the modification token is unknown, was used or has expired")

    async def spend_own(self, tenant: Tenant, user_id: UserId, token: str, *, actor: Actor) -> None:
        """Redeem the token of a user who changes their own account; others need none. Raises the errors of `spend`."""
        person = person_of(tenant, actor, user_id)
        if person is not None:
            await self.spend(person, token)

    def _id(self, token: str) -> str:
        return self._hasher.hash(token).hex()


def _is_for(token: ModificationToken, person: Person) -> bool:
    whose = (token.user_id, token.session, token.peer_address)
    return whose == (person.user_id, person.actor.session, person.actor.peer_address)
