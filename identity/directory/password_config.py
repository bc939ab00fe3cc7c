"""Cost of password hashes, and the list of breached passwords."""

from dataclasses import dataclass
from urllib.parse import urlsplit

# RFC 9106 §3.1.
_KIB_PER_LANE = 8

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_LONGEST_WAIT_SECS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordConfig:
    """[passwords]: cost of argon2id, and the number of hashes computed at a time.

    New passwords on a list of breached ones are refused. `breach_url` is a service with the interface of Have I Been
    Pwned, such as `https://api.pwnedpasswords.com/range/`: it learns five digits of a hash. `breach_file` is a sorted
    file of SHA-1 hashes instead. Without either there is no such check.
    """

    memory_kib: int = 65_536
    iterations: int = 3
    lanes: int = 4
    workers: int = 2
    breach_url: str = ""
    breach_timeout_secs: float = 2.0
    breach_file: str = ""

    def __post_init__(self) -> None:
        if min(self.iterations, self.lanes, self.workers) < 1:
            raise ValueError("passwords: expected iterations, lanes and workers to be at least 1")
        if self.memory_kib < _KIB_PER_LANE * self.lanes:
            raise ValueError(f"passwords.memory_kib: expected 8 for each of {self.lanes} lanes at least")
        if not 0 < self.breach_timeout_secs <= _LONGEST_WAIT_SECS:
            raise ValueError(f"passwords.breach_timeout_secs: expected up to {_LONGEST_WAIT_SECS} seconds")
        if self.breach_url and self.breach_file:
            raise ValueError("passwords: expected breach_url or breach_file, found both")
        if self.breach_url and not _is_range_address(self.breach_url):
            raise ValueError("passwords.breach_url: expected an https address that ends with /")


def _is_range_address(url: str) -> bool:
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    is_plain = bool(parts.hostname) and "@" not in parts.netloc
    return is_safe and is_plain and url.endswith("/") and not parts.query and not parts.fragment
