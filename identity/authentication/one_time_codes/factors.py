"""A user's generators and recovery codes, in one record.

The single record makes codes single-use and counts all wrong codes of the account, also under concurrency. It is kept
while the account exists, even when empty, because its revision detects concurrent changes.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil

from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.crypto.keys.master_keys import Sealed
from identity.directory.user import UserId
from server.platform.errors import ResourceExhausted
from server.platform.records import Kind, Owner, Record

_LONGEST_PAUSE = timedelta(days=1)
# More doublings exceed the longest pause in any case.
_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """A TOTP generator of a user; `last_step` is the step of its last accepted code: RFC 6238 §5.2."""

    id: str
    name: str
    secret: Sealed
    added_at: datetime
    last_used_at: datetime | None = None
    last_step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolment:
    """A generator that waits for its first code until `until`, in the session in which it began."""

    generator: Generator
    sid: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFactors(Record):
    """`id` is the user's. `recovery_hashes` are keyed hashes of the unused recovery codes.

    `sealed_under` are the ids of the master keys that encrypt the secrets. With `by_email` the user gets codes by mail.
    """

    generators: tuple[Generator, ...] = ()
    enrolment: Enrolment | None = None
    recovery_hashes: tuple[str, ...] = field(default=(), repr=False)
    recovery_made_at: datetime | None = None
    wrong_in_a_row: int = 0
    paused_until: datetime | None = None
    sealed_under: tuple[str, ...] = ()
    by_email: bool = False

    @property
    def user_id(self) -> UserId:
        return UserId(self.id)

    def named(self, name: str) -> Generator | None:
        """Return the generator with this name, compared without case."""
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

    def with_right(self) -> "CodeFactors":
        """Forget wrong codes after a right one."""
        return replace(self, wrong_in_a_row=0, paused_until=None)

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


CODE_FACTORS = Kind(CodeFactors, "code_factors", indexed=("sealed_under",), owners=(Owner("user"),))
