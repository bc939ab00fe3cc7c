"""How domains are verified."""

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
        """Read `address` or `address:port`, a version 6 address with a port in brackets; raises ValueError."""
        try:
            return cls(str(ip_address(text)), _DNS_PORT)
        except ValueError:
            parts = urlsplit(f"//{text}")
            return cls(str(ip_address(parts.hostname or "")), parts.port or _DNS_PORT)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInDomainConfig:
    """[sign_in_domains]: how long a look-up in DNS may take, and how many days a domain waits until it is verified.

    `nameservers` are addresses with or without a port; without any those of the system are asked.
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
