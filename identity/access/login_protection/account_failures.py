"""Network addresses from which sign-ins to one account failed.

Answers for an account with failures from many addresses are delayed; the account is never blocked, because a block
would let attackers lock the owner out.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from server.platform.records import Kind, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class LastFailure:
    """The last failure from one network address."""

    address: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFailures(Record):
    """`id` is a keyed hash of the account; `addresses` are in the order of their last failures."""

    addresses: tuple[LastFailure, ...] = ()

    def with_failure(self, latest: LastFailure, *, since: datetime) -> "AccountFailures":
        """Add a failure, and drop those before `since`."""
        others = (known for known in self.addresses if since < known.at and known.address != latest.address)
        return replace(self, addresses=(*others, latest))

    def without_address(self, address: str) -> "AccountFailures":
        return replace(self, addresses=tuple(known for known in self.addresses if known.address != address))


ACCOUNT_FAILURES = Kind(AccountFailures, "account_failures", owners=())
