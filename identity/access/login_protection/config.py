"""Settings of login protection: when answers to wrong passwords and codes are delayed, and when they block."""

from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_network

_MOST_DELAY_SECS = range(1, 31)
_IPV6_PREFIX = range(32, 129)
_ACCOUNT_ADDRESSES = range(2, 101)
_MOST_COUNTED = 100
# Each different credential is an entry of the address's record, which is written with every failure.
_MOST_CREDENTIALS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A number of failures of one account from one network address, and its effect.

    The answer is delayed by `delay_secs_per_failure` for each failure; `block_secs` blocks the account for the address.
    """

    failures: int
    delay_secs_per_failure: int = 0
    block_secs: int = 0

    def __post_init__(self) -> None:
        if self.failures not in range(1, _MOST_COUNTED + 1):
            raise ValueError(f"thresholds.failures: expected 1 to {_MOST_COUNTED}, found {self.failures}")
        if min(self.delay_secs_per_failure, self.block_secs) < 0:
            raise ValueError("thresholds: expected a delay and a block of no less than 0 seconds")


# In ascending order; the last row whose number is reached applies.
DEFAULT_THRESHOLDS = (
    Threshold(failures=1),
    Threshold(failures=3, delay_secs_per_failure=2),
    Threshold(failures=5, delay_secs_per_failure=3),
    Threshold(failures=7, block_secs=60),
    Threshold(failures=8, delay_secs_per_failure=5),
    Threshold(failures=10, block_secs=600),
    Threshold(failures=11, delay_secs_per_failure=10),
    Threshold(failures=15, block_secs=900),
    Threshold(failures=16, delay_secs_per_failure=15),
    Threshold(failures=20, block_secs=3600),
    Threshold(failures=21, delay_secs_per_failure=20),
    Threshold(failures=25, block_secs=86_400),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialStuffing:
    """[events.login_protection.credential_stuffing]: when wrong credentials block all sign-ins of a network address.

    `threshold` different wrong credentials within `window_secs`, of any accounts, block them for `block_secs`.
    """

    threshold: int = 100
    window_secs: int = 10_800
    block_secs: int = 86_400

    def __post_init__(self) -> None:
        if self.threshold not in range(2, _MOST_CREDENTIALS + 1):
            raise ValueError(
                f"credential_stuffing.threshold: expected 2 to {_MOST_CREDENTIALS}, found {self.threshold}"
            )
        if min(self.window_secs, self.block_secs) < 1:
            raise ValueError("credential_stuffing: expected a window and a block of at least 1 second")

    @property
    def window(self) -> timedelta:
        return timedelta(seconds=self.window_secs)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginProtectionConfig:
    """[events.login_protection]: delays and blocks after wrong passwords and codes.

    `thresholds` apply to each pair of a network address and an account. An account with failures from
    `account_addresses` addresses gets each further wrong answer after `max_delay_secs`. `max_delayed` bounds the
    answers that are held back at a time. Failures count for `forget_after_secs`, or until the account signs in from the
    address. IPv6 addresses that share `ipv6_prefix` count as one. `allowed_networks` are never delayed or blocked.
    """

    max_delay_secs: int = 30
    max_delayed: int = 200
    forget_after_secs: int = 86_400
    account_addresses: int = 10
    ipv6_prefix: int = 64
    allowed_networks: tuple[str, ...] = ()
    thresholds: tuple[Threshold, ...] = DEFAULT_THRESHOLDS
    credential_stuffing: CredentialStuffing = field(default_factory=CredentialStuffing)

    def __post_init__(self) -> None:
        if self.max_delay_secs not in _MOST_DELAY_SECS:
            raise ValueError(
                f"login_protection.max_delay_secs: expected 1 to 30, found {self.max_delay_secs}"
            )
        if min(self.max_delayed, self.forget_after_secs) < 1:
            raise ValueError("login_protection: expected max_delayed and forget_after_secs to be at least 1")
        if self.account_addresses not in _ACCOUNT_ADDRESSES:
            raise ValueError(
                f"login_protection.account_addresses: expected 2 to 100, found {self.account_addresses}"
            )
        if self.ipv6_prefix not in _IPV6_PREFIX:
            raise ValueError(f"login_protection.ipv6_prefix: expected 32 to 128, found {self.ipv6_prefix}")
        if list(self.thresholds) != sorted(self.thresholds, key=lambda row: row.failures):
            raise ValueError("login_protection.thresholds: expected ascending failures")
        for network in self.allowed_networks:
            ip_network(network)

    @property
    def forget_after(self) -> timedelta:
        return timedelta(seconds=self.forget_after_secs)
