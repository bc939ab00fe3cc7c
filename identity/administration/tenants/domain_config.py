"""The section of the configuration file about the verification of domains."""

from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit

_DNS_PORT = 53
_TIMEOUT_SECS = range(1, 31)
_PENDING_DAYS = range(1, 91)


@dataclass(frozen=True, slots=True)
class Nameserver:
    address: str
    port: int

    @classmethod
    def of(cls, text: str) -> "Nameserver":
        """Parse `address` or `address:port`, with an IPv6 address in brackets before a port; raises ValueError."""
        try:
            return cls(str(ip_address(text)), _DNS_PORT)
        except ValueError:
            parts = urlsplit(f"//{text}")
            return cls(str(ip_address(parts.hostname or "")), parts.port or _DNS_PORT)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInDomainConfig:
    """[sign_in_domains]: the timeout of DNS queries, and the days until an unverified domain expires.

    `nameservers` are addresses with or without a port; by default those of the system are used.
    """

    nameservers: tuple[str, ...] = ()
    timeout_secs: int = 5
    pending_days: int = 14

    def __post_init__(self) -> None:
        try:
            list(map(Nameserver.of, self.nameservers))
        except ValueError as error:
            raise ValueError("sign_in_domains.nameservers: expected addresses") from error
        if self.timeout_secs not in _TIMEOUT_SECS:
            raise ValueError(f"sign_in_domains.timeout_secs: expected 1 to 30, found {self.timeout_secs}")
        if self.pending_days not in _PENDING_DAYS:
            raise ValueError(f"sign_in_domains.pending_days: expected 1 to 90, found {self.pending_days}")

    @property
    def pending(self) -> timedelta:
        return timedelta(days=self.pending_days)
