"""Modification tokens: a person has just proved once more who it is.

One is good for two minutes and once, for its person in its session at its address. It is kept as a keyed hash. Where the
person has a second factor by the time that it is used, the session has to have shown it.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from identity.account.person import Person
from identity.account.shown_factors import ShownFactors
from identity.clients.secrets import SecretHasher
from identity.randomness import Randomness
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument
from server.platform.records import Kind, Record, Records

_LENGTH = 32
_LIFETIME = timedelta(seconds=120)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModificationToken(Record):
    """`id` is the token's keyed hash; the rest says who may use it, and where."""

    user_id: str
    session: str
    peer_address: str


MODIFICATION_TOKENS = Kind(ModificationToken, "modification_token")


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
        """Use a token up; raises InvalidArgument when it is not good for the person, PermissionDenied without its factor."""
        await self._shown_factors.expect(person)
        tenant_id = person.tenant.tenant_id
        kept = await self._records.get(tenant_id, self._id(token))
        # Whoever it is not for does not use it up.
        if kept is None or not _is_for(kept, person) or await self._records.take(tenant_id, kept.id) is None:
            raise InvalidArgument("the modification token is unknown, was used or has expired")

    def _id(self, token: str) -> str:
        return self._hasher.hash(token).hex()


def _is_for(token: ModificationToken, person: Person) -> bool:
    whose = (token.user_id, token.session, token.peer_address)
    return whose == (person.user_id, person.actor.session, person.actor.peer_address)
