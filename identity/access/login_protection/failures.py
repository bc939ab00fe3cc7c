"""Failed sign-ins from one network address, and blocks of that address."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from server.platform.errors import ResourceExhausted
from server.platform.records import Kind, Record

# Beyond this number, the blocks that end first are dropped; the next failure sets them again.
_MOST_ACCOUNT_BLOCKS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """`account` and `credentials` are keyed hashes: of the account, and of the account with the password.

    Equal credentials are one failure that happened several `times`, the last time at `at`. `account` is empty when the
    sign-in named none.
    """

    account: str
    credentials: str
    at: datetime
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountBlock:
    """Until `until`, sign-ins to the account from the address are refused."""

    account: str
    until: datetime


class BlockScope(StrEnum):
    """Extent of a block."""

    EVERYTHING = "everything"
    SIGN_IN = "sign_in"
    ACCOUNTS = "accounts"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressFailures(Record):
    """`id` is the network address.

    Every request from it is refused until `blocked_until`, which an administrator sets. Sign-ins with credentials that
    may be from a list are refused until `sign_in_blocked_until`, and those to one account until its entry in
    `account_blocks` ends. `block` is `block` after any of these, so that blocked addresses can be found.
    """

    failures: tuple[Failure, ...] = ()
    blocked_until: datetime | None = None
    sign_in_blocked_until: datetime | None = None
    account_blocks: tuple[AccountBlock, ...] = ()
    block: str = ""

    def expect_answered(self, now: datetime) -> None:
        """Raise ResourceExhausted while an administrator blocks the address; metadata `retry_at` in Unix seconds."""
        _expect_over(self.blocked_until, now, "an administrator has blocked this network address")

    def expect_admitted(self, now: datetime, account: str, *, may_be_listed: bool) -> None:
        """Raise ResourceExhausted while sign-ins to the account are blocked here; `retry_at` as above."""
        self.expect_answered(now)
        if may_be_listed:
            _expect_over(
                self.sign_in_blocked_until,
                now,
                "there were too many failed sign-ins from this network address",
            )
        _expect_over(
            self.end_of(account),
            now,
            "there were too many failed sign-ins to this account from this network address",
        )

    def blocks(self, now: datetime) -> Iterator[tuple[BlockScope, datetime]]:
        """Yield the present blocks, the widest first."""
        ends = (
            (BlockScope.EVERYTHING, self.blocked_until),
            (BlockScope.SIGN_IN, self.sign_in_blocked_until),
            (BlockScope.ACCOUNTS, max((block.until for block in self.account_blocks), default=None)),
        )
        for reach, until in ends:
            if until is not None and now < until:
                yield reach, until

    def last_end(self, now: datetime) -> datetime:
        """Return the end of the last block; `now` without one."""
        return max((until for _, until in self.blocks(now)), default=now)

    def end_of(self, account: str) -> datetime | None:
        """Return the end of the account's block, which may be over."""
        return next((block.until for block in self.account_blocks if block.account == account), None)

    def failures_of(self, account: str) -> int:
        return sum(failure.times for failure in self.failures if failure.account == account)

    def all_failures(self) -> int:
        return sum(failure.times for failure in self.failures)

    def credentials_since(self, since: datetime) -> int:
        """Count the different credentials that were wrong."""
        return len({failure.credentials for failure in self.failures if since < failure.at})

    def with_failure(self, failure: Failure, *, since: datetime, most: int) -> "AddressFailures":
        """Add a failure, drop those before `since`, and keep the latest `most`."""
        same = (known for known in self.failures if known.credentials == failure.credentials)
        times = sum(known.times for known in same if since < known.at)
        others = (
            known for known in self.failures if since < known.at and known.credentials != failure.credentials
        )
        latest = replace(failure, times=times + failure.times)
        return replace(self, failures=(*others, latest)[-most:])

    def without_account(self, account: str) -> "AddressFailures":
        """Forget the failures of the account, and lift its block."""
        # Failures of other accounts stay: an attacker with an account must not clear them.
        return replace(
            self,
            failures=tuple(failure for failure in self.failures if failure.account != account),
            account_blocks=tuple(block for block in self.account_blocks if block.account != account),
        )

    def with_account_blocked(self, account: str, until: datetime, *, now: datetime) -> "AddressFailures":
        others = [block for block in self.account_blocks if block.account != account and now < block.until]
        latest = AccountBlock(account=account, until=max(until, self.end_of(account) or until))
        blocks = sorted((*others, latest), key=lambda block: block.until)
        return replace(self, account_blocks=tuple(blocks[-_MOST_ACCOUNT_BLOCKS:]), block=BLOCK)

    def with_sign_in_blocked(self, until: datetime) -> "AddressFailures":
        return replace(self, sign_in_blocked_until=until, block=BLOCK)

    def with_everything_blocked(self, until: datetime) -> "AddressFailures":
        """Block every request until this time, and remove all other blocks."""
        return replace(
            self,
            blocked_until=until,
            sign_in_blocked_until=None,
            account_blocks=(),
            block=BLOCK,
            expires_at=max(until, self.expires_at or until),
        )


def _expect_over(until: datetime | None, now: datetime, detail: str) -> None:
    if until is not None and now < until:
        raise ResourceExhausted(detail, retry_at=str(math.ceil(until.timestamp())))


BLOCK = "block"
ADDRESS_FAILURES = Kind(AddressFailures, "address_failures", indexed=("block",), owners=())
