"""What a person has of codes, in one record: a code is used once, and every wrong one counts, whoever is asked.

The record stays as long as the account, also with nothing in it: its revisions tell one change from another.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil

from identity.directory.user import UserId
from identity.keys.master_keys import Sealed
from identity.one_time_codes.config import OneTimeCodeConfig
from server.platform.errors import ResourceExhausted
from server.platform.records import Kind, Record

_LONGEST_PAUSE = timedelta(days=1)
# Beyond it, twice as long is longer than the longest in any case.
_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """What shows a person codes; `last_step` is the step of the last one that was taken: RFC 6238 §5.2."""

    id: str
    name: str
    secret: Sealed
    added_at: datetime
    last_used_at: datetime | None = None
    last_step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """A generator that waits until `until` for the first code of it, in the session that it was begun in."""

    generator: Generator
    sid: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFactors(Record):
    """`id` is the person's. `recovery_hashes` are keyed hashes of the recovery codes that are left.

    `sealed_under` are the ids of the master keys that the secrets are encrypted under.
    """

    generators: tuple[Generator, ...] = ()
    enrolment: Enrolment | None = None
    recovery_hashes: tuple[str, ...] = field(default=(), repr=False)
    recovery_made_at: datetime | None = None
    wrong_in_a_row: int = 0
    paused_until: datetime | None = None
    sealed_under: tuple[str, ...] = ()

    @property
    def user_id(self) -> UserId:
        return UserId(self.id)

    def named(self, name: str) -> Generator | None:
        """Return the generator that the person calls so, in whatever case it is written."""
        return next((each for each in self.generators if each.name.casefold() == name.casefold()), None)

    def with_generators(self, *generators: Generator, enrolment: Enrolment | None = None) -> "CodeFactors":
        secrets = (*generators, *((enrolment.generator,) if enrolment else ()))
        return replace(
            self,
            generators=generators,
            enrolment=enrolment,
            sealed_under=tuple(sorted({each.secret.key_id for each in secrets})),
        )

    def with_used(self, generator_id: str, step: int, now: datetime) -> "CodeFactors":
        used = tuple(
            replace(each, last_step=step, last_used_at=now) if each.id == generator_id else each
            for each in self.generators
        )
        return replace(self, generators=used, wrong_in_a_row=0, paused_until=None)

    def with_recovery(self, hashes: tuple[str, ...], now: datetime | None) -> "CodeFactors":
        return replace(self, recovery_hashes=hashes, recovery_made_at=now)

    def with_recovery_left(self, hashes: tuple[str, ...]) -> "CodeFactors":
        return replace(self, recovery_hashes=hashes, wrong_in_a_row=0, paused_until=None)

    def with_wrong(self, now: datetime, config: OneTimeCodeConfig) -> "CodeFactors":
        """Count a wrong code: RFC 4226 §7.3."""
        count = self.wrong_in_a_row + 1
        if count % config.most_wrong:
            return replace(self, wrong_in_a_row=count)
        doublings = min(count // config.most_wrong - 1, _MOST_DOUBLINGS)
        pause = min(config.pause * 2**doublings, _LONGEST_PAUSE)
        return replace(self, wrong_in_a_row=count, paused_until=now + pause)

    def expect_admitted(self, now: datetime) -> None:
        """Raise ResourceExhausted during a pause; its metadata `retry_at` is in Unix seconds."""
        if self.paused_until is not None and now < self.paused_until:
            raise ResourceExhausted("too many wrong codes", retry_at=str(ceil(self.paused_until.timestamp())))


CODE_FACTORS = Kind(CodeFactors, "code_factors", indexed=("sealed_under",))
