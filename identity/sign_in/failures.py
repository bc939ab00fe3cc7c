"""Failed sign-ins from one address."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

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
    """`id` is the address; until `blocked_until` nobody signs in from it."""

    failures: tuple[Failure, ...] = ()
    blocked_until: datetime | None = None

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
        return replace(
            self, blocked_until=until if self.blocked_until is None else max(until, self.blocked_until)
        )


ADDRESS_FAILURES = Kind(AddressFailures, "address_failures")
