"""Failed sign-ins from one address, and the block that came of them or of an administrator."""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from server.platform.errors import ResourceExhausted
from server.platform.records import Kind, Record

_MOST_KEPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Keyed hashes of the account that was tried, and of it together with the password."""

    account: str
    credentials: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressFailures(Record):
    """`id` is the address; until `blocked_until` nothing is answered to it.

    `block` is `block` once it was blocked, so that those can be found.
    """

    failures: tuple[Failure, ...] = ()
    blocked_until: datetime | None = None
    block: str = ""

    def expect_admitted(self, now: datetime) -> None:
        """Raise ResourceExhausted while it is blocked; its metadata `retry_at` is in Unix seconds."""
        if self.blocked_until is not None and now < self.blocked_until:
            raise ResourceExhausted(
                "this address is blocked", retry_at=str(math.ceil(self.blocked_until.timestamp()))
            )

    def with_failure(self, failure: Failure) -> "AddressFailures":
        return replace(self, failures=(*self.failures, failure)[-_MOST_KEPT:])

    def without_account(self, account: str) -> "AddressFailures":
        # Only its own: who has one account must not be able to wipe out what was tried on others.
        return replace(
            self, failures=tuple(failure for failure in self.failures if failure.account != account)
        )

    def credentials_since(self, since: datetime) -> int:
        """How many different credentials were tried."""
        return len({failure.credentials for failure in self.failures if since < failure.at})

    def blocked(self, now: datetime, secs: int) -> "AddressFailures":
        until = now + timedelta(seconds=secs)
        return self.blocked_up_to(until if self.blocked_until is None else max(until, self.blocked_until))

    def blocked_up_to(self, until: datetime) -> "AddressFailures":
        return replace(self, blocked_until=until, block=BLOCK)

    def kept_for(self, until: datetime) -> "AddressFailures":
        """Not forgotten before then, nor before its block ends."""
        return replace(self, expires_at=max(until, self.blocked_until or until, self.expires_at or until))


BLOCK = "block"
ADDRESS_FAILURES = Kind(AddressFailures, "address_failures", indexed=("block",))
