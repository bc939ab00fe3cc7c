"""[access]: which tokens are taken, and how long what was found out stays true."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessConfig:
    """`issuer` is the default provider's, with its final slash; those of other tenants stand below it or at hosts.

    A change of the directory and a revocation reach each process within a second, and within `admission_seconds`
    if their announcement fails. A key that is withdrawn is seen after `key_set_seconds`; an unknown key id makes a set be
    fetched again once in `key_set_pause_seconds`.
    """

    issuer: str
    algorithms: tuple[str, ...] = ("RS256",)
    leeway_seconds: float = 5.0
    admission_seconds: float = 5.0
    key_set_seconds: float = 300.0
    key_set_pause_seconds: float = 1.0
    call_timeout_seconds: float = 10.0
    max_admissions: int = 4096
    max_key_sets: int = 256
